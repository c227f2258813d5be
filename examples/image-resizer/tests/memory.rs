//! Tests the memory check before a picture is decoded, and the conversion of colours.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]
#![expect(clippy::disallowed_methods, reason = "the pictures are made here")]

use std::fs::File;
use std::path::{Path, PathBuf};

use image::{ImageBuffer, ImageFormat, Luma, Rgba};
use images_plugin::PLUGIN;
use png::{BitDepth, ColorType, Compression, Encoder};
use portcullis_sdk::prelude::json;
use portcullis_sdk::testing::{Context, call};
use portcullis_sdk::{Failure, Output, Part};

/// A directory for the pictures of one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns a PNG of one colour: rows of zeros in any depth, which are quick to create.
fn plain(file: &Path, width: u32, height: u32, color: ColorType, depth: BitDepth) {
    let mut encoder = Encoder::new(File::create(file).unwrap(), width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_palette(vec![200, 30, 30, 20, 20, 220]);
    encoder.set_compression(Compression::Fast);
    let row = color.samples() * width as usize * depth as usize;
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![0; row.div_ceil(8) * height as usize]).unwrap();
}

/// Returns the image from the answer of `resize`.
fn resize(folder: &Path, path: &str, side: u32, format: &str) -> Result<image::DynamicImage, String> {
    let context = Context::new().directory("pictures", folder);
    let arguments = json!({ "path": path, "width": side, "height": side, "format": format });
    let success = match call(&PLUGIN, "resize", arguments, &context) {
        Ok(success) => success,
        Err(Failure::InvalidArguments(text)) => return Err(text),
        Err(other) => panic!("{other:?}"),
    };
    let Output::Parts(parts) = success.output else { panic!("the output is parts") };
    let [_, Part::Image(image)] = &parts[..] else { panic!("a text and an image") };
    Ok(image::load_from_memory(&image.data).unwrap())
}

#[test]
fn the_memory_of_the_small_picture_counts() {
    let folder = folder("counts");
    plain(&folder.join("edge.png"), 4840, 3480, ColorType::Indexed, BitDepth::One);
    plain(&folder.join("over.png"), 4880, 3520, ColorType::Indexed, BitDepth::One);
    assert_eq!(resize(&folder, "edge.png", 2048, "png").unwrap().width(), 2048);
    let why = resize(&folder, "over.png", 2048, "png").unwrap_err();
    assert!(why.contains("4880 x 3520 pixels need 60") && why.contains("ask for a smaller box"), "{why}");
    assert_eq!(resize(&folder, "over.png", 1024, "png").unwrap().width(), 1024);
}

#[test]
fn sixteen_bit_channels_count_twice() {
    let folder = folder("deep");
    plain(&folder.join("fits.png"), 2048, 2048, ColorType::Rgba, BitDepth::Sixteen);
    plain(&folder.join("over.png"), 2700, 2700, ColorType::Rgba, BitDepth::Sixteen);
    let fitted = resize(&folder, "fits.png", 2048, "png").unwrap();
    assert_eq!((fitted.width(), fitted.color()), (2048, image::ColorType::Rgba8));
    let why = resize(&folder, "over.png", 2048, "png").unwrap_err();
    assert!(why.contains("2700 x 2700 pixels need 9") && why.contains("ask for a smaller box"), "{why}");
}

#[test]
fn a_long_side_is_refused() {
    let folder = folder("long");
    plain(&folder.join("long.png"), 16 * 1024 + 1, 1, ColorType::Indexed, BitDepth::One);
    let why = resize(&folder, "long.png", 64, "png").unwrap_err();
    assert!(why.contains("16385 x 1 pixels; at most 16384 are allowed per side"), "{why}");
}

#[test]
fn transparent_pixels_become_white_in_jpeg() {
    let folder = folder("transparent");
    let half = |x, _| Rgba([0_u8, 0, 0, if x < 32 { 0 } else { 128 }]);
    ImageBuffer::from_fn(64, 64, half).save_with_format(folder.join("half.png"), ImageFormat::Png).unwrap();
    let image = resize(&folder, "half.png", 64, "jpeg").unwrap().into_rgb8();
    assert!(image.get_pixel(8, 32).0.iter().all(|color| *color > 250), "{:?}", image.get_pixel(8, 32));
    assert!(image.get_pixel(56, 32).0.iter().all(|color| (120..=135).contains(color)), "{:?}", image.get_pixel(56, 32));
    let kept = resize(&folder, "half.png", 64, "png").unwrap().into_rgba8();
    assert_eq!(kept.get_pixel(8, 32).0, [0, 0, 0, 0]);
}

#[test]
fn grey_stays_grey() {
    let folder = folder("grey");
    let slope = |x, _| Luma([u16::try_from(x * 1024).unwrap()]);
    ImageBuffer::from_fn(64, 64, slope).save_with_format(folder.join("grey.png"), ImageFormat::Png).unwrap();
    for format in ["png", "jpeg"] {
        assert_eq!(resize(&folder, "grey.png", 32, format).unwrap().color(), image::ColorType::L8, "{format}");
    }
}
