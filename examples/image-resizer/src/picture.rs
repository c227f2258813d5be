//! Reads untrusted picture files. Checks the claims in a file's head before it allocates memory for them.
#![expect(clippy::disallowed_methods, reason = "std::fs reaches the granted directory alone")]

use std::fs::File;
use std::io::{BufReader, Seek as _};

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};
use portcullis_sdk::prelude::*;

use crate::jpeg;

/// Maximum size of a file in bytes: enough for a good camera.
const FILE_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Maximum memory for the pictures of a call, the file and its decoder's buffers, in bytes. The host's default limit is
/// 64 MiB. The rest is for the stack, the plugin's data, a decoder's rows and metadata, and fragmentation.
const MEMORY_BYTES_MAX: u64 = 60 * 1000 * 1000;
/// Maximum side in pixels: enough for a panorama. It keeps a decoder's rows small.
const SIDE_MAX: u32 = 16 * 1024;
/// Maximum bytes of a PNG's metadata plus one of its rows: enough for a large colour profile.
const METADATA_BYTES_MAX: u64 = 1024 * 1024;

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

    const fn image(self) -> ImageFormat {
        match self {
            Format::Jpeg => ImageFormat::Jpeg,
            Format::Png => ImageFormat::Png,
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

/// A picture whose head has been read.
pub(crate) struct Picture<D> {
    decoder: D,
    pub(crate) format: Format,
    orientation: Orientation,
    /// The size of its file, in bytes.
    file: u64,
    /// The memory of its decoder in addition to the file and the pixels, in bytes.
    scratch: u64,
}

/// Opens a picture and reads its head. Detects the format from the content, not from the file's name.
pub(crate) fn open(path: &str, context: &Context) -> Result<Picture<impl ImageDecoder>, Failure> {
    let cannot = |why: String| Failure::failed(format!("cannot read {path}: {why}"));
    let file = context.directory("pictures")?.path().join(path);
    let file = File::open(file).map_err(|error| cannot(error.to_string()))?;
    let size = file.metadata().map_err(|error| cannot(error.to_string()))?.len();
    if size > FILE_BYTES_MAX {
        return Err(cannot(format!("its {size} bytes are more than {FILE_BYTES_MAX}")));
    }
    let guessed = ImageReader::new(BufReader::new(file)).with_guessed_format();
    let reader = guessed.map_err(|error| cannot(error.to_string()))?;
    let format = Format::of(reader.format())
        .ok_or_else(|| Failure::invalid(format!("{path} is neither PNG nor JPEG: take another file")))?;
    let mut file = reader.into_inner();
    let scratch = match format {
        Format::Jpeg => jpeg::scratch(&mut file).map_err(|error| broken(path, ImageError::IoError(error)))?,
        Format::Png => 0,
    };
    file.rewind()?;
    let mut reader = ImageReader::with_format(file, format.image());
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(METADATA_BYTES_MAX);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|error| broken(path, error))?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok(Picture { decoder, format, orientation, file: size, scratch })
}

impl<D: ImageDecoder> Picture<D> {
    /// Returns the width and height of the upright picture.
    pub(crate) fn size(&self) -> (u32, u32) {
        let (width, height) = self.decoder.dimensions();
        if self.is_turned() { (height, width) } else { (width, height) }
    }

    /// Returns the picture scaled down to fit a box, upright, in its proportions, and with 8 bits per channel. A
    /// picture that fits keeps its size.
    pub(crate) fn fit(self, path: &str, width: u32, height: u32) -> Result<DynamicImage, Failure> {
        let (width, height) = if self.is_turned() { (height, width) } else { (width, height) };
        let orientation = self.orientation;
        let small = self.within(width, height);
        self.check_memory(path, small)?;
        let mut image = DynamicImage::from_decoder(self.decoder).map_err(|error| broken(path, error))?;
        if let Some((width, height)) = small {
            image = image.thumbnail_exact(width, height);
        }
        image = to_8_bits(image);
        image.apply_orientation(orientation);
        Ok(image)
    }

    /// Returns the largest size that fits a box, or `None` if the picture already fits.
    fn within(&self, width: u32, height: u32) -> Option<(u32, u32)> {
        let (own_width, own_height) = self.decoder.dimensions();
        if own_width <= width && own_height <= height {
            return None;
        }
        let scaled = |side: u32, to: u32, from: u32| {
            let rounded = (u64::from(side) * u64::from(to) + u64::from(from) / 2) / u64::from(from);
            u32::try_from(rounded).unwrap_or(to).max(1)
        };
        let is_wide = u64::from(own_width) * u64::from(height) >= u64::from(own_height) * u64::from(width);
        Some(match is_wide {
            true => (width, scaled(own_height, width, own_width)),
            false => (scaled(own_width, height, own_height), height),
        })
    }

    /// Checks that the peak memory is within the limit. The pixels are held first with their decoder's buffers, then
    /// with the small picture. Later steps hold at most two small pictures and the answer.
    fn check_memory(&self, path: &str, small: Option<(u32, u32)>) -> Result<(), Failure> {
        let (width, height) = self.decoder.dimensions();
        if width.max(height) > SIDE_MAX {
            let size = format!("{width} x {height} pixels");
            return Err(Failure::invalid(format!("{path} has {size}; at most {SIDE_MAX} are allowed per side")));
        }
        let color = self.decoder.color_type();
        let bytes = |(width, height), each: u8| u64::from(width) * u64::from(height) * u64::from(each);
        let second = match small {
            Some(size) => bytes(size, color.bytes_per_pixel()),
            // The copy with 8 bits per channel, if the picture has 16.
            None => bytes((width, height), color.channel_count()),
        };
        let first = bytes((width, height), color.bytes_per_pixel()).saturating_add(self.file);
        let (decoding, shrinking) = (first.saturating_add(self.scratch), first.saturating_add(second));
        let most = decoding.max(shrinking);
        if most <= MEMORY_BYTES_MAX {
            return Ok(());
        }
        let remedy = match decoding <= MEMORY_BYTES_MAX {
            true => "ask for a smaller box",
            false => "take a smaller picture",
        };
        let why = format!("{width} x {height} pixels need {most} bytes of memory; the maximum is {MEMORY_BYTES_MAX}");
        Err(Failure::invalid(format!("{path} is too large: {why}; {remedy}")))
    }

    /// Returns whether the picture is stored on its side, because the camera was turned.
    fn is_turned(&self) -> bool {
        matches!(
            self.orientation,
            Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH
        )
    }
}

/// Converts a picture to 8 bits per channel.
fn to_8_bits(image: DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageLuma16(_) => image.into_luma8().into(),
        DynamicImage::ImageLumaA16(_) => image.into_luma_alpha8().into(),
        DynamicImage::ImageRgb16(_) => image.into_rgb8().into(),
        DynamicImage::ImageRgba16(_) => image.into_rgba8().into(),
        other => other,
    }
}

fn broken(path: &str, error: ImageError) -> Failure {
    match error {
        // The decoder's limit counts only the pixels of one row. It also fails if an address cannot reach all pixels.
        ImageError::Limits(_) => Failure::invalid(format!(
            "{path} is too large: a row and its metadata need more than {METADATA_BYTES_MAX} bytes, or its pixels more \
             than an address can reach; take a smaller picture, or save it without metadata"
        )),
        error => Failure::failed(format!("{path} cannot be decoded: {error}")),
    }
}
