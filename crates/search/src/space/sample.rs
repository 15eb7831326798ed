//! Draws configurations that satisfy every rule.

use std::collections::BTreeSet;

use super::{Configuration, Setting, Space};
use crate::error::{Result, SearchError};
use crate::random::Random;

/// Settings in the order of the parameters.
pub(crate) type Point = Vec<Setting>;

/// Draws that are made before rules count as contradictory, and at most in all.
const MOST_DRAWS: u64 = 400_000;

/// Draws from which it is told which rule is in the way.
const EXAMINED: u64 = 2_000;

/// A space of at most so many configurations for each one wanted is gone through
/// instead of drawn from.
const SMALL: f64 = 4.0;

impl Space {
    /// Configurations that satisfy every rule: all settings alike by chance, or
    /// all configurations there are, in random order, where those are few. Fewer
    /// than `count` where few satisfy the rules.
    ///
    /// # Errors
    /// No configuration satisfies all rules, none of those there are or none of
    /// 400,000 drawn; with the rule that refused most.
    pub fn sample(&self, count: usize, random: &mut Random) -> Result<Vec<Configuration>> {
        let points = self.sample_points(count, random)?;
        Ok(points
            .iter()
            .map(|point| self.configuration(point))
            .collect())
    }

    pub(crate) fn sample_points(&self, count: usize, random: &mut Random) -> Result<Vec<Point>> {
        let sizes: Vec<u64> = self.parameters.iter().map(|it| it.kind.count()).collect();
        let size: f64 = sizes.iter().map(|size| *size as f64).product();
        let points = if size <= SMALL * count as f64 {
            self.all(&sizes, count, random)
        } else {
            self.drawn(count, random)
        };
        if points.is_empty() && count > 0 {
            return Err(self.contradiction(random));
        }
        Ok(points)
    }

    /// Every configuration that satisfies the rules, in random order.
    fn all(&self, sizes: &[u64], count: usize, random: &mut Random) -> Vec<Point> {
        let mut points = Vec::new();
        let mut seen = BTreeSet::new();
        let mut digits = vec![0; sizes.len()];
        loop {
            let settings = self.parameters.iter().zip(&digits);
            let point = settings.map(|(it, digit)| it.kind.at(*digit)).collect();
            let point = self.canonical_point(point);
            // Several may come to one.
            let is_new = seen.insert(self.configuration(&point).to_string());
            if is_new && self.first_broken(&point).is_none() {
                points.push(point);
            }
            if !advance(&mut digits, sizes) {
                break;
            }
        }
        random.shuffle(&mut points);
        points.truncate(count);
        points
    }

    fn drawn(&self, count: usize, random: &mut Random) -> Vec<Point> {
        let mut points = Vec::new();
        for _ in 0..MOST_DRAWS {
            if points.len() == count {
                break;
            }
            let point = self.draw(random);
            if self.first_broken(&point).is_none() {
                points.push(point);
            }
        }
        points
    }

    /// Any settings; rules are not looked at.
    fn draw(&self, random: &mut Random) -> Point {
        let parameters = self.parameters.iter();
        self.canonical_point(parameters.map(|it| it.kind.draw(random)).collect())
    }

    /// The same with so many of its settings drawn anew, any of them; rules are not looked at.
    pub(crate) fn varied(&self, point: &[Setting], changed: usize, random: &mut Random) -> Point {
        let mut places: Vec<usize> = (0..self.parameters.len()).collect();
        random.shuffle(&mut places);
        let mut varied = point.to_vec();
        for place in places.into_iter().take(changed) {
            varied[place] = self.parameters[place].kind.draw(random);
        }
        self.canonical_point(varied)
    }

    /// The place of the first rule that a point breaks.
    pub(crate) fn first_broken(&self, point: &[Setting]) -> Option<usize> {
        let values = self.values(point);
        self.rules
            .iter()
            .position(|rule| !rule.claim.holds(&values))
    }

    /// Why nothing was found.
    fn contradiction(&self, random: &mut Random) -> SearchError {
        let mut refused = vec![0u64; self.rules.len()];
        for _ in 0..EXAMINED {
            let point = self.draw(random);
            let values = self.values(&point);
            for (rule, refused) in self.rules.iter().zip(&mut refused) {
                *refused += u64::from(!rule.claim.holds(&values));
            }
        }
        let most = self
            .rules
            .iter()
            .zip(&refused)
            .max_by_key(|(_, refused)| **refused);
        let Some((rule, refused)) = most else {
            return SearchError::new(format!("the space {} has no configuration", self.name));
        };
        let share = *refused as f64 / EXAMINED as f64 * 100.0;
        SearchError::new(format!(
            "no configuration of the space {} satisfies all of its rules; \"{rule}\" alone \
             refuses {share:.1} % of them: change a rule, a range or a constant",
            self.name
        ))
    }
}

/// Counts on; false after the last number.
fn advance(digits: &mut [u64], sizes: &[u64]) -> bool {
    for (digit, size) in digits.iter_mut().zip(sizes) {
        *digit += 1;
        if *digit < *size {
            return true;
        }
        *digit = 0;
    }
    false
}
