//! Goes once through JSON text, and copies nothing of what it passes. Text that is no JSON is an error, wherever that
//! is.
//!
//! It hands out the exact text of a value: what the arguments of a call are is read from it strictly, where a key that
//! comes twice is seen. (serde_json's own way to keep a text would make every reader of this process take one key of
//! any document for something else.)

use serde::de::{Deserialize, IgnoredAny};
use std::borrow::Cow;

/// What is wrong with the form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FormFlaw(pub(super) &'static str);

/// What is said of a text that is no JSON.
const NO_JSON: FormFlaw = FormFlaw("it is no JSON");

/// A place in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning of a text.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The byte that the next value begins with; zero at the end of the text.
    pub(super) fn peek(&mut self) -> u8 {
        let space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += self.rest().iter().take_while(|byte| space(byte)).count();
        self.rest().first().copied().unwrap_or(0)
    }

    /// Goes through an object: `each` gets every key, and goes past its value.
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
                self.peek();
            }
        }
        self.enter(b'}', NO_JSON)
    }

    /// Goes through an array: `each` goes past one item.
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

    /// Goes past a string, or null, which is none.
    pub(super) fn text(&mut self, what: FormFlaw) -> Result<Option<Cow<'a, str>>, FormFlaw> {
        match self.peek() {
            b'"' => self.string().map(Some),
            b'n' => self.skip().map(|_| None),
            _ => Err(what),
        }
    }

    /// Goes past any value, and hands out its text.
    pub(super) fn skip(&mut self) -> Result<&'a str, FormFlaw> {
        let first = self.peek();
        let begin = self.at;
        // Most of what is passed is short texts, which need no reader.
        match first {
            b'"' => self.pass_string()?,
            _ => self.read::<IgnoredAny>().map(drop)?,
        }
        Ok(self.text.get(begin..self.at).unwrap_or_default())
    }

    /// There is nothing more.
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

    /// Goes past a string, which begins here.
    fn string(&mut self) -> Result<Cow<'a, str>, FormFlaw> {
        match self.plain_string()? {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => self.read::<String>().map(Cow::Owned),
        }
    }

    /// Goes past a string, whatever it holds.
    fn pass_string(&mut self) -> Result<(), FormFlaw> {
        match self.plain_string()? {
            Some(_) => Ok(()),
            None => self.read::<IgnoredAny>().map(drop),
        }
    }

    /// Goes past a string that holds no escape; stays where it is in front of another.
    fn plain_string(&mut self) -> Result<Option<&'a str>, FormFlaw> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut bytes = rest.bytes().enumerate();
        if bytes.next() != Some((0, b'"')) {
            return Err(NO_JSON);
        }
        match bytes.find(|(_, byte)| matches!(byte, b'"' | b'\\' | ..b' ')) {
            Some((end, b'"')) => {
                self.at += end + 1;
                Ok(rest.get(1..end))
            }
            Some((_, b'\\')) => Ok(None),
            Some(_) | None => Err(NO_JSON),
        }
    }

    /// Goes past a value and reads it.
    fn read<T: Deserialize<'a>>(&mut self) -> Result<T, FormFlaw> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<T>();
        let value = values.next().and_then(Result::ok).ok_or(NO_JSON)?;
        self.at += values.byte_offset();
        Ok(value)
    }

    /// Goes past arguments: what a string holds, and the text of anything else. A string that holds no text, as one
    /// with a lone surrogate does, stays as it is written.
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
