//! The cost of the audit entries of one call: two lines in a file, each chained to the previous one by a MAC, or two
//! rows of SQLite with the same chain.
//!
//! Both variants do what a host does that has its state directory for itself, except its checks of an entry's content.
//! They check whether the file is as long as it was left, compute the MAC, and write so that the entry survives the
//! process.

use crate::rounds::{Block, Row, block, paired, row};
use anyhow::Result;
use hmac::{Hmac, KeyInit, Mac};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use rustix::fs::{AtFlags, StatxFlags, statx};
use sha2::Sha256;
use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Calls of one variant per round. Fewer than elsewhere, because a write to disk takes milliseconds.
const CALLS_PER_BLOCK: usize = 100;

type Link = [u8; 32];

/// Returns the two lines of a call, of the usual length. The number makes each line unique.
fn lines(call: u64) -> [String; 2] {
    let digest = format!("{call:064x}");
    [
        format!(
            "{{\"seq\":{call},\"time\":\"2026-11-22T00:15:02.123456Z\",\"kind\":\"decision\",\"session\":\"default\",\
             \"principal\":\"local\",\"tool\":\"json.summarize\",\"plugin_sha256\":\"{digest}\",\
             \"definition_sha256\":\"{digest}\",\"arguments_bytes\":120,\"arguments_sha256\":\"{digest}\",\
             \"call\":\"{:032x}\",\"decision\":\"allow\",\"rule\":1,\"line\":5,\
             \"reason\":\"rule 1 (line 5) says allow\",\"policy_sha256\":\"{digest}\"",
            call
        ),
        format!(
            "{{\"seq\":{call},\"time\":\"2026-11-22T00:15:02.123456Z\",\"kind\":\"outcome\",\"call\":\"{:032x}\",\
             \"outcome\":\"completed\",\"code\":\"completed\",\"wall_us\":31,\"cpu_us\":30,\
             \"memory_bytes\":1179648,\"bytes_in\":120,\"bytes_out\":84",
            call
        ),
    ]
}

fn mac(key: &Hmac<Sha256>, previous: &Link, bytes: &[u8]) -> Link {
    let mut mac = key.clone();
    mac.update(previous);
    mac.update(bytes);
    mac.finalize().into_bytes().into()
}

fn digit(value: u8) -> char {
    char::from(b"0123456789abcdef"[usize::from(value)])
}

fn key() -> Hmac<Sha256> {
    Hmac::new(&[7; 64].into())
}

/// The file and the head of its chain.
struct FileChain {
    key: Hmac<Sha256>,
    log: File,
    head: File,
    previous: Link,
    bytes: u64,
    calls: u64,
    to_disk: bool,
}

impl FileChain {
    fn new(directory: &Path, name: &str, to_disk: bool) -> Result<Self> {
        let log = OpenOptions::new().create(true).append(true).read(true).open(directory.join(name))?;
        let head = File::create(directory.join(format!("{name}.head")))?;
        Ok(Self { key: key(), log, head, previous: [0; 32], bytes: 0, calls: 0, to_disk })
    }

    fn record(&mut self) -> Result<()> {
        self.calls += 1;
        let [decision, outcome] = lines(self.calls);
        self.append(decision, false)?;
        self.append(outcome, true)
    }

    fn append(&mut self, mut line: String, moves_head: bool) -> Result<()> {
        let found = statx(&self.log, "", AtFlags::EMPTY_PATH, StatxFlags::NLINK | StatxFlags::SIZE)?;
        anyhow::ensure!(found.stx_size == self.bytes, "another process has appended");
        self.previous = mac(&self.key, &self.previous, line.as_bytes());
        line.push_str(",\"mac\":\"");
        line.extend(self.previous.iter().flat_map(|byte| [byte >> 4, byte & 15].map(digit)));
        line.push_str("\"}\n");
        self.log.write_all(line.as_bytes())?;
        self.bytes += line.len() as u64;
        if moves_head {
            let mut head = [0; 80];
            head[..8].copy_from_slice(&self.bytes.to_le_bytes());
            head[16..48].copy_from_slice(&self.previous);
            let sealed = mac(&self.key, &[1; 32], &head[..48]);
            head[48..].copy_from_slice(&sealed);
            self.head.write_all_at(&head, 0)?;
        }
        if self.to_disk {
            self.log.sync_data()?;
        }
        Ok(())
    }
}

/// The SQLite table.
struct Table {
    key: Hmac<Sha256>,
    connection: Connection,
    calls: u64,
}

impl Table {
    fn new(directory: &Path, name: &str, synchronous: &str) -> Result<Self> {
        let connection = Connection::open(directory.join(name))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection
            .execute_batch("CREATE TABLE entry (seq INTEGER PRIMARY KEY, line TEXT NOT NULL, mac BLOB NOT NULL)")?;
        Ok(Self { key: key(), connection, calls: 0 })
    }

    fn record(&mut self) -> Result<()> {
        self.calls += 1;
        for line in lines(self.calls) {
            let change = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let last = "SELECT mac FROM entry ORDER BY seq DESC LIMIT 1";
            let previous: Option<Link> = change.prepare_cached(last)?.query_row([], |row| row.get(0)).optional()?;
            let link = mac(&self.key, &previous.unwrap_or_default(), line.as_bytes());
            change.prepare_cached("INSERT INTO entry (line, mac) VALUES (?1, ?2)")?.execute(params![line, link])?;
            change.commit()?;
        }
        Ok(())
    }
}

/// Measures every way to write the audit entries of a call.
pub(crate) fn measure() -> Result<Vec<Row>> {
    let scratch = tempfile::tempdir()?;
    let file = |name, to_disk| FileChain::new(scratch.path(), name, to_disk).map(RefCell::new);
    let table = |name, synchronous| Table::new(scratch.path(), name, synchronous).map(RefCell::new);
    let (process, machine) = (file("process", false)?, file("machine", true)?);
    let (normal, full) = (table("normal", "NORMAL")?, table("full", "FULL")?);
    let files =
        |chain: &RefCell<FileChain>| -> Result<Block> { block(CALLS_PER_BLOCK, || chain.borrow_mut().record()) };
    let tables = |table: &RefCell<Table>| -> Result<Block> { block(CALLS_PER_BLOCK, || table.borrow_mut().record()) };
    let [process, machine, normal, full] =
        paired([&|| files(&process), &|| files(&machine), &|| tables(&normal), &|| tables(&full)])?;
    Ok(vec![
        row("SQLite, NORMAL / file chain".to_owned(), &process, &normal),
        row("SQLite, FULL / file chain".to_owned(), &process, &full),
        row("file chain to disk / file chain".to_owned(), &process, &machine),
        row("SQLite, FULL / file chain to disk".to_owned(), &machine, &full),
    ])
}
