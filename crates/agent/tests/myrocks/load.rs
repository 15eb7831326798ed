//! A load of inserts, bounded in rate and time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::mariadb::{MariaDb, SCHEMA, Session};

/// It stops by itself after this.
const LONGEST: Duration = Duration::from_secs(300);

/// Inserts until it is dropped.
pub struct Load {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Load {
    /// About 2 MB/s into a table of MyRocks.
    pub fn on(server: &MariaDb) -> Load {
        let mut session = server.root();
        let created = session.run(&format!(
            "CREATE TABLE IF NOT EXISTS {SCHEMA}.load_table \
             (id BIGINT PRIMARY KEY AUTO_INCREMENT, filler VARBINARY(1000)) ENGINE=ROCKSDB"
        ));
        assert!(created);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || insert(session, &stopped));
        Load {
            stop,
            thread: Some(thread),
        }
    }
}

fn insert(mut session: Session, stopped: &AtomicBool) {
    let deadline = Instant::now() + LONGEST;
    // Random bytes do not shrink.
    let row = "(RANDOM_BYTES(1000))";
    let rows = vec![row; 100].join(",");
    let statement = format!("INSERT INTO {SCHEMA}.load_table (filler) VALUES {rows}");
    while !stopped.load(Ordering::SeqCst) && Instant::now() < deadline {
        // A server that is restarted ends it.
        if !session.run(&statement) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
