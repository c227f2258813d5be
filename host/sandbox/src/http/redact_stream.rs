//! Removes secrets from a stream. The number of held-back bytes does not reveal how much of a secret the stream
//! contained.
//!
//! A server may echo guesses and pause. Through the guest that talks to it, it must not learn whether a guess is the
//! beginning of a secret. So the stream always holds back the same number of bytes.

use super::redact::Redactor;
use std::borrow::Cow;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Fraction of the hold-back that must arrive in addition before anything is passed on. All held bytes are searched
/// again each time. Without this, a server that sends single bytes would cause a search for each of them.
const BATCH_PART: usize = 16;

/// A redactor for a stream. Bytes that it has not passed on are dropped with it, for example if the stream fails.
#[derive(Default)]
pub(super) struct StreamRedactor {
    redactor: Option<Arc<Redactor>>,
    held: Zeroizing<Vec<u8>>,
}

impl StreamRedactor {
    /// Searches for these secrets from now on, also in the held-back bytes. `None` keeps the current ones.
    pub(super) fn look_for(&mut self, redactor: Option<Arc<Redactor>>) {
        if redactor.is_some() {
            self.redactor = redactor;
        }
    }

    /// Returns the part of the stream that can be passed on after `bytes`. Adds the number of matches to `found`.
    pub(super) fn push<'a>(&mut self, bytes: &'a [u8], found: &mut u64) -> Cow<'a, [u8]> {
        let Some(redactor) = &self.redactor else { return Cow::Borrowed(bytes) };
        self.held.extend_from_slice(bytes);
        let hold_back = redactor.hold_back_bytes();
        let end = self.held.len().saturating_sub(hold_back);
        if end < hold_back / BATCH_PART {
            return Cow::Owned(Vec::new());
        }
        let (redacted, done) = redactor.replace_until(&self.held, end, found);
        self.held.drain(..done);
        Cow::Owned(redacted)
    }

    /// Returns the rest of a stream that ended normally.
    pub(super) fn finish(&mut self, found: &mut u64) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        match &self.redactor {
            Some(redactor) => redactor.replace_until(&held, held.len(), found).0,
            None => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::redact::tests::{SECRET, echoes};
    use super::*;

    /// A byte that no spelling of the secret contains.
    const OTHER: u8 = b'\x01';

    fn redactor() -> Arc<Redactor> {
        Arc::new(Redactor::new(&[SECRET]).unwrap())
    }

    fn stream(redactor: &Arc<Redactor>) -> StreamRedactor {
        let mut stream = StreamRedactor::default();
        stream.look_for(Some(Arc::clone(redactor)));
        stream
    }

    /// Returns how many bytes a guest has after each piece of a stream that then pauses.
    fn seen(redactor: &Arc<Redactor>, text: &[u8], piece: usize) -> Vec<usize> {
        let mut stream = stream(redactor);
        text.chunks(piece).map(|piece| stream.push(piece, &mut 0).len()).collect()
    }

    #[test]
    fn a_secret_that_is_split_anywhere_is_found() {
        let redactor = redactor();
        for (name, echo) in echoes() {
            let text = format!("{{\"a\": \"k3y{echo}k3\", \"b\": \"{echo}\"}}");
            let (whole, expected) = redactor.bytes(text.as_bytes()).unwrap();
            for padding in [0, redactor.hold_back_bytes() - 40] {
                let text = [text.as_bytes(), &vec![OTHER; padding]].concat();
                let whole = [&whole[..], &vec![OTHER; padding]].concat();
                for split in 0..=text.len() - padding {
                    let mut stream = stream(&redactor);
                    let mut found = 0;
                    let mut parts = stream.push(&text[..split], &mut found).into_owned();
                    parts.extend_from_slice(&stream.push(&text[split..], &mut found));
                    parts.extend(stream.finish(&mut found));
                    assert_eq!((&parts, found), (&whole, expected), "{name}, split at {split}");
                }
                let mut stream = stream(&redactor);
                let mut found = 0;
                let mut drip = Vec::new();
                for byte in &text {
                    drip.extend_from_slice(&stream.push(&[*byte], &mut found));
                }
                drip.extend(stream.finish(&mut found));
                assert_eq!((drip, found), (whole, expected), "{name}, byte by byte");
            }
        }
    }

    /// The attack that recovers a secret from a redactor that holds back only possible beginnings of it.
    #[test]
    fn no_guess_at_a_beginning_changes_what_is_seen() {
        let redactor = redactor();
        let hold_back = redactor.hold_back_bytes();
        for (name, echo) in echoes() {
            let echo = echo.as_bytes();
            for length in 1..echo.len() {
                for before in [0, 1, hold_back - length, hold_back, hold_back + hold_back / BATCH_PART, 2 * hold_back] {
                    let right = [&vec![OTHER; before], &echo[..length]].concat();
                    let mut wrong = right.clone();
                    *wrong.last_mut().unwrap() = OTHER;
                    let neither = vec![OTHER; right.len()];
                    for piece in [1, 7, right.len()] {
                        let expected = seen(&redactor, &neither, piece);
                        assert_eq!(seen(&redactor, &wrong, piece), expected, "{name}, {length} bytes, wrong");
                        assert_eq!(seen(&redactor, &right, piece), expected, "{name}, {length} bytes, right");
                    }
                }
            }
        }
    }

    #[test]
    fn the_hold_back_does_not_depend_on_the_length_of_an_ordinary_secret() {
        let of = |length: usize| Redactor::new(&[&"s".repeat(length)]).unwrap().hold_back_bytes();
        assert!((8..=40).all(|length| of(length) == HOLD_BACK), "{}", of(40));
    }

    /// The hold-back for secrets of up to 40 bytes.
    const HOLD_BACK: usize = 256;

    #[test]
    fn a_secret_that_becomes_known_is_searched_for_in_the_held_back_bytes() {
        let first = Arc::new(Redactor::new(&["another-secret"]).unwrap());
        let mut stream = stream(&first);
        let mut found = 0;
        let mut text = stream.push(SECRET.as_bytes(), &mut found).into_owned();
        stream.look_for(Some(Arc::new(Redactor::union(&[first, redactor()]).unwrap())));
        stream.look_for(None);
        text.extend(stream.finish(&mut found));
        assert_eq!((text.as_slice(), found), (super::super::redact::REPLACEMENT.as_bytes(), 1));
    }

    #[test]
    fn without_a_secret_nothing_is_held_back() {
        let mut stream = StreamRedactor::default();
        assert_eq!(&*stream.push(b"data: nothing\n\n", &mut 0), b"data: nothing\n\n");
        assert!(stream.finish(&mut 0).is_empty());
    }
}
