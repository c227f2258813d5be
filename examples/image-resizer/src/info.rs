//! The tool `info`: returns the format and size of a picture without decoding it.

use portcullis_sdk::prelude::*;

use crate::picture::{self, Format};

/// Which picture.
#[arguments]
pub(crate) struct Which {
    /// The file in the granted directory, such as `summer/beach.jpg`.
    path: String,
}

/// What a picture is.
#[output]
pub(crate) struct Info {
    /// Its format, by its content.
    format: Format,
    /// Its width in pixels, as it is looked at.
    width: u32,
    /// Its height in pixels.
    height: u32,
}

/// Says the format and the size of a PNG or JPEG picture.
#[tool(read_only, idempotent, requires(read))]
pub(crate) fn info(arguments: Which, context: &Context) -> Result<Json<Info>, Failure> {
    let picture = picture::open(&arguments.path, context)?;
    let (width, height) = picture.size();
    Ok(Json(Info { format: picture.format, width, height }))
}
