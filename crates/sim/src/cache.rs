//! Which blocks an LRU cache holds (Che, Tung, Wang: "Hierarchical Web Caching
//! Systems", 2002): a block is there if it was asked for within the last `stay`
//! operations, where `stay` is such that the expected blocks fill the cache.

/// Some of a pool's blocks, which are asked for alike beside the others.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Group {
    /// How many, at most all of the pool.
    pub blocks: f64,
    /// Requests to all of them together, for each operation.
    pub requests: f64,
}

/// The blocks of one run. Groups lie in it independently of each other.
#[derive(Clone, PartialEq, Debug)]
pub struct Pool {
    /// How many.
    pub blocks: f64,
    /// Requests that may go to any of them, for each operation.
    pub even: f64,
    /// Requests to parts of them.
    pub groups: Vec<Group>,
}

/// Shares of requests that find no block.
#[derive(Clone, PartialEq, Debug)]
pub struct Misses {
    /// Of the even ones.
    pub even: f64,
    /// Of each group's.
    pub groups: Vec<f64>,
}

impl Group {
    /// Chance that a block which belongs to the group was not asked for so long.
    fn idle(&self, time: f64) -> f64 {
        if self.blocks <= 0.0 || self.requests <= 0.0 {
            return 1.0;
        }
        (-self.requests / self.blocks * time).exp()
    }
}

impl Pool {
    fn even_idle(&self, time: f64) -> f64 {
        if self.blocks <= 0.0 || self.even <= 0.0 {
            return 1.0;
        }
        (-self.even / self.blocks * time).exp()
    }

    /// Chance that a block of the pool was not asked for by a group.
    fn idle_by(&self, group: &Group, time: f64) -> f64 {
        let belongs = (group.blocks / self.blocks.max(1e-300)).min(1.0);
        1.0 - belongs * (1.0 - group.idle(time))
    }

    fn idle(&self, time: f64) -> f64 {
        let by_groups = self.groups.iter().map(|group| self.idle_by(group, time));
        self.even_idle(time) * by_groups.product::<f64>()
    }

    /// The shares of requests that find no block, when blocks stay so long.
    pub fn misses(&self, stay: f64) -> Misses {
        let idle = self.idle(stay);
        let of = |group: &Group| {
            let unknown = self.idle_by(group, stay).max(1e-300);
            idle / unknown * group.idle(stay)
        };
        Misses {
            even: idle,
            groups: self.groups.iter().map(of).collect(),
        }
    }
}

const STEPS: usize = 60;

/// How long a block stays after its last use, in operations; infinite when all
/// that is asked for fits.
pub fn stay(pools: &[Pool], capacity: f64) -> f64 {
    let used = |time: f64| -> f64 {
        pools
            .iter()
            .map(|pool| pool.blocks * (1.0 - pool.idle(time)))
            .sum()
    };
    if used(f64::INFINITY) <= capacity {
        return f64::INFINITY;
    }
    if capacity <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while used(high) < capacity && high < 1e300 {
        low = high;
        high *= 4.0;
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if used(middle) < capacity {
            low = middle;
        } else {
            high = middle;
        }
        if high - low <= 1e-4 * high {
            break;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(blocks: f64, requests: f64) -> Pool {
        Pool {
            blocks,
            even: requests,
            groups: Vec::new(),
        }
    }

    #[test]
    fn alike_blocks_are_there_as_far_as_they_fit() {
        let all = [even(1000.0, 0.7)];
        let missed = |capacity| all[0].misses(stay(&all, capacity)).even;
        assert!((missed(250.0) - 0.75).abs() < 1e-3);
        assert_eq!((missed(1000.0), missed(0.0)), (0.0, 1.0));
    }

    #[test]
    fn what_is_asked_for_more_is_there_more() {
        let pools = [even(100.0, 0.9), even(900.0, 0.1)];
        let time = stay(&pools, 150.0);
        assert!(pools[0].misses(time).even < 0.15 && pools[1].misses(time).even > 0.9);
    }

    #[test]
    fn a_group_that_is_the_whole_pool_is_the_pool() {
        let group = Group {
            blocks: 1000.0,
            requests: 0.7,
        };
        let whole = [Pool {
            blocks: 1000.0,
            even: 0.0,
            groups: vec![group],
        }];
        let time = stay(&whole, 250.0);
        assert!((whole[0].misses(time).groups[0] - 0.75).abs() < 1e-3);
        assert!((time - stay(&[even(1000.0, 0.7)], 250.0)).abs() < 1e-3 * time);
    }
}
