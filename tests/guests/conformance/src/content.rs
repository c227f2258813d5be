//! Tools whose answers are of every kind.

use portcullis_sdk::NoArguments;
use portcullis_sdk::prelude::*;

/// A picture of one red point.
const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8,
    2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0,
    0, 3, 1, 1, 0, 0xc9, 0xfe, 0x92, 0xef, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

/// Two samples of silence, at 8000 a second.
const WAV: &[u8] = &[
    b'R', b'I', b'F', b'F', 38, 0, 0, 0, b'W', b'A', b'V', b'E', b'f', b'm', b't', b' ', 16, 0, 0, 0, 1, 0, 1, 0, 0x40,
    0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0, b'd', b'a', b't', b'a', 2, 0, 0, 0, 0x80, 0x80,
];

/// Answers with text.
#[tool(read_only)]
pub(crate) fn test_simple_text(_: NoArguments) -> &'static str {
    "This is a simple text response for testing."
}

/// Answers with an image.
#[tool(read_only)]
pub(crate) fn test_image_content(_: NoArguments) -> Parts {
    Parts(vec![Part::Image(Blob::new("image/png", PNG))])
}

/// Answers with a sound.
#[tool(read_only)]
pub(crate) fn test_audio_content(_: NoArguments) -> Parts {
    Parts(vec![Part::File(Blob::new("audio/wav", WAV))])
}

/// Answers with a file.
#[tool(read_only)]
pub(crate) fn test_embedded_resource(_: NoArguments) -> Parts {
    Parts(vec![Part::File(Blob::new("text/plain", "This is an embedded resource content."))])
}

/// Answers with text, an image and a file.
#[tool(read_only)]
pub(crate) fn test_multiple_content_types(_: NoArguments) -> Parts {
    Parts(vec![
        Part::Text("Multiple content types test:".to_owned()),
        Part::Image(Blob::new("image/png", PNG)),
        Part::File(Blob::new("application/json", r#"{"test":"data","value":123}"#)),
    ])
}

/// Always fails.
#[tool(read_only)]
pub(crate) fn test_error_handling(_: NoArguments) -> Result<String, Failure> {
    Err(Failure::failed("This tool intentionally returns an error for testing"))
}
