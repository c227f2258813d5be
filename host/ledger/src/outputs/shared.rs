//! The content of outputs that many hosts share. It consists of parts of one size. The database has the first part of
//! every output. The others are in the database too, or in a place for large outputs if there is one.
//!
//! A part is read whole and compared with its digest, which is in a sealed row. So neither an administrator of the
//! database nor one of the place can change what a reader sees.

use super::error::OutputError;
use super::layout::PART_BYTES;
use super::needs::OutputNeeds;
use super::objects::PartObjects;
use crate::ledger::{CallLedger, Durable, LedgerChange, LedgerError};
use crate::state_directory::OutputsHome;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

/// The parts at the beginning of an output that are always in the database. Most outputs have no more, so they need no
/// second place.
const DATABASE_PARTS: u64 = 1;

/// Size of the digest of a part, in bytes.
const HASH_BYTES: usize = 32;

/// Where parts are, besides the database.
pub(super) struct SharedParts {
    objects: Option<PartObjects>,
    /// What a process needs to reach them.
    pub(super) needs: OutputNeeds,
}

/// An output that is written in parts.
pub(super) struct PartsWriter {
    parts: Arc<SharedParts>,
    id: String,
    /// The digests of the parts that are written.
    hashes: Vec<u8>,
    /// The bytes after these parts. Less than a part, except in [`Self::append`].
    tail: Vec<u8>,
    tail_place: TailPlace,
}

/// Where the last part of an output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TailPlace {
    Database,
    Objects,
}

/// An output that is read in parts.
pub(super) struct PartsReader {
    parts: Arc<SharedParts>,
    ledger: Arc<CallLedger>,
    id: String,
    bytes: u64,
    hashes: Vec<u8>,
    position: u64,
    /// The part that was read last, with its number.
    part: Option<(u64, Vec<u8>)>,
}

impl SharedParts {
    /// Opens the place of large outputs, if there is one.
    pub(super) fn open(home: Option<&OutputsHome>, ledger: &CallLedger) -> Result<Self, OutputError> {
        let Some(home) = home else { return Ok(Self { objects: None, needs: OutputNeeds::default() }) };
        let folder = ledger.look(|change| change.output_folder())?;
        let (objects, needs) = PartObjects::open(home, &folder)?;
        Ok(Self { objects: Some(objects), needs })
    }

    /// Removes what is outside of the database. The database removes its parts with the row of their output.
    pub(super) fn remove(&self, id: &str) {
        if let Some(objects) = &self.objects {
            let _ = objects.remove(id);
        }
    }

    pub(super) fn listed(&self) -> io::Result<BTreeSet<String>> {
        self.objects.as_ref().map_or_else(|| Ok(BTreeSet::new()), PartObjects::listed)
    }

    /// Returns the place of a part that is not in the database.
    fn place_of(&self, number: u64) -> Option<&PartObjects> {
        self.objects.as_ref().filter(|_| number >= DATABASE_PARTS)
    }

    /// Returns a part. Looks also into the database for one that should be elsewhere: it was written before the hosts
    /// had the place.
    fn get(&self, ledger: &CallLedger, id: &str, number: u64) -> io::Result<Option<Vec<u8>>> {
        if let Some(objects) = self.place_of(number)
            && let Some(part) = objects.get(id, number)?
        {
            return Ok(Some(part));
        }
        let found = ledger.look(|change| change.output_part(id, signed(number)));
        found.map_err(|error: LedgerError| io::Error::other(OutputError::Ledger(error)))
    }
}

impl PartsWriter {
    pub(super) fn new(parts: Arc<SharedParts>, id: &str) -> Self {
        let (hashes, tail) = (Vec::new(), Vec::new());
        Self { parts, id: id.to_owned(), hashes, tail, tail_place: TailPlace::Database }
    }

    /// Appends a piece, and writes the parts that are full. If that fails, the content is as it was.
    pub(super) fn append(&mut self, ledger: &CallLedger, piece: &[u8]) -> Result<(), LedgerError> {
        let (hashes, kept) = (self.hashes.len(), self.tail.len());
        let (mut first, mut rest) = (None, piece);
        loop {
            let (added, left) = rest.split_at(rest.len().min(PART_BYTES - self.tail.len()));
            self.tail.extend_from_slice(added);
            rest = left;
            if self.tail.len() < PART_BYTES {
                return Ok(());
            }
            let written = self.put(ledger);
            let part = std::mem::take(&mut self.tail);
            // The first full part begins with the old tail. It is kept to restore that if a part cannot be written.
            first.get_or_insert(part);
            if let Err(error) = written {
                self.tail = first.unwrap_or_default();
                self.tail.truncate(kept);
                self.hashes.truncate(hashes);
                return Err(error);
            }
        }
    }

    /// Writes a full part.
    fn put(&mut self, ledger: &CallLedger) -> Result<(), LedgerError> {
        let number = self.number();
        match self.parts.place_of(number) {
            Some(objects) => objects.put(&self.id, number, &self.tail)?,
            None => ledger
                .change(Durable::Process, |change| change.put_output_part(&self.id, signed(number), &self.tail))?,
        }
        self.hashes.extend_from_slice(&Sha256::digest(&self.tail));
        Ok(())
    }

    /// Computes the digest of the last part, and writes it to the place for large outputs. If that fails, it goes into
    /// the database, so that nothing is lost that was counted.
    pub(super) fn flush(&mut self) {
        if self.tail.is_empty() {
            return;
        }
        let number = self.number();
        let place = self.parts.place_of(number);
        if place.is_some_and(|objects| objects.put(&self.id, number, &self.tail).is_ok()) {
            self.tail_place = TailPlace::Objects;
        }
        self.hashes.extend_from_slice(&Sha256::digest(&self.tail));
    }

    /// Writes the last part, if it is in the database. Returns the digests of all parts.
    pub(super) fn finish(&self, change: &LedgerChange<'_>) -> Result<&[u8], LedgerError> {
        // The last digest is that of the last part.
        let number = self.number().saturating_sub(1);
        if self.tail_place == TailPlace::Database && !self.tail.is_empty() {
            change.put_output_part(&self.id, signed(number), &self.tail)?;
        }
        Ok(&self.hashes)
    }

    /// Returns the number of the next part.
    fn number(&self) -> u64 {
        (self.hashes.len() / HASH_BYTES) as u64
    }
}

impl PartsReader {
    pub(super) fn new(parts: Arc<SharedParts>, ledger: Arc<CallLedger>, id: &str, bytes: u64, hashes: Vec<u8>) -> Self {
        Self { parts, ledger, id: id.to_owned(), bytes, hashes, position: 0, part: None }
    }

    /// Reads a part, and compares it with its digest.
    fn part(&mut self, number: u64) -> io::Result<&[u8]> {
        let part = match self.part.take() {
            Some((read, part)) if read == number => part,
            Some(_) | None => self.fetch(number)?,
        };
        Ok(&self.part.insert((number, part)).1)
    }

    fn fetch(&self, number: u64) -> io::Result<Vec<u8>> {
        let Some(part) = self.parts.get(&self.ledger, &self.id, number)? else {
            return Err(io::Error::other(OutputError::Missing(self.id.clone())));
        };
        let at = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(HASH_BYTES);
        let expected = self.hashes.get(at..).and_then(|hashes| hashes.first_chunk::<HASH_BYTES>());
        let left = self.bytes.saturating_sub(number.saturating_mul(PART_BYTES as u64));
        let length = left.min(PART_BYTES as u64);
        if part.len() as u64 != length || expected.is_none_or(|hash| Sha256::digest(&part).as_slice() != hash) {
            return Err(io::Error::other(OutputError::Changed(self.id.clone())));
        }
        Ok(part)
    }
}

impl Read for PartsReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.bytes || buffer.is_empty() {
            return Ok(0);
        }
        let (number, at) = (self.position / PART_BYTES as u64, self.position % PART_BYTES as u64);
        let part = self.part(number)?;
        let left = usize::try_from(at).ok().and_then(|at| part.get(at..)).unwrap_or_default();
        let taken = left.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&left[..taken]);
        self.position += taken as u64;
        Ok(taken)
    }
}

impl Seek for PartsReader {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let position = match position {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.bytes.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
