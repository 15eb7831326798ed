//! Trials as real processes: shell scripts that behave well, badly, and very badly.

#[path = "children/bad.rs"]
mod bad;
#[path = "children/elsewhere/mod.rs"]
mod elsewhere;
#[path = "children/endings.rs"]
mod endings;
#[path = "children/example.rs"]
mod example;
#[path = "children/good.rs"]
mod good;
#[path = "children/support.rs"]
mod support;
