//! Clusters of configurations whose features lie in the same buckets (Dremel, 4.4).

use std::collections::BTreeMap;
use std::fmt;

use super::method::{Method, Sampling};
use crate::error::Result;
use crate::features::Cuts;
use crate::random::Random;
use crate::space::{Point, Space};

/// Identifies an arm of a search; counts from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ArmId(pub usize);

impl fmt::Display for ArmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arm {}", self.0)
    }
}

/// The arms of a search. Combinations of buckets that no sampled configuration has
/// are no arms.
#[derive(Clone, PartialEq, Debug)]
pub struct Arms {
    features: Vec<Used>,
    /// Sampled configurations, in random order.
    pool: Vec<Point>,
    arms: Vec<Arm>,
}

/// A feature that counts.
#[derive(Clone, PartialEq, Debug)]
struct Used {
    name: String,
    /// Among the features of the space.
    place: usize,
    cuts: Cuts,
}

#[derive(Clone, PartialEq, Debug)]
struct Arm {
    /// One for each feature that counts.
    buckets: Vec<usize>,
    /// Places in the pool, by the heuristic feature, the smallest first; in the pool's order
    /// without one.
    members: Vec<usize>,
}

impl Arms {
    /// Samples the space and parts it.
    ///
    /// # Errors
    /// No configuration satisfies the rules, or a feature comes to no number.
    pub(super) fn of(space: &Space, method: &Method, random: &mut Random) -> Result<Arms> {
        let pool = space.sample_points(method.samples, random)?;
        let values = pool
            .iter()
            .map(|point| space.feature_values_of(point))
            .collect::<Result<Vec<_>>>()?;
        let features = used(space, method, &values);
        let mut members: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (at, values) in values.iter().enumerate() {
            members
                .entry(buckets(&features, values))
                .or_default()
                .push(at);
        }
        if let Some(heuristic) = heuristic(space, method) {
            for places in members.values_mut() {
                places.sort_by(|one, other| {
                    values[*one][heuristic].total_cmp(&values[*other][heuristic])
                });
            }
        }
        let arms = members.into_iter();
        let arms = arms.map(|(buckets, members)| Arm { buckets, members });
        Ok(Arms {
            arms: arms.collect(),
            features,
            pool,
        })
    }

    /// All arms.
    pub fn ids(&self) -> impl Iterator<Item = ArmId> {
        (1..=self.arms.len()).map(ArmId)
    }

    /// How many arms there are.
    pub fn count(&self) -> usize {
        self.arms.len()
    }

    /// How many sampled configurations an arm has; 0 of an unknown one.
    pub fn size(&self, arm: ArmId) -> usize {
        self.arm(arm).map_or(0, |it| it.members.len())
    }

    /// The buckets of an arm, for sentences: the features and which of their
    /// buckets, from 1 for the smallest values.
    pub fn describe(&self, arm: ArmId) -> String {
        let Some(found) = self.arm(arm) else {
            return "no configuration".to_owned();
        };
        let parts: Vec<String> = self
            .features
            .iter()
            .zip(&found.buckets)
            .map(|(feature, bucket)| {
                let of = feature.cuts.buckets();
                format!("{} {} of {of}", feature.name, bucket + 1)
            })
            .collect();
        if parts.is_empty() {
            "all configurations".to_owned()
        } else {
            parts.join(", ")
        }
    }

    /// The arm of a configuration with these values of all the space's features.
    pub(super) fn find(&self, values: &[f64]) -> Option<ArmId> {
        let wanted = buckets(&self.features, values);
        let place = self.arms.iter().position(|arm| arm.buckets == wanted)?;
        Some(ArmId(place + 1))
    }

    /// A configuration of an arm that is not among those tried; `None` if all are.
    pub(super) fn pick(
        &self,
        arm: ArmId,
        sampling: Sampling,
        tried: &[Point],
        random: &mut Random,
    ) -> Option<Point> {
        let members = self.arm(arm)?.members.iter();
        let mut fresh = members.filter_map(|place| {
            let point = self.pool.get(*place)?;
            (!tried.contains(point)).then_some(point)
        });
        match sampling {
            Sampling::Heuristic => fresh.next().cloned(),
            Sampling::Random | Sampling::Near => {
                let fresh: Vec<&Point> = fresh.collect();
                random.choose(&fresh).map(|point| (*point).clone())
            }
        }
    }

    fn arm(&self, arm: ArmId) -> Option<&Arm> {
        self.arms.get(arm.0.checked_sub(1)?)
    }
}

/// The place of the feature by which arms choose; one that is left out has no say in this
/// either.
fn heuristic(space: &Space, method: &Method) -> Option<usize> {
    let feature = space.heuristic()?;
    space
        .heuristic_place()
        .filter(|_| method.uses(&feature.name))
}

fn used(space: &Space, method: &Method, values: &[Vec<f64>]) -> Vec<Used> {
    let features = space.features().iter().enumerate();
    features
        .filter(|(_, feature)| method.uses(&feature.name))
        .map(|(place, feature)| {
            let column: Vec<f64> = values.iter().map(|row| row[place]).collect();
            Used {
                name: feature.name.clone(),
                place,
                cuts: Cuts::of(&column, method.buckets),
            }
        })
        .collect()
}

fn buckets(features: &[Used], values: &[f64]) -> Vec<usize> {
    let features = features.iter();
    features
        .map(|feature| feature.cuts.bucket(values[feature.place]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{BuiltIn, Constants};

    fn dremel() -> Space {
        let file = BuiltIn::Dremel.file().expect("reads");
        file.with(&Constants::new()).expect("is legal")
    }

    fn arms(method: &Method) -> Arms {
        Arms::of(&dremel(), method, &mut Random::new(1)).expect("arms")
    }

    #[test]
    fn two_buckets_of_four_features_are_at_most_sixteen_arms() {
        let method = Method {
            samples: 1000,
            ..Method::default()
        };
        let arms = arms(&method);
        assert!((8..=16).contains(&arms.count()), "{}", arms.count());
        let sizes: Vec<usize> = arms.ids().map(|arm| arms.size(arm)).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 1000);
        assert!(
            arms.describe(ArmId(1))
                .starts_with("compaction_frequency 1 of 2, ")
        );
    }

    #[test]
    fn a_feature_that_is_left_out_halves_the_arms() {
        let method = Method {
            samples: 500,
            without: vec!["block_cache_hit_rate".to_owned()],
            ..Method::default()
        };
        assert!(arms(&method).count() <= 8);
        let one = Method {
            buckets: 1,
            ..method
        };
        let arms = arms(&one);
        assert_eq!(arms.count(), 1);
        assert_eq!(arms.find(&[0.0; 4]), Some(ArmId(1)));
    }

    #[test]
    fn the_heuristic_picks_the_smallest_value_first() {
        let space = dremel();
        let method = Method {
            samples: 500,
            ..Method::default()
        };
        let arms = arms(&method);
        let mut random = Random::new(2);
        let place = space.heuristic_place().expect("a heuristic");
        let value = |point: &Point| space.feature_values_of(point).expect("finite")[place];
        for arm in arms.ids() {
            let first = arms
                .pick(arm, Sampling::Heuristic, &[], &mut random)
                .expect("one");
            let any = arms
                .pick(arm, Sampling::Random, &[], &mut random)
                .expect("one");
            assert!(value(&first) <= value(&any), "{arm}");
            let values = space.feature_values_of(&any).expect("finite");
            assert_eq!(arms.find(&values), Some(arm));
            let mut tried = Vec::new();
            while let Some(point) = arms.pick(arm, Sampling::Random, &tried, &mut random) {
                tried.push(point);
                assert!(tried.len() <= arms.size(arm));
            }
            assert!(!tried.is_empty());
        }
    }

    #[test]
    fn a_heuristic_that_is_left_out_chooses_nothing() {
        let space = dremel();
        let place = space.heuristic_place().expect("a heuristic");
        let method = Method {
            samples: 500,
            without: vec![space.features()[place].name.clone()],
            ..Method::default()
        };
        let arms = arms(&method);
        let mut random = Random::new(2);
        let value = |point: &Point| space.feature_values_of(point).expect("finite")[place];
        let mut smallest_first = 0;
        for arm in arms.ids() {
            let mut tried: Vec<Point> = Vec::new();
            while let Some(point) = arms.pick(arm, Sampling::Heuristic, &tried, &mut random) {
                tried.push(point);
            }
            smallest_first += usize::from(tried.iter().all(|it| value(&tried[0]) <= value(it)));
        }
        assert!(smallest_first < arms.count(), "{smallest_first}");
    }
}
