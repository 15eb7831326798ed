//! As much of HTTP/1.1 as Prometheus needs: one thread, one request for each
//! connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::Board;

/// A client that is slower is left.
const PATIENCE: Duration = Duration::from_secs(2);
/// A head that is longer is refused.
const MAX_HEAD: usize = 8 << 10;

/// Listens, and answers from a thread of its own.
pub(super) fn serve(address: SocketAddr, board: Board) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let bound = listener.local_addr()?;
    thread::Builder::new()
        .name("lissom-metrics".into())
        .spawn(move || {
            for stream in listener.incoming() {
                match stream {
                    // A client that went away is none of the agent's business.
                    Ok(stream) => drop(answer(stream, &board)),
                    // Out of descriptors, mostly: do not spin.
                    Err(_) => thread::sleep(Duration::from_millis(100)),
                }
            }
        })?;
    Ok(bound)
}

fn answer(mut stream: TcpStream, board: &Board) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = read_head(&mut stream)?;
    let (status, body) = match request(&head) {
        Some(("GET", "/metrics")) => ("200 OK", board.text()),
        Some(("GET", _)) => ("404 Not Found", "try /metrics\n".into()),
        Some(_) => ("405 Method Not Allowed", "only GET\n".into()),
        None => ("400 Bad Request", "no HTTP\n".into()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()
}

/// Up to the empty line, within the patience and the bound.
fn read_head(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let deadline = Instant::now() + PATIENCE;
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while head.len() < MAX_HEAD && !head.windows(4).any(|it| it == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut piece)? {
            0 => break,
            count => head.extend_from_slice(&piece[..count]),
        }
    }
    Ok(head)
}

/// Method and path of the first line.
fn request(head: &[u8]) -> Option<(&str, &str)> {
    let end = head.windows(2).position(|it| it == b"\r\n")?;
    let line = std::str::from_utf8(&head[..end]).ok()?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let path = target.split('?').next()?;
    version.starts_with("HTTP/1.").then_some((method, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Readings;

    fn ask(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("listening");
        stream.write_all(text.as_bytes()).expect("written");
        stream
            .shutdown(std::net::Shutdown::Write)
            .expect("half closed");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("UTF-8");
        answer
    }

    #[test]
    fn metrics_are_served_and_nothing_else() {
        let board = Board::default();
        let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        let address = board.serve(any).expect("a free port");
        board.show(&Readings::default());
        for (text, status, words) in [
            (
                "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
                "200",
                "lissom_attach_up 0",
            ),
            (
                "GET /metrics?x=1 HTTP/1.0\r\n\r\n",
                "200",
                "lissom_attach_up 0",
            ),
            ("GET / HTTP/1.1\r\n\r\n", "404", "try /metrics"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405", "only GET"),
            ("hello\r\n\r\n", "400", "no HTTP"),
            ("", "400", "no HTTP"),
        ] {
            let answer = ask(address, text);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{answer}"
            );
            assert!(answer.contains(words), "{answer}");
        }
        let taken = board.serve(address).expect_err("taken");
        assert!(taken.to_string().contains("another port"), "{taken}");
    }

    #[test]
    fn only_the_loopback_is_served() {
        let wide: SocketAddr = "0.0.0.0:0".parse().expect("an address");
        let error = Board::default().serve(wide).expect_err("not the loopback");
        assert!(error.to_string().contains("loopback only"), "{error}");
    }
}
