//! Repairs text that is almost JSON, in one pass.
//!
//! The result is parsed strictly afterwards, so nothing that is not JSON gets through. The repair never closes a
//! string, and no bracket after a number, a comma or a colon: the text may have been cut off there, and the rest is
//! lost.

/// Maximum nesting of brackets, as deep as the host parses.
const OPEN_MAX: usize = 64;

/// The last token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// An opening bracket, or the start.
    Open,
    /// A comma, at this position of the output.
    Comma(usize),
    Colon,
    /// A value that could continue.
    Number,
    /// A complete value.
    Whole,
}

/// The changes to a text.
#[derive(Default)]
struct Changes {
    fence: bool,
    commas: bool,
    quotes: bool,
    words: bool,
    controls: bool,
    closed: bool,
}

/// Repairs a text. Returns none if that is impossible, or if no known fault was found.
pub(super) fn mend(text: &str) -> Option<(String, Vec<&'static str>)> {
    let mut changes = Changes::default();
    let inner = unfenced(text);
    changes.fence = inner.is_some();
    let mut mender = Mender { rest: inner.unwrap_or(text), out: String::new(), open: Vec::new(), changes };
    mender.out.reserve(mender.rest.len());
    mender.run()?;
    let changes = mender.changes;
    let said = [
        (changes.fence, "the code fence was removed"),
        (changes.commas, "commas before closing brackets were removed"),
        (changes.quotes, "single quotes were changed to double quotes"),
        (changes.words, "True, False and None were changed to true, false and null"),
        (changes.controls, "control characters in strings were escaped"),
        (changes.closed, "missing closing brackets were added"),
    ];
    let said: Vec<&str> = said.into_iter().filter(|(done, _)| *done).map(|(_, what)| what).collect();
    (!said.is_empty()).then_some((mender.out, said))
}

/// Returns the content of a Markdown code fence.
fn unfenced(text: &str) -> Option<&str> {
    let inner = text.trim_ascii().strip_prefix("```")?.strip_suffix("```")?;
    let (language, inner) = inner.split_once('\n')?;
    language.trim_ascii().bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(inner)
}

struct Mender<'a> {
    rest: &'a str,
    out: String,
    /// The closing brackets of the open ones.
    open: Vec<char>,
    changes: Changes,
}

impl Mender<'_> {
    fn run(&mut self) -> Option<()> {
        let mut last = Last::Open;
        while let Some(first) = self.rest.chars().next() {
            if first.is_ascii_whitespace() {
                self.take(1);
                continue;
            }
            // Nothing may follow the document.
            if self.open.is_empty() && last != Last::Open {
                return None;
            }
            last = self.token(first, last)?;
        }
        match (self.open.is_empty(), last) {
            (true, _) => {}
            (false, Last::Whole) => {
                self.changes.closed = true;
                self.out.extend(self.open.drain(..).rev());
            }
            (false, Last::Open | Last::Comma(_) | Last::Colon | Last::Number) => return None,
        }
        Some(())
    }

    fn token(&mut self, first: char, last: Last) -> Option<Last> {
        match first {
            '{' | '[' => {
                self.open.push(if first == '{' { '}' } else { ']' });
                self.take(1);
                (self.open.len() <= OPEN_MAX).then_some(Last::Open)
            }
            '}' | ']' => {
                if let Last::Comma(at) = last {
                    self.out.remove(at);
                    self.changes.commas = true;
                }
                let closes = self.open.pop() == Some(first);
                self.take(1);
                closes.then_some(Last::Whole)
            }
            ',' => {
                let at = self.out.len();
                self.take(1);
                matches!(last, Last::Whole | Last::Number).then_some(Last::Comma(at))
            }
            // The strict parser refuses a colon in the wrong place.
            ':' => {
                self.take(1);
                Some(Last::Colon)
            }
            '"' | '\'' => self.string(first).map(|()| Last::Whole),
            '-' | '0'..='9' => {
                let number = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                self.take(self.rest.bytes().take_while(number).count());
                Some(Last::Number)
            }
            'a'..='z' | 'A'..='Z' => self.word().map(|()| Last::Whole),
            _ => None,
        }
    }

    /// Copies this many bytes, which end at a character boundary.
    fn take(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at(bytes);
        self.out.push_str(taken);
        self.rest = rest;
    }

    fn word(&mut self) -> Option<()> {
        let length = self.rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (word, rest) = self.rest.split_at(length);
        let meant = match word {
            "true" | "false" | "null" => word,
            "True" => "true",
            "False" => "false",
            "None" => "null",
            _ => return None,
        };
        self.changes.words |= meant != word;
        self.out.push_str(meant);
        self.rest = rest;
        Some(())
    }

    /// Copies a string, which must be terminated.
    fn string(&mut self, quote: char) -> Option<()> {
        self.changes.quotes |= quote == '\'';
        self.out.push('"');
        let mut characters = self.rest.char_indices();
        characters.next();
        while let Some((at, character)) = characters.next() {
            match character {
                _ if character == quote => {
                    self.out.push('"');
                    self.rest = &self.rest[at + 1..];
                    return Some(());
                }
                '"' => self.out.push_str("\\\""),
                '\\' => match characters.next()?.1 {
                    // JSON has no escape for a single quote.
                    '\'' if quote == '\'' => self.out.push('\''),
                    escaped => self.out.extend(['\\', escaped]),
                },
                control if control < ' ' => {
                    self.changes.controls = true;
                    self.out.push_str(&format!("\\u{:04x}", u32::from(control)));
                }
                other => self.out.push(other),
            }
        }
        None
    }
}
