//! Parses JSON text in one pass without copying the values that it skips. Invalid JSON is an error wherever it is.
//!
//! It returns the exact text of a value. The arguments of a call are then parsed strictly from that text, so that
//! duplicate keys are detected. (serde_json's raw values would make every JSON parser of this process treat a special
//! key differently.)

use serde::de::{Deserialize, IgnoredAny};
use std::borrow::Cow;

/// What is wrong with the structure of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FormFlaw(pub(super) &'static str);

/// The error for text that is not JSON.
const NO_JSON: FormFlaw = FormFlaw("it is not JSON");

/// A place in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of a text.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the first byte of the next value, or zero at the end of the text.
    pub(super) fn peek(&mut self) -> u8 {
        let space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += self.rest().iter().take_while(|byte| space(byte)).count();
        self.rest().first().copied().unwrap_or(0)
    }

    /// Visits the members of an object. `each` gets every key and must consume its value.
    pub(super) fn members(
        &mut self,
        what: FormFlaw,
        mut each: impl FnMut(&str, &mut Self) -> Result<(), FormFlaw>,
    ) -> Result<(), FormFlaw> {
        self.enter(b'{', what)?;
        if self.peek() != b'}' {
            loop {
                let key = self.string()?;
                self.enter(b':', NO_JSON)?;
                each(&key, self)?;
                match self.peek() {
                    b',' => self.at += 1,
                    _ => break,
                }
                // `string` expects the quote of the next key here.
                self.peek();
            }
        }
        self.enter(b'}', NO_JSON)
    }

    /// Visits the items of an array. `each` must consume one item.
    pub(super) fn items(
        &mut self,
        what: FormFlaw,
        mut each: impl FnMut(&mut Self) -> Result<(), FormFlaw>,
    ) -> Result<(), FormFlaw> {
        self.enter(b'[', what)?;
        if self.peek() != b']' {
            loop {
                each(self)?;
                match self.peek() {
                    b',' => self.at += 1,
                    _ => break,
                }
            }
        }
        self.enter(b']', NO_JSON)
    }

    /// Consumes a string or null. Returns none for null.
    pub(super) fn text(&mut self, what: FormFlaw) -> Result<Option<Cow<'a, str>>, FormFlaw> {
        match self.peek() {
            b'"' => self.string().map(Some),
            b'n' => self.skip().map(|_| None),
            _ => Err(what),
        }
    }

    /// Consumes any value and returns its text.
    pub(super) fn skip(&mut self) -> Result<&'a str, FormFlaw> {
        let first = self.peek();
        let begin = self.at;
        // Most skipped values are short strings, which need no parser.
        match first {
            b'"' => self.pass_string()?,
            _ => self.read::<IgnoredAny>().map(drop)?,
        }
        Ok(self.text.get(begin..self.at).unwrap_or_default())
    }

    /// Checks that the text ends here.
    pub(super) fn end(&mut self) -> Result<(), FormFlaw> {
        self.peek();
        match self.at == self.text.len() {
            true => Ok(()),
            false => Err(NO_JSON),
        }
    }

    fn enter(&mut self, open: u8, what: FormFlaw) -> Result<(), FormFlaw> {
        if self.peek() != open {
            return Err(what);
        }
        self.at += 1;
        Ok(())
    }

    /// Consumes a string, which starts here.
    fn string(&mut self) -> Result<Cow<'a, str>, FormFlaw> {
        match self.plain_string()? {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => self.read::<String>().map(Cow::Owned),
        }
    }

    /// Consumes a string with any content.
    fn pass_string(&mut self) -> Result<(), FormFlaw> {
        match self.plain_string()? {
            Some(_) => Ok(()),
            None => self.read::<IgnoredAny>().map(drop),
        }
    }

    /// Consumes a string without escapes. Stays in place before any other string.
    fn plain_string(&mut self) -> Result<Option<&'a str>, FormFlaw> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut bytes = rest.bytes().enumerate();
        if bytes.next() != Some((0, b'"')) {
            return Err(NO_JSON);
        }
        // A string must not have control characters without an escape (RFC 8259, section 7).
        match bytes.find(|(_, byte)| matches!(byte, b'"' | b'\\' | ..b' ')) {
            Some((end, b'"')) => {
                self.at += end + 1;
                Ok(rest.get(1..end))
            }
            Some((_, b'\\')) => Ok(None),
            Some(_) | None => Err(NO_JSON),
        }
    }

    /// Consumes and parses a value.
    fn read<T: Deserialize<'a>>(&mut self) -> Result<T, FormFlaw> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        // A stream ends after one value, where `from_str` would refuse what follows.
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        let value = values.next().and_then(Result::ok).ok_or(NO_JSON)?;
        self.at += values.byte_offset();
        Ok(value)
    }

    /// Consumes arguments. Returns the content of a string, or the text of any other value. A string that is not valid
    /// Unicode, such as one with a lone surrogate, is returned as written.
    pub(super) fn arguments(&mut self) -> Result<Cow<'a, str>, FormFlaw> {
        match self.peek() {
            b'"' => self.string().or_else(|_| self.skip().map(Cow::Borrowed)),
            _ => self.skip().map(Cow::Borrowed),
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}
