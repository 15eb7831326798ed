"""A private MariaDB with MyRocks: its own directory, its own socket, no port."""

import os
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from failure import Failure

# Small buffers, so that L0 is merged into L1 every few seconds of load; direct I/O,
# so that reads and merges meet on the device and not in the page cache.
MYROCKS = """\
plugin-load-add=ha_rocksdb.so
rocksdb_block_cache_size=64M
rocksdb_max_background_jobs=2
rocksdb_flush_log_at_trx_commit=2
rocksdb_use_direct_reads=ON
rocksdb_use_direct_io_for_flush_and_compaction=ON
rocksdb_rate_limiter_bytes_per_sec=1000000000
rocksdb_default_cf_options=write_buffer_size=1m;max_write_buffer_number=2;\
level0_file_num_compaction_trigger=4;level0_slowdown_writes_trigger=20;\
level0_stop_writes_trigger=36;max_bytes_for_level_base=16m;target_file_size_base=4m;\
level_compaction_dynamic_level_bytes=false;compression=kNoCompression
"""

# What the agent changes.
OPTIONS = ["LEVEL0_FILE_NUM_COMPACTION_TRIGGER", "LEVEL0_SLOWDOWN_WRITES_TRIGGER",
           "LEVEL0_STOP_WRITES_TRIGGER", "MAX_BYTES_FOR_LEVEL_BASE", "DISABLE_AUTO_COMPACTIONS"]

COUNTERS = ["bytes_written", "wal_bytes", "flush_write_bytes", "compact_read_bytes",
            "compact_write_bytes", "block_cache_data_bytes_insert",
            "block_cache_index_bytes_insert", "block_cache_filter_bytes_insert",
            "stall_micros", "stall_l0_file_count_limit_slowdowns",
            "stall_l0_file_count_limit_stops", "stall_memtable_limit_slowdowns",
            "stall_memtable_limit_stops", "stall_pending_compaction_limit_slowdowns",
            "stall_pending_compaction_limit_stops"]

# Seconds for the server to begin, and to end.
PATIENCE = 60
# A socket's path may have no more bytes.
LONGEST_SOCKET = 100


class Server:
    """Runs from `with` to its end; then nothing of it is left."""

    def __init__(self, parent):
        self.parent = parent
        self.process = None
        self.client = None

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="lissom-myrocks-", dir=self.parent))
        try:
            self.begin()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def begin(self):
        self.socket = self.directory / "socket"
        if len(str(self.socket)) > LONGEST_SOCKET:
            raise Failure(f"{self.socket} is too long for a socket; give a shorter --directory")
        check_direct_io(self.directory)
        (self.directory / "data").mkdir()
        configuration = self.configure()
        run(["mariadb-install-db", f"--defaults-file={configuration}", "--skip-test-db",
             "--auth-root-authentication-method=normal"])
        self.process = subprocess.Popen(
            ["mariadbd", f"--defaults-file={configuration}"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.await_ready()
        self.client = Client(self.socket)
        self.create_account()

    def configure(self):
        place = self.directory
        user = "user=root\n" if os.geteuid() == 0 else ""
        text = (f"[mysqld]\n{user}datadir={place}/data\nsocket={self.socket}\n"
                f"pid-file={place}/pid\nlog-error={place}/error.log\nskip-networking\n"
                "skip-log-bin\nevent_scheduler=ON\nperformance_schema=OFF\n"
                f"innodb_buffer_pool_size=16M\n{MYROCKS}")
        path = place / "server.cnf"
        path.write_text(text)
        return path

    def await_ready(self):
        deadline = time.monotonic() + PATIENCE
        while not self.socket.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"MariaDB does not start: {self.last_error()}")
            time.sleep(0.1)

    def last_error(self):
        log = self.directory / "error.log"
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        errors = [line for line in lines if "[ERROR]" in line]
        return (errors or lines or ["it said nothing"])[-1]

    def create_account(self):
        """The agent's account. Its password is in one file that others cannot read."""
        password = secrets.token_hex(16)
        self.run(f"CREATE USER 'lissom'@'localhost' IDENTIFIED BY '{password}'")
        self.run("GRANT PROCESS, SUPER ON *.* TO 'lissom'@'localhost'")
        self.run("CREATE SCHEMA lissom")
        self.run("GRANT EVENT ON lissom.* TO 'lissom'@'localhost'")
        self.run("CREATE SCHEMA sbtest")
        self.account = self.directory / "account.cnf"
        handle = os.open(self.account, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(f"[client]\nuser=lissom\npassword={password}\nsocket={self.socket}\n")

    def run(self, sql):
        """Carries out a statement, and gives the rows that it gives."""
        return self.client.ask(sql)

    def version(self):
        return {"server": self.run("SELECT VERSION()")[0][0]}

    def options(self):
        """All that the agent may change, by name."""
        names = ", ".join(f"'{name}'" for name in OPTIONS)
        rows = self.run("SELECT OPTION_TYPE, `VALUE` FROM information_schema.ROCKSDB_CF_OPTIONS "
                        f"WHERE CF_NAME = 'default' AND OPTION_TYPE IN ({names})")
        found = {name.lower(): value for name, value in rows}
        limiter = self.run("SELECT @@GLOBAL.rocksdb_rate_limiter_bytes_per_sec")
        found["rate_limiter_bytes_per_sec"] = limiter[0][0]
        return found

    def counters(self):
        """Counters since the start, and level 0 as it is."""
        names = ", ".join(f"'rocksdb_{name}'" for name in COUNTERS)
        rows = self.run(f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})")
        found = {name.lower().removeprefix("rocksdb_"): int(value) for name, value in rows}
        missing = [name for name in COUNTERS if name not in found]
        if missing:
            raise Failure(f"this MyRocks does not report {', '.join(missing)}: use Debian's")
        level0 = self.run("SELECT `VALUE` FROM information_schema.ROCKSDB_COMPACTION_STATS WHERE "
                          "CF_NAME = 'default' AND `LEVEL` = 'L0' AND `TYPE` = 'NumFiles'")
        # A level with nothing in it may have no row.
        found["level0_files"] = int(float(level0[0][0])) if level0 else 0
        return found

    def settle(self):
        """Flushes, merges level 0, and waits until nothing is written any more."""
        self.run("SET GLOBAL rocksdb_force_flush_memtable_and_lzero_now = 1")
        deadline, calm, before = time.monotonic() + 2 * PATIENCE, 0, None
        while calm < 3 and time.monotonic() < deadline:
            now = self.counters()["compact_write_bytes"]
            calm = calm + 1 if now == before else 0
            before = now
            time.sleep(1)
        if calm < 3:
            raise Failure("MyRocks does not end its compactions; is something else writing to it?")

    def end(self):
        if self.client:
            self.client.close()
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


class Client:
    """One connection, through MariaDB's own client: statements go in by its standard
    input, rows come back as text."""

    END = "--end of the answer--"

    def __init__(self, socket):
        self.process = subprocess.Popen(
            ["mariadb", "--no-defaults", f"--socket={socket}", "--user=root", "--batch",
             "--skip-column-names", "--unbuffered"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.said = []
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        self.said.extend(self.process.stderr)

    def ask(self, sql):
        try:
            self.process.stdin.write(f"{sql};\nSELECT '{self.END}';\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self.failure() from None
        rows = []
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line == self.END:
                return rows
            rows.append(line.split("\t"))
        raise self.failure()

    def failure(self):
        self.process.wait()
        time.sleep(0.1)
        return Failure(f"MariaDB refuses: {' '.join(self.said).strip() or 'the connection is lost'}")

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()


def check_direct_io(directory):
    path = directory / "direct"
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600))
    except OSError as error:
        raise Failure(f"{directory} takes no direct I/O ({error.strerror}): give --directory on a "
                      "device, not in memory") from None
    path.unlink()


def run(command, **more):
    """Runs a program that must succeed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **more)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()
        raise Failure(f"{Path(command[0]).name} failed: {said[-1]}")
    return done.stdout
