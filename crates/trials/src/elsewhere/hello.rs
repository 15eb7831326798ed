//! The wait for a runner's first words.

use std::thread;
use std::time::Instant;

use super::TICK;
use super::greeting::Greeting;
use super::link::Link;
use super::message::News;
use crate::error::{Result, TrialsError};
use crate::protocol::clean;

/// Waits until the runner says what it can.
pub(super) fn await_hello(
    link: &mut Link,
    most: f64,
    interrupted: &dyn Fn() -> bool,
) -> Result<Greeting> {
    let mut heard = Instant::now();
    loop {
        match link.news()? {
            Some(News::Hello(mut greeting)) => {
                greeting.check()?;
                greeting.name = clean(&greeting.name);
                return Ok(greeting);
            }
            Some(News::Beat) => heard = Instant::now(),
            Some(News::Failed { why }) => {
                return Err(TrialsError::new(format!(
                    "the runner cannot begin: {}",
                    clean(&why)
                )));
            }
            Some(news) => {
                return Err(TrialsError::new(format!(
                    "the runner says that run {} {} before it says hello: mend the runner",
                    news.run().unwrap_or_default(),
                    news.verb()
                )));
            }
            None if interrupted() => return Err(TrialsError::new("interrupted")),
            None if heard.elapsed().as_secs_f64() > most => {
                return Err(TrialsError::new(format!(
                    "the runner has not said hello within {most:.0} s: look what it waits for; {}",
                    link.words()
                )));
            }
            None => thread::sleep(TICK),
        }
    }
}
