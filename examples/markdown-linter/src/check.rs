//! Checks the rules: those for the structure of a document, and those for its lines.

use std::ops::Range;

use portcullis_sdk::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::rules::Rule;

/// The byte order mark that some editors write before a text. It is not part of the text.
const BYTE_ORDER_MARK: char = '\u{FEFF}';
/// The beginnings of a bare URL.
const SCHEMES: [&str; 2] = ["https://", "http://"];

/// Something to mend.
#[output]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The number of the line, from 1.
    line: usize,
    /// The rule that was broken.
    rule: Rule,
    /// What is wrong, and what to do.
    message: String,
}

/// Returns the findings of the given rules, in the order of the text.
pub(crate) fn check(text: &str, rules: &[Rule], line_length: usize) -> Vec<Finding> {
    let mut document = Document::new(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    document.read();
    document.check_lines(line_length);
    let mut findings = document.findings;
    findings.retain(|finding| rules.contains(&finding.rule));
    findings.sort();
    findings
}

/// A document that is being read.
struct Document<'a> {
    text: &'a str,
    /// Where each line begins, in bytes.
    starts: Vec<usize>,
    /// For each line, whether it is code or part of a table.
    code: Vec<bool>,
    tables: Vec<bool>,
    /// How many open elements contain text that is not prose.
    opaque: usize,
    level: Option<HeadingLevel>,
    has_title: bool,
    findings: Vec<Finding>,
}

impl<'a> Document<'a> {
    fn new(text: &'a str) -> Self {
        let next_lines = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(next_lines).collect();
        Self {
            text,
            code: vec![false; starts.len()],
            tables: vec![false; starts.len()],
            starts,
            opaque: 0,
            level: None,
            has_title: false,
            findings: Vec::new(),
        }
    }

    /// Returns the index of the line that contains a byte, from 0.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    fn lines(&self, bytes: &Range<usize>) -> Range<usize> {
        self.line(bytes.start)..self.line(bytes.end.saturating_sub(1)) + 1
    }

    fn find(&mut self, rule: Rule, line: usize, message: impl Into<String>) {
        self.findings.push(Finding { line: line + 1, rule, message: message.into() });
    }

    /// Checks the rules for the structure.
    fn read(&mut self) {
        let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
        for (event, range) in Parser::new_ext(self.text, options).into_offset_iter() {
            match event {
                Event::Start(tag) => self.open(&tag, &range),
                Event::End(TagEnd::Link | TagEnd::Image | TagEnd::CodeBlock | TagEnd::MetadataBlock(_)) => {
                    self.opaque -= 1;
                }
                Event::Text(_) if self.opaque == 0 => self.check_urls(range),
                _ => {}
            }
        }
    }

    fn open(&mut self, tag: &Tag<'_>, range: &Range<usize>) {
        let line = self.line(range.start);
        match tag {
            Tag::Heading { level, .. } => self.check_heading(*level, line),
            Tag::CodeBlock(kind) => {
                self.opaque += 1;
                let lines = self.lines(range);
                self.code[lines].fill(true);
                if matches!(kind, CodeBlockKind::Fenced(language) if language.trim().is_empty()) {
                    self.find(Rule::CodeLanguage, line, "name the language after the fence; `text` is one too");
                }
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.opaque += 1;
                if dest_url.is_empty() || &**dest_url == "#" {
                    self.find(Rule::EmptyLink, line, "this link leads nowhere: say where to");
                }
            }
            Tag::MetadataBlock(_) => self.opaque += 1,
            Tag::Table(_) => {
                let lines = self.lines(range);
                self.tables[lines].fill(true);
            }
            _ => {}
        }
    }

    fn check_heading(&mut self, level: HeadingLevel, line: usize) {
        if let Some(before) = self.level
            && level as usize > before as usize + 1
        {
            self.find(Rule::HeadingOrder, line, format!("{level} follows {before}: there is a level between them"));
        }
        self.level = Some(level);
        if level == HeadingLevel::H1 {
            if self.has_title {
                self.find(Rule::SingleTitle, line, "there is a title already: make this a heading below it");
            }
            self.has_title = true;
        }
    }

    fn check_urls(&mut self, range: Range<usize>) {
        let (text, start) = (&self.text[range.clone()], range.start);
        for (at, _) in text.match_indices("://") {
            let is_url = SCHEMES.iter().any(|scheme| text[..at + "://".len()].ends_with(scheme));
            if is_url {
                let line = self.line(start + at);
                self.find(Rule::BareUrl, line, "put the URL in <angle brackets>, or make it a link");
            }
        }
    }

    /// Checks the rules for lines.
    fn check_lines(&mut self, line_length: usize) {
        let text = self.text;
        for (line, content) in text.lines().enumerate() {
            if self.code[line] {
                continue;
            }
            if ends_in_spaces(content) {
                self.find(Rule::TrailingSpaces, line, "take the spaces at the end of the line away");
            }
            if is_too_long(content, line_length) && !self.tables[line] {
                let message = format!("{} characters; at most {line_length}", content.chars().count());
                self.find(Rule::LineLength, line, message);
            }
        }
    }
}

/// Returns whether a line ends in white space that is not a hard line break.
fn ends_in_spaces(line: &str) -> bool {
    let content = line.trim_end();
    let is_break = !content.is_empty() && &line[content.len()..] == "  ";
    content.len() < line.len() && !is_break
}

/// Returns whether a line is longer than the maximum and can be broken.
fn is_too_long(line: &str, length: usize) -> bool {
    let line = line.trim_end();
    match line.char_indices().nth(length) {
        // A single word, such as a URL, cannot be broken.
        Some(_) => content(line).contains(char::is_whitespace),
        None => false,
    }
}

/// Returns a line without its markers of a list item, quotation or heading.
fn content(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some((word, after)) = rest.split_once(char::is_whitespace)
        && is_marker(word)
    {
        rest = after.trim_start();
    }
    rest
}

fn is_marker(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_repeated = !word.is_empty() && (word.trim_matches('>').is_empty() || word.trim_matches('#').is_empty());
    is_number || is_repeated || matches!(word, "-" | "*" | "+")
}
