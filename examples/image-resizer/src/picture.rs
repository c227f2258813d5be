//! A file that claims to be a picture. Whatever it claims is checked before memory is spent on it.
#![expect(clippy::disallowed_methods, reason = "std::fs reaches the granted directory alone")]

use std::fs::File;
use std::io::{Cursor, Read as _};

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader};
use portcullis_sdk::prelude::*;

/// The largest file, in bytes: that of a good camera.
const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// The most memory that decoding may take, in bytes: a photo of 12 million pixels, or a progressive one of 5 million.
/// What the rest of the plugin needs beside it fits into the 64 MiB that a host gives by default.
const MEMORY_BYTES_MAX: u64 = 60 * 1000 * 1000;
/// The file lies in memory twice while its decoder begins.
const FILE_COPIES: u64 = 2;
/// What decoding a progressive JPEG takes for each byte of the picture: the byte itself, and its coefficient of two.
const PROGRESSIVE_FACTOR: u64 = 3;

/// The formats that this plugin reads and writes.
#[arguments]
#[derive(Clone, Copy, PartialEq, Eq, portcullis_sdk::serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    Jpeg,
    Png,
}

impl Format {
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
        }
    }

    fn of(format: Option<ImageFormat>) -> Option<Format> {
        match format {
            Some(ImageFormat::Jpeg) => Some(Format::Jpeg),
            Some(ImageFormat::Png) => Some(Format::Png),
            Some(_) | None => None,
        }
    }
}

/// A picture whose head was read.
pub(crate) struct Picture<D> {
    decoder: D,
    pub(crate) format: Format,
    orientation: Orientation,
    /// What decoding it takes, in bytes.
    memory: u64,
}

/// Opens a picture and reads its head: the format by its content, whatever the file is called.
pub(crate) fn open(path: &str, context: &Context) -> Result<Picture<impl ImageDecoder>, Failure> {
    let bytes = read(path, context)?;
    let (copies, is_progressive) = (bytes.len() as u64 * FILE_COPIES, is_progressive(&bytes));
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let format = Format::of(reader.format())
        .ok_or_else(|| Failure::invalid(format!("{path} is neither PNG nor JPEG: take another file")))?;
    let mut decoder = reader.into_decoder().map_err(|error| broken(path, &error))?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let factor = if is_progressive { PROGRESSIVE_FACTOR } else { 1 };
    let memory = decoder.total_bytes().saturating_mul(factor).saturating_add(copies);
    Ok(Picture { decoder, format, orientation, memory })
}

fn read(path: &str, context: &Context) -> Result<Vec<u8>, Failure> {
    let cannot = |why: String| Failure::failed(format!("cannot read {path}: {why}"));
    let file = context.directory("pictures")?.path().join(path);
    let file = File::open(file).map_err(|error| cannot(error.to_string()))?;
    let size = file.metadata().map_err(|error| cannot(error.to_string()))?.len();
    if size > FILE_BYTES_MAX {
        return Err(cannot(format!("its {size} bytes are more than {FILE_BYTES_MAX}")));
    }
    // As large as the file says it is: growing would hold it twice.
    let mut bytes = Vec::with_capacity(usize::try_from(size)?);
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| cannot(error.to_string()))?;
    Ok(bytes)
}

impl<D: ImageDecoder> Picture<D> {
    /// Width and height, as the picture is looked at.
    pub(crate) fn size(&self) -> (u32, u32) {
        let (width, height) = self.decoder.dimensions();
        if self.is_turned() { (height, width) } else { (width, height) }
    }

    /// The picture within a box, upright and in its own proportions. One that fits stays as large as it is.
    pub(crate) fn fit(self, path: &str, width: u32, height: u32) -> Result<DynamicImage, Failure> {
        if self.memory > MEMORY_BYTES_MAX {
            let Picture { memory, .. } = self;
            return Err(Failure::invalid(format!(
                "{path} is too large: decoding it takes {memory} bytes of memory, and {MEMORY_BYTES_MAX} are the most"
            )));
        }
        let (own_width, own_height) = self.decoder.dimensions();
        let (width, height) = if self.is_turned() { (height, width) } else { (width, height) };
        let orientation = self.orientation;
        let whole = DynamicImage::from_decoder(self.decoder).map_err(|error| broken(path, &error))?;
        let is_within = own_width <= width && own_height <= height;
        let mut fitted = if is_within { whole } else { whole.thumbnail(width, height) };
        fitted.apply_orientation(orientation);
        Ok(fitted)
    }

    /// Whether a camera held on its side has taken it.
    fn is_turned(&self) -> bool {
        matches!(
            self.orientation,
            Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH
        )
    }
}

/// Whether the bytes are a JPEG whose frame is decoded in several passes, all of them in memory.
fn is_progressive(bytes: &[u8]) -> bool {
    const START_OF_FRAME: [u8; 12] = [0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE];
    // After the two bytes that say what it is, a JPEG begins with segments: a marker, and the length from there.
    let Some(mut rest) = bytes.strip_prefix(&[0xFF, 0xD8]) else { return false };
    while let [0xFF, marker, high, low, ..] = *rest {
        if START_OF_FRAME.contains(&marker) {
            return matches!(marker, 0xC2 | 0xC6 | 0xCA | 0xCE);
        }
        let length = usize::from(u16::from_be_bytes([high, low]));
        rest = rest.get(2 + length..).unwrap_or_default();
    }
    false
}

fn broken(path: &str, error: &image::ImageError) -> Failure {
    Failure::failed(format!("{path} cannot be decoded: {error}"))
}
