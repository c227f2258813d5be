//! Images and documents that providers accept in messages. They are recognized by their first bytes, not by the type
//! that the tool declares. A provider that finds a mismatch refuses the whole conversation.

use data_encoding::BASE64;
use portcullis::Blob;

/// An image or a document in a format that providers accept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Media<'a> {
    /// The format.
    pub(super) form: MediaForm,
    /// The bytes, with the type that the tool declares.
    pub(super) blob: &'a Blob,
}

/// The format of an image or a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaForm {
    Png,
    Jpeg,
    Gif,
    Webp,
    Pdf,
}

impl MediaForm {
    /// Returns the format of the bytes, or none if it is unknown.
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

    /// Returns the media type.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Pdf => "application/pdf",
        }
    }

    /// Returns whether it is an image format.
    pub(super) fn is_image(self) -> bool {
        match self {
            Self::Png | Self::Jpeg | Self::Gif | Self::Webp => true,
            Self::Pdf => false,
        }
    }
}

/// Returns the bytes as media, if providers accept their format.
pub(super) fn of(blob: &Blob) -> Option<Media<'_>> {
    Some(Media { form: MediaForm::of(&blob.data)?, blob })
}

impl Media<'_> {
    /// Returns the word for it.
    pub(super) fn kind(&self) -> &'static str {
        if self.form.is_image() { "image" } else { "file" }
    }

    /// Returns the bytes in base64, with padding.
    pub(super) fn base64(&self) -> String {
        BASE64.encode(&self.blob.data)
    }

    /// Returns the bytes as a data URL.
    pub(super) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.form.media_type(), self.base64())
    }

    /// Returns a line that names it and its place.
    pub(super) fn line(&self, place: &str) -> String {
        let (kind, media_type, bytes) = (self.kind(), self.form.media_type(), self.blob.data.len());
        format!("[Portcullis: this {kind} is {place}. {media_type}, {bytes} bytes.]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_recognized_by_its_bytes() {
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
            let blob = Blob { name: None, media_type: "image/jpeg".to_owned(), data: data.to_vec(), is_kept: false };
            assert_eq!(of(&blob).map(|media| media.form), form, "{data:?}");
        }
    }
}
