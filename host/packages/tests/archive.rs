//! Writes tarballs and wheels, also such as no honest tool writes.

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};
use std::io::Write as _;

/// An entry of a tarball.
pub(crate) enum TarEntry<'a> {
    File(&'a str, &'a [u8]),
    /// A symbolic link and its target.
    Symlink(&'a str, &'a str),
    /// A hard link and its target.
    Hardlink(&'a str, &'a str),
}

/// Returns a compressed tarball.
pub(crate) fn tarball(entries: &[TarEntry]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    for entry in entries {
        let (path, content, kind, target) = match *entry {
            TarEntry::File(path, content) => (path, content, b'0', ""),
            TarEntry::Hardlink(path, target) => (path, [].as_slice(), b'1', target),
            TarEntry::Symlink(path, target) => (path, [].as_slice(), b'2', target),
        };
        gzip.write_all(&tar_header(path, content.len(), kind, target)).unwrap();
        gzip.write_all(content).unwrap();
        gzip.write_all(&vec![0; content.len().next_multiple_of(512) - content.len()]).unwrap();
    }
    gzip.write_all(&[0; 1024]).unwrap();
    gzip.finish().unwrap()
}

fn tar_header(path: &str, length: usize, kind: u8, target: &str) -> [u8; 512] {
    let mut header = [0; 512];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, path);
    put(100, "0000755\0");
    put(124, &format!("{length:011o}\0"));
    put(136, "00000000000\0");
    put(148, "        ");
    put(157, target);
    put(257, "ustar\x0000");
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// Returns a ZIP archive, which is the form of a wheel.
pub(crate) fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::<u8>::new(), Vec::<u8>::new());
    for (path, content) in entries {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
        deflate.write_all(content).unwrap();
        let packed = deflate.finish().unwrap();
        let mut crc = Crc::new();
        crc.update(content);
        // Version 2.0, no flags, deflate, and the first of January 1980.
        let mut facts = vec![20, 0, 0, 0, 8, 0, 0, 0, 0x21, 0];
        for number in [crc.sum(), size(packed.len()), size(content.len())] {
            facts.extend(number.to_le_bytes());
        }
        facts.extend(u16::try_from(path.len()).unwrap().to_le_bytes());
        facts.extend([0; 2]);
        let offset = size(archive.len());
        for part in [b"PK\x03\x04".as_slice(), &facts, path.as_bytes(), &packed] {
            archive.extend(part);
        }
        for part in [b"PK\x01\x02\x14\x00".as_slice(), &facts, &[0; 10], &offset.to_le_bytes(), path.as_bytes()] {
            directory.extend(part);
        }
    }
    let count = u16::try_from(entries.len()).unwrap().to_le_bytes();
    let (offset, length) = (size(archive.len()).to_le_bytes(), size(directory.len()).to_le_bytes());
    archive.extend(directory);
    for part in [b"PK\x05\x06\0\0\0\0".as_slice(), &count, &count, &length, &offset, &[0; 2]] {
        archive.extend(part);
    }
    archive
}

fn size(length: usize) -> u32 {
    u32::try_from(length).unwrap()
}
