//! Encodes a picture as an answer of limited size.

use std::io::{self, Write};

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageError, ImageResult, Rgb, RgbImage, RgbaImage};
use png::{BitDepth, ColorType, Compression, Encoder};
use portcullis_sdk::prelude::*;

use crate::picture::Format;

/// The JPEG quality, from 1 to 100. At this value the loss is not visible.
const JPEG_QUALITY: u8 = 85;
/// Maximum size of an answer in bytes. Hosts accept a few MiB.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Encodes a picture that has 8 bits per channel.
pub(crate) fn encode(image: DynamicImage, format: Format) -> Result<Vec<u8>, Failure> {
    let mut answer = Answer { bytes: Vec::with_capacity(ANSWER_BYTES_MAX), is_full: false };
    let written = match format {
        Format::Jpeg => jpeg(image, &mut answer),
        Format::Png => png(&image, &mut answer).map_err(ImageError::IoError),
    };
    if answer.is_full {
        let remedy = match format {
            Format::Jpeg => "ask for a smaller box",
            Format::Png => "ask for a smaller box, or for `jpeg`",
        };
        return Err(Failure::invalid(format!("the picture takes more than {ANSWER_BYTES_MAX} bytes: {remedy}")));
    }
    written?;
    Ok(answer.bytes)
}

fn jpeg(image: DynamicImage, answer: &mut Answer) -> ImageResult<()> {
    // JPEG has no transparency.
    let image = if image.color().has_alpha() { on_white(&image.into_rgba8()).into() } else { image };
    image.write_with_encoder(JpegEncoder::new_with_quality(answer, JPEG_QUALITY))
}

/// Blends a picture onto a white background.
fn on_white(image: &RgbaImage) -> RgbImage {
    const OPAQUE: u16 = 255;
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let [red, green, blue, alpha] = image.get_pixel(x, y).0.map(u16::from);
        let blend = |color: u16| (color * alpha + OPAQUE * (OPAQUE - alpha) + OPAQUE / 2) / OPAQUE;
        Rgb([red, green, blue].map(|color| u8::try_from(blend(color)).unwrap_or(u8::MAX)))
    })
}

/// Encodes a PNG row by row, because `image` would hold the whole picture twice before it writes the first byte.
fn png(image: &DynamicImage, answer: &mut Answer) -> io::Result<()> {
    let mut encoder = Encoder::new(answer, image.width(), image.height());
    encoder.set_depth(BitDepth::Eight);
    encoder.set_color(match image.color().channel_count() {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    });
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header()?;
    let mut rows = writer.stream_writer()?;
    rows.write_all(image.as_bytes())?;
    rows.finish()?;
    Ok(writer.finish()?)
}

/// A writer with a maximum size.
struct Answer {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Write for Answer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= bytes.len() > ANSWER_BYTES_MAX - self.bytes.len();
        if self.is_full {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
