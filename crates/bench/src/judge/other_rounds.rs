//! The best of each session, by medians and without the winner's curse.
//!
//! A minimum over noisy medians is partly luck: among arms that are alike the luckiest is
//! taken, at the time that it was lucky with. So an arm is also chosen in the other rounds
//! and timed in this one: what it was chosen for is not in its time.

use super::figure::median;

/// An arm's seconds, by session and round.
pub type Times = Vec<Vec<f64>>;

/// By session: the number of the arm with the lowest median, and that median.
pub fn lowest_medians(arms: &[Times]) -> Vec<(usize, f64)> {
    let sessions = arms.iter().map(Vec::len).min().unwrap_or(0);
    let lowest = |session: usize| {
        let medians = arms.iter().enumerate();
        let medians = medians.filter_map(|(arm, times)| Some((arm, median(&times[session])?)));
        medians.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    (0..sessions).filter_map(lowest).collect()
}

/// By round: the sum over sessions of the seconds, in that round, of the arm whose median
/// over the other rounds was lowest in the session. In its mean over rounds there is no
/// luck that an arm was chosen for. `None` with fewer than two rounds.
pub fn chosen_in_other_rounds(arms: &[Times]) -> Option<Vec<f64>> {
    let rounds = arms.iter().flatten().map(Vec::len).min()?;
    if rounds < 2 {
        return None;
    }
    (0..rounds).map(|round| chosen_for(round, arms)).collect()
}

fn chosen_for(round: usize, arms: &[Times]) -> Option<f64> {
    let elsewhere: Vec<Times> = arms
        .iter()
        .map(|sessions| sessions.iter().map(|it| without(round, it)).collect())
        .collect();
    let chosen = lowest_medians(&elsewhere);
    let here = chosen
        .iter()
        .enumerate()
        .map(|(session, (arm, _))| arms.get(*arm)?.get(session)?.get(round).copied());
    here.sum()
}

fn without(round: usize, seconds: &[f64]) -> Vec<f64> {
    let others = seconds.iter().enumerate().filter(|(at, _)| *at != round);
    others.map(|(_, seconds)| *seconds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_is_chosen_in_the_other_rounds_and_timed_in_this_one() {
        let arms = [
            vec![vec![1.0, 5.0, 6.0], vec![4.0, 4.0, 4.0]],
            vec![vec![3.0, 4.0, 2.0], vec![5.0, 5.0, 5.0]],
        ];
        assert_eq!(lowest_medians(&arms), [(1, 3.0), (0, 4.0)]);
        // First session. Round 1: 5.5 against 3, so the second arm's 3. Round 2: 3.5 against
        // 2.5, its 4. Round 3: 3 against 3.5, so the first arm's 6. The second adds 4 each.
        assert_eq!(chosen_in_other_rounds(&arms), Some(vec![7.0, 8.0, 10.0]));
    }

    #[test]
    fn among_arms_that_are_alike_only_luck_is_lost() {
        // Each arm takes 1, 2 and 3 s in turn: nobody is better, yet round by round
        // somebody is.
        let arms = [
            vec![vec![1.0, 2.0, 3.0]],
            vec![vec![2.0, 3.0, 1.0]],
            vec![vec![3.0, 1.0, 2.0]],
        ];
        assert_eq!(lowest_medians(&arms), [(0, 2.0)]);
        // The others' lowest median belongs to who is slowest here.
        let seconds = chosen_in_other_rounds(&arms).unwrap();
        assert_eq!(seconds, [3.0, 3.0, 3.0]);
    }

    #[test]
    fn one_round_has_no_others() {
        assert_eq!(chosen_in_other_rounds(&[vec![vec![1.0]]]), None);
        assert_eq!(chosen_in_other_rounds(&[]), None);
        assert!(lowest_medians(&[]).is_empty());
    }
}
