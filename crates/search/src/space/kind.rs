//! What kinds of settings a parameter takes.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Grid, Setting};
use crate::expression::NameKind;
use crate::random::Random;

/// The settings that a parameter may have.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Whole numbers.
    Integer(Grid),
    /// Numbers.
    Float(Grid),
    /// One of these words.
    Choice(Vec<String>),
    /// On or off.
    Boolean,
}

impl Kind {
    /// How many settings a search chooses from.
    pub fn count(&self) -> u64 {
        match self {
            Kind::Integer(grid) | Kind::Float(grid) => grid.count(),
            Kind::Choice(words) => words.len() as u64,
            Kind::Boolean => 2,
        }
    }

    /// The setting at a place from 0 on, below [`Kind::count`].
    pub(crate) fn at(&self, place: u64) -> Setting {
        match self {
            Kind::Integer(grid) => Setting::Integer(grid.at(place).round() as i64),
            Kind::Float(grid) => Setting::Float(grid.at(place)),
            Kind::Choice(words) => {
                let word = words.get(place as usize).cloned();
                Setting::Choice(word.unwrap_or_default())
            }
            Kind::Boolean => Setting::Boolean(place == 1),
        }
    }

    /// Any setting, all alike.
    pub(crate) fn draw(&self, random: &mut Random) -> Setting {
        self.at(random.below(self.count()))
    }

    /// The setting in this parameter's own kind of number; `None` if the parameter
    /// cannot have it.
    pub fn admit(&self, setting: &Setting) -> Option<Setting> {
        match (self, setting) {
            (Kind::Integer(grid), _) => {
                let number = setting.number()?;
                let whole = number.fract() == 0.0;
                (whole && grid.holds(number)).then_some(Setting::Integer(number as i64))
            }
            (Kind::Float(grid), _) => {
                let number = setting.number()?;
                grid.holds(number).then_some(Setting::Float(number))
            }
            (Kind::Choice(words), Setting::Choice(word)) => {
                words.contains(word).then(|| setting.clone())
            }
            (Kind::Boolean, Setting::Boolean(_)) => Some(setting.clone()),
            _ => None,
        }
    }

    /// How far a number is from the smallest to the largest, 0 to 1; `None` of a
    /// boolean or a choice, which have no order.
    pub fn position(&self, setting: &Setting) -> Option<f64> {
        match self {
            Kind::Integer(grid) | Kind::Float(grid) => Some(grid.position(setting.number()?)),
            Kind::Choice(_) | Kind::Boolean => None,
        }
    }

    /// What an expression sees.
    pub(super) fn name_kind(&self) -> NameKind {
        match self {
            Kind::Integer(_) | Kind::Float(_) => NameKind::Number,
            Kind::Choice(words) => NameKind::Word(words.clone()),
            Kind::Boolean => NameKind::Truth,
        }
    }
}

/// What may be chosen, for sentences.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Integer(grid) => write!(f, "a whole number from {} to {}", grid.min, grid.max),
            Kind::Float(grid) => write!(f, "a number from {} to {}", grid.min, grid.max),
            Kind::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Boolean => f.write_str("true or false"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Spacing;

    #[test]
    fn settings_are_admitted_in_the_parameters_own_kind() {
        let grid = Grid {
            min: 1.0,
            max: 8.0,
            spacing: Spacing::Linear(1.0),
        };
        let (integer, float) = (Kind::Integer(grid), Kind::Float(grid));
        let (two, half) = (Setting::Integer(2), Setting::Float(2.5));
        assert_eq!(integer.admit(&Setting::Float(2.0)), Some(two.clone()));
        assert_eq!(integer.admit(&half), None);
        assert_eq!(float.admit(&two), Some(Setting::Float(2.0)));
        assert_eq!(float.admit(&half), Some(half));
        assert_eq!(integer.admit(&Setting::Integer(9)), None);
        assert_eq!(integer.admit(&Setting::Boolean(true)), None);
        let words = Kind::Choice(vec!["lz4".to_owned(), "zstd".to_owned()]);
        let lz4 = Setting::Choice("lz4".to_owned());
        assert_eq!(words.admit(&lz4), Some(lz4));
        assert_eq!(words.admit(&Setting::Choice("lzma".to_owned())), None);
        assert_eq!(words.to_string(), "one of lz4, zstd");
        assert_eq!(integer.to_string(), "a whole number from 1 to 8");
    }

    #[test]
    fn draws_reach_both_ends() {
        let grid = Grid {
            min: 1.0,
            max: 4.0,
            spacing: Spacing::Linear(1.0),
        };
        let kind = Kind::Integer(grid);
        let mut random = Random::new(1);
        let mut seen: Vec<String> = (0..100)
            .map(|_| kind.draw(&mut random).to_string())
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen, ["1", "2", "3", "4"]);
    }
}
