//! The agent beside a real MyRocks: MariaDB with its RocksDB plug-in, installed
//! and started by the tests where they run as root on Debian or Ubuntu, and
//! skipped with a reason elsewhere.

#![cfg(unix)]

mod certificates;
mod children;
mod delays;
mod endings;
mod load;
mod mariadb;
mod refusals;
mod waiting;

use waiting::wait_for;
