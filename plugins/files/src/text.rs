//! Bytes as text: detects binary data, cuts lines, counts nouns.

use portcullis_sdk::prelude::*;

use crate::place::Place;

/// Maximum number of characters to show of a line. Longer lines are data or generated code, and one of them can fill
/// a context window.
pub(crate) const LINE_CHARACTERS_MAX: usize = 2_000;

/// Maximum bytes of text per answer: below the 256 KiB at which hosts cut an output by default.
pub(crate) const OUTPUT_BYTES_MAX: usize = 192 * 1024;

/// Number of bytes at the start of a file to check for binary data. Git checks as many.
pub(crate) const PROBE_BYTES: usize = 8_000;

/// A file is binary if more than one in this many of the checked bytes is a control character.
const CONTROL_SHARE: usize = 10;

/// The starts of common binary files.
const SIGNATURES: [(&[u8], &str); 14] = [
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF container (WebP, WAV or AVI)"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an Office document)"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x7fELF", "an ELF program"),
    (b"\0asm", "a WebAssembly module"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
];

/// Returns the likely type of a file from its first bytes, if it is not text.
pub(crate) fn binary_kind(start: &[u8]) -> Option<&'static str> {
    if let Some((_, kind)) = SIGNATURES.iter().find(|(signature, _)| start.starts_with(signature)) {
        return Some(kind);
    }
    // The bytes from BEL to CR, and ESC, occur in text, for example in logs with colors.
    let is_odd = |byte: &&u8| matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127);
    let odd = start.iter().filter(is_odd).count();
    (start.contains(&0) || odd * CONTROL_SHARE > start.len()).then_some("binary data")
}

/// Returns the content of a file to edit as text. Fails if it is binary, or not UTF-8.
pub(crate) fn of_file(place: &Place, bytes: Vec<u8>) -> Result<String, Failure> {
    let shown = place.shown();
    if let Some(kind) = binary_kind(&bytes[..bytes.len().min(PROBE_BYTES)]) {
        return Err(Failure::failed(format!("`{shown}` is not a text file; it looks like {kind}")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        Failure::failed(format!("`{shown}` is not valid UTF-8 (at byte {byte}); editing could damage it"))
    })
}

/// Returns the beginning of a line, and whether it was cut.
pub(crate) fn cut(line: &str, characters_max: usize) -> (&str, bool) {
    match line.char_indices().nth(characters_max) {
        Some((end, _)) => (&line[..end], true),
        None => (line, false),
    }
}

/// Formats a number with a noun in the singular or plural.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match (number, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "entry") => format!("{number} entries"),
        (_, "match") => format!("{number} matches"),
        _ => format!("{number} {noun}s"),
    }
}

/// Replaces the control characters of a name, which could end a line or control a terminal.
pub(crate) fn printable(name: &str) -> String {
    name.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}
