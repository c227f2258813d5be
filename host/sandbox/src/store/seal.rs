//! The seals of cache entries: a MAC of an entry's id and content, at the end of its file.
//!
//! The MAC covers the digests of the content's pieces, so that several cores can check large code. A compiled
//! interpreter has 40 MB. One core takes 30 ms to digest them with SHA-256, and a quarter of that with BLAKE3.

use blake3::{Hash, Hasher, KEY_LEN, OUT_LEN};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The last bytes of an entry. A new layout gets a new number.
const MAGIC: &[u8; 8] = b"PCSTORE4";

/// The length of a MAC, in bytes.
const MAC_BYTES: usize = OUT_LEN;

/// The length of what follows the content of an entry, in bytes: its MAC, and [`MAGIC`]. The content comes first,
/// because code must begin at the start of a page to be mapped.
const SEAL_BYTES: usize = MAC_BYTES + MAGIC.len();

/// The length of a piece of content that is digested by itself, in bytes. The last one may be shorter.
const PIECE_BYTES: usize = 1024 * 1024;

/// Minimum pieces of a file that are worth a thread. Below that, starting one saves little.
const PIECES_PER_THREAD_MIN: usize = 2;

/// Maximum threads that check one file. The work ends within some milliseconds with these.
const CHECK_THREADS_MAX: usize = 4;

/// Bytes to read at a time while a piece is digested: they fit in a processor's cache.
const READ_BYTES: usize = 128 * 1024;

/// Why an entry is rejected that has no seal of this layout.
const UNKNOWN: &str = "the entry has an unknown format";

/// Seals entries with a key, and checks their seals.
pub(super) struct EntrySeals([u8; KEY_LEN]);

impl EntrySeals {
    pub(super) fn new(key: &[u8; KEY_LEN]) -> Self {
        Self(*key)
    }

    /// Returns what follows the content of an entry in its file.
    pub(super) fn of(&self, id: &[u8; 32], content: &[u8]) -> [u8; SEAL_BYTES] {
        let mut seal = [0; SEAL_BYTES];
        let mac = self.mac(id, content.len(), digests(content));
        seal[..MAC_BYTES].copy_from_slice(mac.as_bytes());
        seal[MAC_BYTES..].copy_from_slice(MAGIC);
        seal
    }

    /// Returns the content of an entry, or why its seal is not valid.
    pub(super) fn open(&self, id: &[u8; 32], mut bytes: Vec<u8>) -> Result<Vec<u8>, &'static str> {
        let (content, seal) = bytes.split_last_chunk().ok_or(UNKNOWN)?;
        checked(&self.mac(id, content.len(), digests(content)), seal)?;
        bytes.truncate(bytes.len() - SEAL_BYTES);
        Ok(bytes)
    }

    /// Checks the seal of a file without keeping its content. Returns the length of the content, or why the file cannot
    /// be used.
    pub(super) fn check_file(&self, id: &[u8; 32], file: &File) -> io::Result<Result<usize, &'static str>> {
        let length = usize::try_from(file.metadata()?.len()).ok();
        let Some(content) = length.and_then(|length| length.checked_sub(SEAL_BYTES)) else { return Ok(Err(UNKNOWN)) };
        let mut seal = [0; SEAL_BYTES];
        file.read_exact_at(&mut seal, content as u64)?;
        let mac = self.mac(id, content, file_digests(file, content)?);
        Ok(checked(&mac, &seal).map(|()| content))
    }

    /// Returns the MAC of an entry whose pieces have these digests.
    fn mac(&self, id: &[u8; 32], content: usize, digests: impl IntoIterator<Item = Hash>) -> Hash {
        let mut mac = Hasher::new_keyed(&self.0);
        mac.update(id).update(&(content as u64).to_le_bytes());
        for digest in digests {
            mac.update(digest.as_bytes());
        }
        mac.finalize()
    }
}

/// Compares a computed MAC with the end of an entry, in a time that does not depend on where they differ.
fn checked(mac: &Hash, seal: &[u8; SEAL_BYTES]) -> Result<(), &'static str> {
    let (found, magic) = seal.split_at(MAC_BYTES);
    if magic != MAGIC {
        return Err(UNKNOWN);
    }
    if *mac == *found { Ok(()) } else { Err("the entry's MAC does not match its content and name") }
}

fn digests(content: &[u8]) -> impl Iterator<Item = Hash> {
    content.chunks(PIECE_BYTES).map(blake3::hash)
}

/// Returns the digests of a file's pieces, on as many cores as are worth it.
fn file_digests(file: &File, content: usize) -> io::Result<Vec<Hash>> {
    let pieces = content.div_ceil(PIECE_BYTES);
    let next = AtomicUsize::new(0);
    // Each thread takes the next piece, because another program may use one of the cores.
    let work = || -> io::Result<Vec<(usize, Hash)>> {
        let (mut buffer, mut done) = (vec![0; READ_BYTES], Vec::new());
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return Ok(done);
            }
            let begin = piece * PIECE_BYTES;
            done.push((piece, file_digest(file, begin..content.min(begin + PIECE_BYTES), &mut buffer)?));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(CHECK_THREADS_MAX).min(pieces / PIECES_PER_THREAD_MIN);
    let mut done = thread::scope(|scope| {
        // This thread works too. If the system refuses another one, the check takes longer.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let mut done = work()?;
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        io::Result::Ok(done)
    })?;
    done.sort_unstable_by_key(|(piece, _)| *piece);
    Ok(done.into_iter().map(|(_, digest)| digest).collect())
}

fn file_digest(file: &File, part: Range<usize>, buffer: &mut [u8]) -> io::Result<Hash> {
    let mut hash = Hasher::new();
    let mut begin = part.start;
    while begin < part.end {
        let read = &mut buffer[..READ_BYTES.min(part.end - begin)];
        file.read_exact_at(read, begin as u64)?;
        hash.update(&*read);
        begin += read.len();
    }
    Ok(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::io::Write;

    const ID: [u8; 32] = [7; 32];

    /// Some pieces, each with bytes of its own, and a part of one.
    fn content() -> Vec<u8> {
        (0..5 * PIECE_BYTES + 1234).map(|at| (at / PIECE_BYTES + at % 251) as u8).collect()
    }

    fn swapped(entry: &[u8]) -> Vec<u8> {
        let mut pieces: Vec<&[u8]> = entry.chunks(PIECE_BYTES).collect();
        pieces.swap(1, 2);
        pieces.concat()
    }

    fn without_piece(entry: &[u8]) -> Vec<u8> {
        [&entry[..PIECE_BYTES], &entry[2 * PIECE_BYTES..]].concat()
    }

    /// Returns whether both ways to check an entry accept it.
    fn is_valid(seals: &EntrySeals, entry: &[u8]) -> bool {
        let mut file = File::from(memfd_create("entry", MemfdFlags::CLOEXEC).unwrap());
        file.write_all(entry).unwrap();
        let in_file = seals.check_file(&ID, &file).unwrap();
        let in_memory = seals.open(&ID, entry.to_vec());
        assert_eq!(in_file, in_memory.as_ref().map(Vec::len).map_err(|reason| *reason));
        in_memory.is_ok_and(|content| {
            assert!(content == entry[..content.len()]);
            true
        })
    }

    #[test]
    fn large_code_is_accepted_only_if_every_piece_is_in_its_place() {
        let (seals, content) = (EntrySeals::new(&[5; 32]), content());
        let entry = [content.as_slice(), &seals.of(&ID, &content)].concat();
        assert!(is_valid(&seals, &entry));
        for at in (0..content.len()).step_by(PIECE_BYTES - 1).chain([content.len() - 1, entry.len() - 1]) {
            let mut changed = entry.clone();
            changed[at] ^= 1;
            assert!(!is_valid(&seals, &changed), "{at}");
        }
        assert!(!is_valid(&seals, &swapped(&entry)));
        assert!(!is_valid(&seals, &without_piece(&entry)));
        assert!(!is_valid(&EntrySeals::new(&[6; 32]), &entry));
        // Content that ends with a piece, and none at all.
        for length in [PIECE_BYTES, 4 * PIECE_BYTES, 0] {
            let content = &content[..length];
            assert!(is_valid(&seals, &[content, &seals.of(&ID, content)].concat()), "{length}");
        }
    }
}
