//! Reads one word: its literal text, and the commands in its substitutions.

use super::argument::WordCount;
use super::explanation::short;
use super::extent;
use super::variable::{arithmetic_targets, is_name_character};

/// Where a text stands. It decides what a quote or a space in it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordMode {
    /// A word of a command.
    Word,
    /// A part of a larger construct, which may have spaces and operators.
    Part,
    /// A here-document with expansions: quotes are literal.
    HereDocument,
    /// An arithmetic expression.
    Arithmetic,
}

/// What a word says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WordReading {
    /// Its text, if the shell expands nothing in it.
    pub(super) text: Option<String>,
    /// Its text up to the first expansion.
    pub(super) start: String,
    pub(super) count: WordCount,
    /// All that is literal in it.
    pub(super) literal: String,
    /// The commands of its substitutions.
    pub(super) commands: Vec<String>,
    /// The variables that it may set, as in `${NAME:=value}` and `$((NAME = 1))`.
    pub(super) assigned: Vec<String>,
    /// Whether it evaluates arithmetic.
    pub(super) evaluates: bool,
    /// Whether it has a parameter whose value the shell expands as a prompt, which can run commands.
    pub(super) expands_prompt: bool,
}

/// Reads a text. The error says why it is not clear.
pub(super) fn read(text: &str, mode: WordMode) -> Result<WordReading, String> {
    let reading = WordReading { text: Some(String::new()), ..WordReading::default() };
    let mut reader = WordReader { text, index: 0, mode, reading };
    reader.read()?;
    let WordReader { mut reading, .. } = reader;
    if let Some(text) = &reading.text {
        reading.start.clone_from(text);
    }
    if mode == WordMode::Arithmetic {
        reading.assigned.extend(arithmetic_targets(&reading.literal));
    }
    Ok(reading)
}

struct WordReader<'a> {
    text: &'a str,
    index: usize,
    mode: WordMode,
    reading: WordReading,
}

impl<'a> WordReader<'a> {
    fn read(&mut self) -> Result<(), String> {
        let is_document = self.mode == WordMode::HereDocument;
        while let Some(character) = self.peek() {
            match character {
                '\\' => self.escape(is_document)?,
                '\'' if self.mode == WordMode::Arithmetic => return Err("a quote in arithmetic".to_owned()),
                '\'' if !is_document => self.single()?,
                '"' if !is_document => self.double()?,
                '`' => self.backquoted(is_document)?,
                '$' => self.expansion(is_document)?,
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' if self.mode == WordMode::Word => {
                    return Err(format!("where {} ends", quoted(self.text)));
                }
                character => {
                    match character {
                        // A tilde becomes one directory.
                        '~' if self.index == 0 => self.expands(WordCount::One),
                        _ if !is_document && self.is_pattern(character) => self.expands(WordCount::Similar),
                        _ => {}
                    }
                    self.literal(character);
                    self.index += character.len_utf8();
                }
            }
        }
        Ok(())
    }

    fn rest(&self) -> &'a str {
        &self.text[self.index..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn literal(&mut self, character: char) {
        self.reading.literal.push(character);
        if let Some(text) = &mut self.reading.text {
            text.push(character);
        }
    }

    /// Notes that the shell expands something here.
    fn expands(&mut self, count: WordCount) {
        if let Some(text) = self.reading.text.take() {
            self.reading.start = text;
        }
        self.reading.count = self.reading.count.max(count);
    }

    /// Notes an expansion whose result is not a list, which the shell splits into words only outside of quotes.
    fn expands_value(&mut self, is_quoted: bool) {
        self.expands(if is_quoted { WordCount::One } else { WordCount::Any });
    }

    /// Returns whether an unquoted character makes the shell expand the word.
    fn is_pattern(&self, character: char) -> bool {
        match character {
            '*' | '?' => true,
            // `[` alone is a command.
            '[' => self.text.len() > 1,
            '{' => self.rest().contains('}') && (self.rest().contains(',') || self.rest().contains("..")),
            _ => false,
        }
    }

    fn escape(&mut self, is_quoted: bool) -> Result<(), String> {
        self.index += 1;
        let next = self.peek().ok_or_else(|| "it ends with a backslash".to_owned())?;
        let is_escape = !is_quoted || matches!(next, '$' | '`' | '\\' | '"' | '\n');
        if !is_escape {
            self.literal('\\');
            return Ok(());
        }
        self.index += next.len_utf8();
        if next != '\n' {
            self.literal(next);
        }
        Ok(())
    }

    fn single(&mut self) -> Result<(), String> {
        let inner = &self.text[self.index + 1..];
        let length = inner.find('\'').ok_or_else(|| format!("where {} ends", quoted(self.text)))?;
        inner[..length].chars().for_each(|character| self.literal(character));
        self.index += length + 2;
        Ok(())
    }

    fn double(&mut self) -> Result<(), String> {
        self.index += 1;
        loop {
            match self.peek() {
                None => return Err(format!("where {} ends", quoted(self.text))),
                Some('"') => break,
                Some('\\') => self.escape(true)?,
                Some('`') => self.backquoted(true)?,
                Some('$') => self.expansion(true)?,
                Some(character) => {
                    self.literal(character);
                    self.index += character.len_utf8();
                }
            }
        }
        self.index += 1;
        Ok(())
    }

    fn backquoted(&mut self, is_quoted: bool) -> Result<(), String> {
        let inner = &self.text[self.index + 1..];
        let length = inner.find('`').ok_or_else(|| "where a backquote ends".to_owned())?;
        if inner[..length].contains('\\') {
            return Err("an escape within backquotes".to_owned());
        }
        self.expands_value(is_quoted);
        self.reading.commands.push(inner[..length].to_owned());
        self.index += length + 2;
        Ok(())
    }

    fn expansion(&mut self, is_quoted: bool) -> Result<(), String> {
        let rest = self.rest();
        let next = rest[1..].chars().next();
        match next {
            Some('(') if rest.starts_with("$((") => self.arithmetic(is_quoted),
            Some('(') => self.substitution(is_quoted),
            Some('{') => self.parameter(is_quoted),
            Some('[') => Err("the old form of arithmetic, `$[…]`".to_owned()),
            Some('\'') if !is_quoted => self.ansi(),
            // A text to translate.
            Some('"') if !is_quoted => {
                self.index += 1;
                Ok(())
            }
            Some(first) if first == '_' || first.is_ascii_alphabetic() => {
                let length = rest[1..].find(|character| !is_name_character(character)).unwrap_or(rest.len() - 1);
                self.expands_value(is_quoted);
                self.index += length + 1;
                Ok(())
            }
            Some(parameter @ ('@' | '*' | '#' | '?' | '$' | '!' | '-' | '0'..='9')) => {
                // `"$@"` is a list.
                self.expands_value(is_quoted && parameter != '@');
                self.index += 2;
                Ok(())
            }
            _ => {
                self.literal('$');
                self.index += 1;
                Ok(())
            }
        }
    }

    fn substitution(&mut self, is_quoted: bool) -> Result<(), String> {
        let start = self.index + 2;
        let unclear = || format!("where the substitution in {} ends", quoted(self.text));
        let end = extent::command_end(self.text, start).ok_or_else(unclear)?;
        self.expands_value(is_quoted);
        self.reading.commands.push(self.text[start..end - 1].to_owned());
        self.index = end;
        Ok(())
    }

    fn arithmetic(&mut self, is_quoted: bool) -> Result<(), String> {
        let start = self.index + 3;
        let unclear = || format!("whether {} is arithmetic", quoted(self.rest()));
        let end = extent::arithmetic_end(self.text, start).ok_or_else(unclear)?;
        self.expands_value(is_quoted);
        self.nested(&self.text[start..end - 2], WordMode::Arithmetic)?;
        self.reading.evaluates = true;
        self.index = end;
        Ok(())
    }

    fn parameter(&mut self, is_quoted: bool) -> Result<(), String> {
        let start = self.index + 2;
        let unclear = || format!("where the parameter in {} ends", quoted(self.text));
        let end = extent::parameter_end(self.text, start, is_quoted).ok_or_else(unclear)?;
        let inner = &self.text[start..end - 1];
        let name_length = inner.find(|character| !is_name_character(character)).unwrap_or(inner.len());
        let (name, operation) = inner.split_at(name_length);
        let is_element = operation.starts_with('[');
        let is_indirect = inner.starts_with('!');
        if is_indirect && inner.contains('=') {
            return Err(format!("which variable {} sets", quoted(self.text)));
        }
        if operation.starts_with(":=") || operation.starts_with('=') || is_element && operation.contains('=') {
            self.reading.assigned.push(name.to_owned());
        }
        // An index and an offset, as in `${a[i]}`, `${#a[i]}` and `${a:i}`, are arithmetic. The value of an indirect
        // parameter can have an index.
        self.reading.evaluates |= is_indirect || operation.contains('[') || operation.starts_with(':');
        let is_substring = operation.starts_with(':') && !operation[1..].starts_with(['=', '-', '+', '?']);
        if is_element || is_substring {
            self.reading.assigned.extend(arithmetic_targets(operation));
        }
        // `"${a[@]}"` and `"${!x}"` can be lists.
        self.expands_value(is_quoted && !is_indirect && !inner.contains('@'));
        self.reading.expands_prompt |= inner.ends_with("@P");
        // Within double quotes, a single quote is literal as in a here-document.
        self.nested(inner, if is_quoted { WordMode::HereDocument } else { WordMode::Part })?;
        self.index = end;
        Ok(())
    }

    /// Reads a part of an expansion.
    fn nested(&mut self, inner: &str, mode: WordMode) -> Result<(), String> {
        let WordReading { text: _, start: _, count, literal, commands, assigned, evaluates, expands_prompt } =
            read(inner, mode)?;
        self.expands(count);
        self.reading.literal.push_str(&literal);
        self.reading.commands.extend(commands);
        self.reading.assigned.extend(assigned);
        self.reading.evaluates |= evaluates;
        self.reading.expands_prompt |= expands_prompt;
        Ok(())
    }

    /// Skips `$'…'`. Its escapes can write any character, so that its text is not known.
    fn ansi(&mut self) -> Result<(), String> {
        self.index += 2;
        self.expands(WordCount::One);
        let mut is_escaped = false;
        for (offset, character) in self.rest().char_indices() {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '\'' => {
                    self.index += offset + 1;
                    return Ok(());
                }
                // What an escape writes could be a substitution within an index.
                _ => self.reading.literal.push(character),
            }
        }
        Err(format!("where {} ends", quoted(self.text)))
    }
}

/// Returns a text for a message.
fn quoted(text: &str) -> String {
    format!("`{}`", short(text))
}
