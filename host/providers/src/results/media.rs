//! Bytes that providers take in messages: known by how they begin and not by what a tool says of them, since a provider
//! that finds something else refuses the whole conversation.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis::Blob;

/// Bytes of a form that providers take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Media<'a> {
    /// Their form.
    pub(super) form: MediaForm,
    /// The bytes, with what the tool says of them.
    pub(super) blob: &'a Blob,
}

/// A form of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaForm {
    Png,
    Jpeg,
    Gif,
    Webp,
    Pdf,
}

impl MediaForm {
    /// The form of bytes; nothing where they are of no known one.
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            [b'%', b'P', b'D', b'F', b'-', ..] => Some(Self::Pdf),
            _ => None,
        }
    }

    /// The media type.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Pdf => "application/pdf",
        }
    }

    /// Whether it is a form of images.
    pub(super) fn is_image(self) -> bool {
        match self {
            Self::Png | Self::Jpeg | Self::Gif | Self::Webp => true,
            Self::Pdf => false,
        }
    }
}

/// The bytes as media, where they are of a form that providers take.
pub(super) fn of(blob: &Blob) -> Option<Media<'_>> {
    Some(Media { form: MediaForm::of(&blob.data)?, blob })
}

impl Media<'_> {
    /// What to call it.
    pub(super) fn kind(&self) -> &'static str {
        if self.form.is_image() { "image" } else { "file" }
    }

    /// The bytes in base64, with padding.
    pub(super) fn base64(&self) -> String {
        STANDARD.encode(&self.blob.data)
    }

    /// The bytes as an address that holds them.
    pub(super) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.form.media_type(), self.base64())
    }

    /// A line of the host's that names it, and says where it is.
    pub(super) fn line(&self, place: &str) -> String {
        let (kind, media_type, bytes) = (self.kind(), self.form.media_type(), self.blob.data.len());
        format!("[Portcullis: this {kind} is {place}. {media_type}, {bytes} bytes.]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_known_by_its_bytes() {
        let cases: [(&[u8], Option<MediaForm>); 8] = [
            (b"\x89PNG\r\n\x1a\n", Some(MediaForm::Png)),
            (b"\xff\xd8\xff\xe0", Some(MediaForm::Jpeg)),
            (b"GIF89a", Some(MediaForm::Gif)),
            (b"RIFF\0\0\0\0WEBP", Some(MediaForm::Webp)),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"%PDF-1.7", Some(MediaForm::Pdf)),
            (b"<svg>", None),
            (b"", None),
        ];
        for (data, form) in cases {
            let blob = Blob { name: None, media_type: "image/jpeg".to_owned(), data: data.to_vec() };
            assert_eq!(of(&blob).map(|media| media.form), form, "{data:?}");
        }
    }
}
