//! Work that is alike, on all processors.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What `work` makes of each item, in the order of the items. Which thread takes which item
/// depends on who is free; the answer does not.
pub(super) fn side_by_side<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done: Vec<(usize, O)> = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match items.get(at) {
                Some(item) => done.push((at, work(item))),
                None => return done,
            }
        }
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..processors.min(items.len()))
            .map(|_| scope.spawn(take))
            .collect();
        let mut done = take();
        for other in others {
            done.extend(other.join().unwrap_or_else(|why| panic::resume_unwind(why)));
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        // The first ones take the longest.
        let slow = |item: &u64| {
            thread::sleep(std::time::Duration::from_micros(100 - item));
            item * item
        };
        let squares: Vec<u64> = items.iter().map(|item| item * item).collect();
        assert_eq!(side_by_side(&items, slow), squares);
        assert!(side_by_side(&[], slow).is_empty());
    }
}
