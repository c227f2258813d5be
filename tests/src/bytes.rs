//! Searches in the bytes of components, logs and files. Tests are not optimized, so a search of their own takes a
//! second for some megabytes.

use memchr::memmem;

/// Returns whether bytes contain others.
pub fn holds(bytes: &[u8], needle: impl AsRef<[u8]>) -> bool {
    memmem::find(bytes, needle.as_ref()).is_some()
}

/// Returns bytes with every occurrence of a name replaced by another one of the same length, and the number of them.
pub fn renamed(bytes: &[u8], from: &str, to: &str) -> (Vec<u8>, usize) {
    assert_eq!(from.len(), to.len());
    let mut renamed = bytes.to_vec();
    let mut count = 0;
    for at in memmem::find_iter(bytes, from) {
        renamed[at..at + to.len()].copy_from_slice(to.as_bytes());
        count += 1;
    }
    (renamed, count)
}
