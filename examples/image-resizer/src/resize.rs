//! The tool `resize`: returns a smaller picture, and writes it to a file if requested.
#![expect(clippy::disallowed_methods, reason = "std::fs reaches the granted directory alone")]

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use portcullis_sdk::prelude::*;

use crate::encode::encode;
use crate::picture::{self, Format};

/// Maximum side of the box in pixels: more than any model uses.
const SIDE_MAX: u32 = 2048;

/// Which picture, and how small.
#[arguments]
pub(crate) struct Resize {
    /// The PNG or JPEG file in the granted directory, such as `summer/beach.jpg`.
    path: String,
    /// The width of the box that the picture fits in, in pixels.
    #[schemars(range(min = 1, max = SIDE_MAX))]
    width: u32,
    /// The height of the box.
    #[schemars(range(min = 1, max = SIDE_MAX))]
    height: u32,
    /// The format of the smaller picture; that of the file when absent. `jpeg` has no transparency.
    #[serde(default)]
    format: Option<Format>,
    /// Where to write the smaller picture, in the same directory; nowhere when absent. Replaces no file.
    #[serde(default)]
    save_as: Option<String>,
}

/// Shows a picture made small enough for a box, upright and in its own proportions, and writes it to a new file where a
/// name is given. As JPEG it stands on white where it is transparent.
#[tool(requires(read), optional(write))]
pub(crate) fn resize(arguments: Resize, context: &Context) -> Result<Success<Parts>, Failure> {
    let Resize { path, width, height, format, save_as } = arguments;
    let picture = picture::open(&path, context)?;
    let (before, format) = (picture.size(), format.unwrap_or(picture.format));
    let small = picture.fit(&path, width, height)?;
    let (width, height) = (small.width(), small.height());
    let bytes = encode(small, format)?;
    if let Some(name) = &save_as {
        let file = context.directory("pictures")?.path().join(name);
        save(&file, &bytes).map_err(|error| Failure::failed(format!("cannot write {name}: {error}")))?;
    }
    let place = save_as.map(|name| format!(", written to {name}")).unwrap_or_default();
    let text = format!("{path}: {} x {} is now {width} x {height}, {} bytes{place}", before.0, before.1, bytes.len());
    let image = Part::Image(Blob::new(format.media_type(), bytes));
    let metadata = json!({ "width": width, "height": height, "format": format });
    Ok(Success::new(Parts(vec![Part::Text(text), image])).title(format!("Resized {path}")).metadata(metadata))
}

/// Writes a new file. Fails if the file exists.
fn save(file: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(file)?.write_all(bytes)
}
