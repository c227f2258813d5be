//! A body as text: what kind it is (`media`), how its bytes spell characters (`charset`), and which part of a long text
//! is shown (`window`).

mod charset;
mod media;
mod window;

pub(crate) use self::media::Kind;
pub(crate) use self::window::window;

/// A body that was read.
pub(crate) struct Text {
    pub(crate) kind: Kind,
    /// The name of the encoding, as the standard writes it.
    pub(crate) charset: &'static str,
    pub(crate) content: String,
}

/// The body is no text; what it is instead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Binary(pub(crate) String);

/// Reads a body by what the server says of it, and by what it looks like where the server says nothing of use.
pub(crate) fn read(content_type: Option<&str>, bytes: &[u8]) -> Result<Text, Binary> {
    let media = media::parse(content_type);
    let kind = media::kind(&media, bytes)?;
    let (charset, content) = charset::decode(media.charset.as_deref(), kind, bytes);
    Ok(Text { kind, charset, content })
}
