//! A way to a server that can be turned to another one, cut and stopped up.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::mariadb::MariaDb;

/// Between two looks at a way that is stopped up.
const LOOK: Duration = Duration::from_millis(20);

/// Carries bytes from a port of its own to a server and back, until it is dropped.
pub struct Forwarder {
    port: u16,
    way: Arc<Mutex<Way>>,
}

#[derive(Default)]
struct Way {
    /// The server's port; none while it is cut.
    to: Option<u16>,
    stopped: bool,
    ended: bool,
    streams: Vec<TcpStream>,
}

impl Forwarder {
    pub fn to(server: &MariaDb) -> Forwarder {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("its address").port();
        let way = Arc::new(Mutex::new(Way {
            to: Some(server.port()),
            ..Way::default()
        }));
        let shared = Arc::clone(&way);
        thread::spawn(move || accept(&listener, &shared));
        Forwarder { port, way }
    }

    /// Where an agent reaches whatever it leads to.
    pub fn url(&self, user: &str) -> String {
        format!("mysql://{user}@127.0.0.1:{}", self.port)
    }

    /// Ends all connections; new ones lead to that server.
    pub fn turn_to(&self, server: &MariaDb) {
        lock(&self.way).lead(Some(server.port()));
    }

    /// Ends all connections, and new ones at once.
    pub fn cut(&self) {
        lock(&self.way).lead(None);
    }

    /// Holds all bytes back, and every end, or lets them go on.
    pub fn stop_up(&self, stopped: bool) {
        lock(&self.way).stopped = stopped;
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        {
            let mut way = lock(&self.way);
            way.ended = true;
            way.lead(None);
        }
        // It waits for a connection.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Way {
    fn holds_back(&self) -> bool {
        self.stopped && !self.ended
    }

    fn lead(&mut self, to: Option<u16>) {
        self.to = to;
        for stream in self.streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn lock(way: &Mutex<Way>) -> MutexGuard<'_, Way> {
    way.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, way: &Arc<Mutex<Way>>) {
    for client in listener.incoming() {
        let mut now = lock(way);
        if now.ended {
            return;
        }
        let reached = now.to.map(|port| TcpStream::connect(("127.0.0.1", port)));
        // Otherwise the client's connection ends here.
        if let (Ok(client), Some(Ok(server))) = (client, reached) {
            let copies = [&client, &server].map(|it| it.try_clone().expect("a second handle"));
            let [back_to, back_from] = [&client, &server].map(|it| it.try_clone().expect("one"));
            now.streams.extend(copies);
            let (there, back) = (Arc::clone(way), Arc::clone(way));
            thread::spawn(move || carry(client, server, &there));
            thread::spawn(move || carry(back_from, back_to, &back));
        }
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, way: &Mutex<Way>) {
    let mut buffer = [0; 1 << 14];
    loop {
        let read = from.read(&mut buffer);
        while lock(way).holds_back() {
            thread::sleep(LOOK);
        }
        let carried = match read {
            Ok(length @ 1..) => to.write_all(&buffer[..length]).is_ok(),
            _ => false,
        };
        if !carried {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}
