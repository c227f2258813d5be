//! Decodes the content coding of a response in pieces of bounded size.

use super::error::HttpFailure;
use bytes::{Buf, Bytes};
use flate2::write::MultiGzDecoder;
use http::{HeaderMap, header};
use std::io::Write;

/// Bytes to decode in one step. Deflate expands data by at most 1032 times, so one step never produces much more than a
/// mebibyte.
const STEP_BYTES: usize = 1024;

/// Codings that an error may name: those of the IANA registry. Any other text could be a secret.
const CODINGS_NAMED: [&str; 8] = ["br", "compress", "dcb", "dcz", "deflate", "exi", "pack200-gzip", "zstd"];

/// A decoder for the content coding of a body.
pub(super) enum Decoder {
    /// The body is not encoded.
    Identity,
    /// The body is gzip with one or more members.
    Gzip { decoder: Box<MultiGzDecoder<Vec<u8>>>, begun: bool },
}

impl Decoder {
    /// Returns the decoder for a response with these headers.
    ///
    /// # Errors
    /// The body has a coding that the host did not ask for.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, HttpFailure> {
        let mut codings = Vec::new();
        for value in headers.get_all(header::CONTENT_ENCODING) {
            let value = value.to_str().map_err(|_| HttpFailure::Coding(None))?;
            let named = value.split(',').map(|coding| coding.trim().to_ascii_lowercase());
            codings.extend(named.filter(|coding| !coding.is_empty() && coding != "identity"));
        }
        match codings.as_slice() {
            [] => Ok(Self::Identity),
            [one] if one == "gzip" || one == "x-gzip" => {
                Ok(Self::Gzip { decoder: Box::new(MultiGzDecoder::new(Vec::new())), begun: false })
            }
            others => Err(HttpFailure::Coding(
                CODINGS_NAMED.into_iter().find(|named| others.iter().any(|other| other == named)),
            )),
        }
    }

    /// Returns whether decoding changes the length, so that the server's content length is wrong for the guest.
    pub(super) fn changes_length(&self) -> bool {
        match self {
            Self::Identity => false,
            Self::Gzip { .. } => true,
        }
    }

    /// Decodes the first piece of `encoded`, and removes it from there.
    pub(super) fn step(&mut self, encoded: &mut Bytes) -> Result<Bytes, HttpFailure> {
        match self {
            Self::Identity => Ok(std::mem::take(encoded)),
            Self::Gzip { decoder, begun } => {
                let step = encoded.len().min(STEP_BYTES);
                *begun |= step > 0;
                decoder.write_all(&encoded[..step]).map_err(|_| HttpFailure::Encoded)?;
                encoded.advance(step);
                Ok(std::mem::take(decoder.get_mut()).into())
            }
        }
    }

    /// Returns the rest at the end of the body.
    ///
    /// # Errors
    /// The end is missing, or the checksum is wrong.
    pub(super) fn finish(&mut self) -> Result<Bytes, HttpFailure> {
        match self {
            // A response to HEAD may name a coding, but has no body.
            Self::Identity | Self::Gzip { begun: false, .. } => Ok(Bytes::new()),
            Self::Gzip { decoder, .. } => {
                decoder.try_finish().map_err(|_| HttpFailure::Encoded)?;
                Ok(std::mem::take(decoder.get_mut()).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use http::HeaderValue;

    fn decoder(coding: &'static str) -> Result<Decoder, HttpFailure> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        Decoder::of(&headers)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_compression_bomb_is_decoded_in_pieces_of_about_a_mebibyte() {
        let mut encoded = Bytes::from(gzip(&vec![0; 64 << 20]));
        let mut decoder = decoder("gzip").unwrap();
        let (mut largest, mut total) = (0, 0);
        while !encoded.is_empty() {
            let piece = decoder.step(&mut encoded).unwrap();
            largest = largest.max(piece.len());
            total += piece.len();
        }
        total += decoder.finish().unwrap().len();
        assert_eq!(total, 64 << 20);
        assert!(largest <= STEP_BYTES * 1032 + (64 << 10), "{largest}");
    }

    #[test]
    fn codings_that_the_host_did_not_ask_for_are_refused() {
        for coding in ["br", "deflate", "zstd", "gzip, gzip", "gzip, br", "identity, br"] {
            assert!(matches!(decoder(coding), Err(HttpFailure::Coding(_))), "{coding}");
        }
        for coding in ["", "identity", "identity, ,"] {
            assert!(matches!(decoder(coding), Ok(Decoder::Identity)), "{coding}");
        }
        for coding in ["gzip", "GZIP", "x-gzip", "identity, gzip"] {
            assert!(matches!(decoder(coding), Ok(Decoder::Gzip { .. })), "{coding}");
        }
    }

    #[test]
    fn a_truncated_or_damaged_body_is_an_error() {
        let whole = gzip(b"a page of text that is long enough to be compressed");
        let mut cut = Bytes::from(whole[..whole.len() - 4].to_vec());
        let mut half = decoder("gzip").unwrap();
        half.step(&mut cut).unwrap();
        assert!(half.finish().is_err());
        let mut damaged = whole;
        damaged[12] ^= 0x55;
        let mut damaged = Bytes::from(damaged);
        let mut bad = decoder("gzip").unwrap();
        assert!(bad.step(&mut damaged).and_then(|_| bad.finish()).is_err());
        assert!(decoder("gzip").unwrap().finish().unwrap().is_empty(), "a response without a body has no end to check");
    }
}
