//! The agent beside a real MyRocks: MariaDB with its RocksDB plug-in, installed
//! and started by the tests where they run as root on Debian or Ubuntu, and
//! skipped with a reason elsewhere.

#![cfg(unix)]

mod certificates;
mod children;
mod delays;
mod descendants;
mod encrypted;
mod endings;
mod forwarder;
mod load;
mod mariadb;
mod networks;
mod refusals;
mod waiting;

use waiting::wait_for;
