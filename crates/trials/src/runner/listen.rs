//! Reads what a child writes, in threads of its own, line by line.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Instant;

/// A longer line comes in pieces, none of which is a sample.
const LONGEST_LINE: u64 = 1 << 16;

/// A line and when it came.
#[derive(Debug)]
pub(crate) struct Heard {
    pub at: Instant,
    pub from: Stream,
    pub line: String,
}

/// Where a line came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    Output,
    Errors,
}

/// Sends each line of a stream until it ends or nobody listens. A child that writes
/// faster than its lines are taken waits.
pub(super) fn listen(
    stream: impl Read + Send + 'static,
    from: Stream,
    lines: SyncSender<Heard>,
) -> io::Result<()> {
    let read = move || {
        let mut stream = BufReader::new(stream);
        while let Ok(Some(line)) = next_line(&mut stream) {
            let at = Instant::now();
            if lines.send(Heard { at, from, line }).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("trial output".to_owned())
        .spawn(read)
        .map(|_| ())
}

/// The next line, or the next piece of a long one; `None` at the end.
pub(super) fn next_line(stream: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut bounded = stream.by_ref().take(LONGEST_LINE);
    bounded.read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_need_not_be_text() {
        let mut bytes = b"one\n\n\xff\xfe\n".to_vec();
        bytes.extend(vec![b'x'; 100_000]);
        let mut stream = bytes.as_slice();
        let mut next = || next_line(&mut stream).expect("memory can be read");
        assert_eq!(next().as_deref(), Some("one\n"));
        assert_eq!(next().as_deref(), Some("\n"));
        assert_eq!(next().as_deref(), Some("\u{fffd}\u{fffd}\n"));
        assert_eq!(next().map(|it| it.len()), Some(1 << 16));
        assert_eq!(next().map(|it| it.len()), Some(100_000 - (1 << 16)));
        assert_eq!(next(), None);
    }
}
