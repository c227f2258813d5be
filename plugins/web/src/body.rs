//! A body as text: its kind (`media`), its encoding (`charset`), and the part of a long text to show (`window`).

mod charset;
mod media;
mod window;

pub(crate) use self::media::{Binary, Kind};
pub(crate) use self::window::window;

/// A body, decoded to text.
pub(crate) struct Text {
    pub(crate) kind: Kind,
    /// The name of the encoding, as the WHATWG standard writes it.
    pub(crate) charset: &'static str,
    pub(crate) content: String,
}

/// Decodes a body. Uses the server's content type, or guesses from the bytes if that is missing or useless.
pub(crate) fn read(content_type: Option<&str>, bytes: &[u8]) -> Result<Text, Binary> {
    let media = media::parse(content_type);
    let kind = media::kind(&media, bytes)?;
    let (charset, content) = charset::decode(media.charset.as_deref(), kind, bytes);
    Ok(Text { kind, charset, content })
}
