//! Functions of the language.

/// A function of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Function {
    Min,
    Max,
    Log,
    Ln,
    Exp,
    Sqrt,
    Floor,
    Ceil,
    Round,
    Abs,
    Clamp,
}

/// Name, function, and the least and most arguments that it takes.
const FUNCTIONS: [(&str, Function, usize, usize); 11] = [
    ("min", Function::Min, 2, usize::MAX),
    ("max", Function::Max, 2, usize::MAX),
    ("log", Function::Log, 2, 2),
    ("ln", Function::Ln, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("sqrt", Function::Sqrt, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("ceil", Function::Ceil, 1, 1),
    ("round", Function::Round, 1, 1),
    ("abs", Function::Abs, 1, 1),
    ("clamp", Function::Clamp, 3, 3),
];

impl Function {
    /// The function of this name for so many arguments.
    ///
    /// # Errors
    /// What is wrong and what to write.
    pub fn find(name: &str, arguments: usize) -> Result<Function, String> {
        let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        let Some((_, function, least, most)) = known else {
            let names: Vec<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
            return Err(format!(
                "there is no function {name}: use one of {}, if",
                names.join(", ")
            ));
        };
        if (*least..=*most).contains(&arguments) {
            return Ok(*function);
        }
        let wanted = if least == most {
            least.to_string()
        } else {
            format!("at least {least}")
        };
        Err(format!(
            "{name} has {arguments} arguments: give it {wanted}"
        ))
    }

    /// Its value; no number where an argument is none or lies outside its domain.
    pub fn of(self, arguments: &[f64]) -> f64 {
        let first = arguments.first().copied().unwrap_or(f64::NAN);
        match self {
            Function::Min => fold(arguments, f64::min),
            Function::Max => fold(arguments, f64::max),
            Function::Log => logarithm(arguments),
            Function::Ln => first.ln(),
            Function::Exp => first.exp(),
            Function::Sqrt => first.sqrt(),
            Function::Floor => first.floor(),
            Function::Ceil => first.ceil(),
            Function::Round => first.round(),
            Function::Abs => first.abs(),
            Function::Clamp => clamped(arguments),
        }
    }
}

/// The standard library's minimum and maximum pass over what is no number; here it
/// must not be lost.
fn fold(arguments: &[f64], better: fn(f64, f64) -> f64) -> f64 {
    let both = |left: f64, right: f64| {
        if left.is_nan() || right.is_nan() {
            f64::NAN
        } else {
            better(left, right)
        }
    };
    arguments.iter().copied().reduce(both).unwrap_or(f64::NAN)
}

fn logarithm(arguments: &[f64]) -> f64 {
    match arguments {
        [number, base] => number.ln() / base.ln(),
        _ => f64::NAN,
    }
}

fn clamped(arguments: &[f64]) -> f64 {
    match arguments {
        [number, least, most] => fold(&[fold(&[*number, *least], f64::max), *most], f64::min),
        _ => f64::NAN,
    }
}
