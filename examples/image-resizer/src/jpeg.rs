//! Reads the head of a JPEG, to compute the memory that its decoder needs in addition to the pixels.

use std::io::{self, BufRead, Seek};

/// The markers that begin a frame. A picture has one frame.
const FRAMES: [u8; 13] = [0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF];
/// The frame markers of a picture that can be decoded while it is read.
const SEQUENTIAL: [u8; 2] = [0xC0, 0xC1];
/// The marker of a scan, where the pixels begin.
const SCAN: u8 = 0xDA;
/// The markers without data. Every other marker is followed by the length of its data.
const ALONE: [u8; 11] = [0x00, 0x01, 0xD0, 0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8];
/// The side of a block, in pixels.
const BLOCK_SIDE: u64 = 8;
/// The memory for the coefficients of a block, in bytes: two for each coefficient.
const BLOCK_BYTES: u64 = BLOCK_SIDE * BLOCK_SIDE * 2;

/// Returns the memory in bytes that a JPEG decoder needs in addition to the file and the pixels: a copy of the
/// metadata, and the coefficients of a picture with several passes.
///
/// # Errors
/// The file cannot be read, or contains no picture.
pub(crate) fn scratch(file: &mut (impl BufRead + Seek)) -> io::Result<u64> {
    let mut frame = None;
    while file.skip_until(0xFF)? > 0 {
        // A marker can begin with any number of these fill bytes.
        let mut marker = 0xFF;
        while marker == 0xFF {
            [marker] = read(file)?;
        }
        if marker == SCAN {
            let [_, _, components] = read(file)?;
            let coefficients = frame.map(|frame: Frame| frame.coefficients(components));
            let coefficients = coefficients.ok_or(io::ErrorKind::InvalidData)?;
            return Ok(coefficients + file.stream_position()?);
        }
        if FRAMES.contains(&marker) {
            frame = Some(Frame::read(file, marker)?);
        } else if !ALONE.contains(&marker) {
            let length = u16::from_be_bytes(read(file)?);
            file.seek_relative(i64::from(length) - 2)?;
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

/// The frame of a picture: how its pixels are stored.
struct Frame {
    is_sequential: bool,
    components: u8,
    /// The number of blocks of all components, if the picture is decoded as a whole.
    blocks: u64,
}

impl Frame {
    fn read(file: &mut impl BufRead, marker: u8) -> io::Result<Self> {
        let [_, _, _bits] = read(file)?;
        let (height, width) = (u16::from_be_bytes(read(file)?), u16::from_be_bytes(read(file)?));
        let [components] = read(file)?;
        // The sampling factors: how many blocks a component has across and down in each unit of the picture.
        let (mut across_most, mut down_most, mut blocks) = (1, 1, 0);
        for _ in 0..components {
            let [_, sampling, _] = read(file)?;
            let (across, down) = (u64::from(sampling >> 4), u64::from(sampling & 0xF));
            across_most = across_most.max(across);
            down_most = down_most.max(down);
            blocks += across * down;
        }
        let units = |side: u16, most: u64| u64::from(side).div_ceil(BLOCK_SIDE * most);
        let blocks = blocks * units(width, across_most) * units(height, down_most);
        Ok(Self { is_sequential: SEQUENTIAL.contains(&marker), components, blocks })
    }

    /// Returns the memory for the coefficients in bytes, given the number of components in the first scan.
    fn coefficients(&self, first: u8) -> u64 {
        let is_read_once = self.is_sequential && first == self.components;
        if is_read_once { 0 } else { self.blocks * BLOCK_BYTES }
    }
}

fn read<const N: usize>(file: &mut impl BufRead) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
