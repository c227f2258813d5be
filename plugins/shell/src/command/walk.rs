//! Walks through the grammar of a command, and collects what it runs.

use brush_parser::ast::{
    AndOr, ArithmeticForClauseCommand, Assignment, AssignmentName, AssignmentValue, CaseClauseCommand, Command,
    CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, ExtendedTestExpr, IfClauseCommand, IoFileRedirectKind,
    IoFileRedirectTarget, IoHereDocument, IoRedirect, Pipeline, RedirectList, SimpleCommand, SubshellCommand,
    UnexpandedArithmeticExpr, Word,
};
use brush_parser::{ParserOptions, SourceSpan, parse_tokens, uncached_tokenize_str};

use super::argument::{Argument, WordCount};
use super::explanation::{Explanation, short};
use super::word::{self, WordMode, WordReading};
use super::{extent, limit, variable};

/// Maximum depth of commands within commands. A deeper one is for no reader.
const NESTING_MAX: usize = 8;

/// Maximum depth of programs that run programs, as in `env nice git`. Each needs some of the stack.
const LAUNCHES_MAX: usize = 16;

/// Maximum number of bytes to read in all. The texts of nested commands count again.
const BYTES_MAX: usize = 1024 * 1024;

/// The builtins whose assignments bash does not split into words. It compares the word before it removes quotes.
const DECLARING_WORDS: [&str; 5] = ["export", "readonly", "declare", "typeset", "local"];

/// Collects the explanation of a command.
#[derive(Default)]
pub(super) struct Walker {
    explanation: Explanation,
    /// The text that is being read, for the spans of its words.
    source: Vec<char>,
    nesting: usize,
    launches: usize,
    bytes: usize,
}

impl Walker {
    /// Reads the text of a command.
    pub(super) fn text(&mut self, text: &str) {
        self.bytes += text.len();
        if self.nesting >= NESTING_MAX || self.bytes > BYTES_MAX {
            return self.doubt("it is nested too deeply");
        }
        // Patterns such as `@(a|b)` are off in `bash -c`, except in tests.
        let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
        // The checks come before the parser, because it trusts its input more than a reviewer may.
        if let Some(problem) = limit::text_problem(text) {
            return self.doubt(problem);
        }
        if !extent::is_complete(text) {
            return self.doubt("where a quote or a substitution ends");
        }
        let tokens = match uncached_tokenize_str(text, &options.tokenizer_options()) {
            Ok(tokens) => tokens,
            Err(error) => return self.doubt(format!("its text is not valid: {error}")),
        };
        if let Some(problem) = limit::token_problem(&tokens) {
            return self.doubt(problem);
        }
        match parse_tokens(&tokens, &options) {
            Ok(program) => {
                // Spans count characters and not bytes. The text around this one is read further afterwards.
                let outer = std::mem::replace(&mut self.source, text.chars().collect());
                self.nesting += 1;
                program.complete_commands.iter().for_each(|list| self.list(list));
                self.nesting -= 1;
                self.source = outer;
            }
            Err(error) => self.doubt(format!("its text is not valid: {error}")),
        }
    }

    /// Returns the explanation.
    pub(super) fn finish(mut self) -> Explanation {
        // Either can come first in the text, so combine them when all of it was read.
        if self.explanation.evaluates && self.explanation.has_literal_substitution {
            self.doubt("an evaluation can run a substitution within quotes");
        }
        if self.explanation.expands_to_setting && self.explanation.has_risky_name {
            self.doubt("an expansion can set a variable that changes what programs run");
        }
        self.explanation
    }

    pub(super) fn doubt(&mut self, doubt: impl Into<String>) {
        add(&mut self.explanation.doubts, doubt.into());
    }

    /// Goes on with the words of a program, if they are not too deep within those of others.
    pub(super) fn descend(&mut self, next: impl FnOnce(&mut Self)) {
        if self.launches >= LAUNCHES_MAX {
            return self.doubt("it is nested too deeply");
        }
        self.launches += 1;
        next(self);
        self.launches -= 1;
    }

    pub(super) fn program(&mut self, name: &str) {
        add(&mut self.explanation.programs, name.to_owned());
    }

    pub(super) fn evaluates(&mut self) {
        self.explanation.evaluates = true;
    }

    /// Notes that an expansion can make a builtin set a variable.
    pub(super) fn expands_to_setting(&mut self) {
        self.explanation.expands_to_setting = true;
    }

    /// Notes that the command sets a variable.
    pub(super) fn assign(&mut self, name: &str) {
        if variable::is_risky(name) {
            self.doubt(format!("it sets {name}, which changes what programs run"));
        }
    }

    /// Notes that the command removes a variable. Without `PATH`, bash runs programs of the current directory.
    pub(super) fn unset(&mut self, name: &str) {
        if variable::is_risky(name) {
            self.doubt(format!("it removes {name}, which changes what programs run"));
        }
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.pipeline(&item.0.first);
            for more in &item.0.additional {
                match more {
                    AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
                }
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.seq.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(command) => self.simple(command),
            Command::Compound(command, redirections) => {
                self.compound(command);
                self.redirections(redirections.as_ref());
            }
            Command::Function(function) => {
                if let Some(name) = self.word(&function.fname) {
                    add(&mut self.explanation.functions, name);
                }
                self.compound(&function.body.0);
                self.redirections(function.body.1.as_ref());
            }
            Command::ExtendedTest(test, redirections) => {
                self.evaluates();
                self.test(&test.expr);
                self.redirections(redirections.as_ref());
            }
        }
    }

    fn compound(&mut self, command: &CompoundCommand) {
        match command {
            CompoundCommand::Arithmetic(arithmetic) => {
                // Bash reads `( (…) )` as groups of commands, and the parser as arithmetic.
                let text = self.slice(&arithmetic.loc);
                match text.strip_prefix("((").and_then(|text| text.strip_suffix("))")) {
                    Some(inner) => self.arithmetic(inner),
                    None => self.doubt("whether parentheses are arithmetic"),
                }
            }
            CompoundCommand::ArithmeticForClause(clause) => self.arithmetic_loop(clause),
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.subshell(subshell),
            CompoundCommand::ForClause(clause) => {
                self.assign(&clause.variable_name);
                self.words(clause.values.iter().flatten());
                self.list(&clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => self.case(clause),
            CompoundCommand::IfClause(clause) => self.condition(clause),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(process) => {
                self.doubt("what `coproc` runs");
                self.command(&process.body);
            }
        }
    }

    fn subshell(&mut self, subshell: &SubshellCommand) {
        // Bash first tries to read `((` as arithmetic, and its lines in another way.
        if self.slice(&subshell.loc).starts_with("((") {
            self.doubt("whether parentheses are arithmetic");
        }
        self.list(&subshell.list);
    }

    fn arithmetic_loop(&mut self, clause: &ArithmeticForClauseCommand) {
        for expression in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
            let UnexpandedArithmeticExpr { value } = expression;
            self.arithmetic(value);
        }
        self.list(&clause.body.list);
    }

    fn case(&mut self, clause: &CaseClauseCommand) {
        self.word(&clause.value);
        for case in &clause.cases {
            self.words(case.patterns.iter());
            case.cmd.iter().for_each(|list| self.list(list));
        }
    }

    fn condition(&mut self, clause: &IfClauseCommand) {
        self.list(&clause.condition);
        self.list(&clause.then);
        for other in clause.elses.iter().flatten() {
            other.condition.iter().for_each(|list| self.list(list));
            self.list(&other.body);
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => self.part(word),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.part(left);
                self.part(right);
            }
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    self.assignment(assignment, word);
                }
                other => self.item(other),
            }
        }
        let Some(name) = &command.word_or_name else { return };
        let mut arguments = vec![self.argument(name)];
        let is_declaration = DECLARING_WORDS.contains(&arguments[0].raw.as_str());
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::Word(word) => arguments.push(self.argument(word)),
                // Only a builtin assigns it: to any other program it is a word.
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    let argument = self.assignment(assignment, word);
                    arguments.push(if is_declaration { argument.unsplit() } else { argument });
                }
                other @ CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                    self.item(other);
                    arguments.push(Argument::process_substitution());
                }
                other @ CommandPrefixOrSuffixItem::IoRedirect(_) => self.item(other),
            }
        }
        self.launch(&arguments);
    }

    fn item(&mut self, item: &CommandPrefixOrSuffixItem) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirection) => self.redirection(redirection),
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => self.list(&subshell.list),
            CommandPrefixOrSuffixItem::Word(word) => self.words([word].into_iter()),
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                self.assignment(assignment, word);
            }
        }
    }

    /// Reads an assignment. `word` is the whole of it.
    fn assignment(&mut self, assignment: &Assignment, word: &Word) -> Argument {
        let (AssignmentName::VariableName(name) | AssignmentName::ArrayElementName(name, _)) = &assignment.name;
        self.assign(name);
        if let AssignmentName::ArrayElementName(_, index) = &assignment.name {
            self.evaluates();
            variable::arithmetic_targets(index).iter().for_each(|target| self.assign(target));
        }
        // Bash takes what follows the parenthesis of an array for a part of the word.
        let next = word.loc.as_ref().and_then(|span| self.source.get(span.end.index));
        let is_word_end = |next: &char| next.is_whitespace() || matches!(next, ';' | '&' | '|' | '<' | '>' | '(' | ')');
        let is_array = matches!(assignment.value, AssignmentValue::Array(_));
        if is_array && !next.is_none_or(is_word_end) {
            self.doubt("where an array ends");
        }
        let argument = self.reading_argument(word, WordMode::Part);
        // The elements of an array stay apart. An index can be a pattern, but not the name before it.
        let count = if is_array { WordCount::One } else { argument.count };
        Argument {
            start: if argument.text.is_none() { format!("{name}=") } else { argument.start },
            count,
            is_array,
            ..argument
        }
    }

    fn redirections(&mut self, list: Option<&RedirectList>) {
        list.iter().flat_map(|list| &list.0).for_each(|redirection| self.redirection(redirection));
    }

    fn redirection(&mut self, redirection: &IoRedirect) {
        match redirection {
            IoRedirect::File(_, kind, IoFileRedirectTarget::Filename(word)) => self.file(kind, word),
            IoRedirect::File(_, kind, IoFileRedirectTarget::Duplicate(word)) => {
                let is_descriptor = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                if !is_descriptor(&word.value) {
                    self.file(kind, word);
                    // Bash expands the result once more.
                    if self.word(word).is_none_or(|name| name.contains(['$', '`'])) {
                        self.doubt("it redirects to the value of an expansion");
                    }
                }
            }
            IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => self.list(&subshell.list),
            IoRedirect::File(_, _, IoFileRedirectTarget::Fd(_)) => {}
            IoRedirect::OutputAndError(word, _) => self.file(&IoFileRedirectKind::Write, word),
            IoRedirect::HereString(_, word) => {
                self.word(word);
            }
            IoRedirect::HereDocument(_, document) => self.here_document(document),
        }
    }

    fn file(&mut self, kind: &IoFileRedirectKind, word: &Word) {
        let Argument { raw, text, .. } = self.argument(word);
        let name = text.unwrap_or(raw);
        let (reads, writes) = match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => (true, false),
            IoFileRedirectKind::ReadAndWrite => (true, true),
            IoFileRedirectKind::Write
            | IoFileRedirectKind::Append
            | IoFileRedirectKind::Clobber
            | IoFileRedirectKind::DuplicateOutput => (false, true),
        };
        if name == "/dev/null" {
            return;
        }
        if reads {
            add(&mut self.explanation.reads, name.clone());
        }
        if writes {
            add(&mut self.explanation.writes, name);
        }
    }

    fn here_document(&mut self, document: &IoHereDocument) {
        if !document.requires_expansion {
            return;
        }
        // The shell joins a line that ends with a backslash and the next, which may be the delimiter.
        if document.doc.value.ends_with("\\\n") {
            self.doubt("where a here-document ends");
        }
        self.reading(&document.doc.value, WordMode::HereDocument);
    }

    fn words<'a>(&mut self, words: impl Iterator<Item = &'a Word>) {
        for word in words {
            self.word(word);
        }
    }

    /// Reads a word, and returns its text if the shell expands nothing in it.
    fn word(&mut self, word: &Word) -> Option<String> {
        self.argument(word).text
    }

    fn argument(&mut self, word: &Word) -> Argument {
        let argument = self.reading_argument(word, WordMode::Word);
        // `{NAME}>file` stores the descriptor of the file in a variable.
        if let Some(name) = argument.raw.strip_prefix('{').and_then(|raw| raw.strip_suffix('}')) {
            self.assign(name.split('[').next().unwrap_or_default());
        }
        argument
    }

    fn reading_argument(&mut self, word: &Word, mode: WordMode) -> Argument {
        let raw = self.raw(word);
        let reading = raw.as_ref().and_then(|raw| self.reading(raw, mode));
        let raw = raw.unwrap_or_else(|| word.value.clone());
        match reading {
            Some(WordReading { text, start, count, .. }) => Argument { raw, text, start, count, is_array: false },
            None => Argument::unknown(&raw),
        }
    }

    /// Reads a word of a test, in which a regular expression may have parentheses.
    fn part(&mut self, word: &Word) {
        self.reading(&word.value, WordMode::Part);
    }

    pub(super) fn arithmetic(&mut self, expression: &str) {
        self.evaluates();
        self.reading(expression, WordMode::Arithmetic);
    }

    /// Reads a text, and the commands within it.
    fn reading(&mut self, text: &str, mode: WordMode) -> Option<WordReading> {
        let reading = match word::read(text, mode) {
            Ok(reading) => reading,
            Err(doubt) => {
                self.doubt(doubt);
                return None;
            }
        };
        reading.commands.iter().for_each(|command| self.text(command));
        reading.assigned.iter().for_each(|name| self.assign(name));
        self.explanation.evaluates |= reading.evaluates;
        let literal = &reading.literal;
        self.explanation.has_literal_substitution |= variable::has_literal_substitution(literal);
        self.explanation.has_risky_name |= variable::has_risky_name(literal);
        if reading.expands_prompt {
            self.doubt("it expands a variable as a prompt");
        }
        Some(reading)
    }

    /// Returns a word as the text has it. The parser leaves out comments and joins lines within a substitution.
    fn raw(&mut self, word: &Word) -> Option<String> {
        let Some(span) = &word.loc else { return Some(word.value.clone()) };
        let slice = self.slice(span);
        if slice == word.value || slice.replace("\\\n", "") == word.value {
            return Some(word.value.clone());
        }
        if slice.contains("$(") {
            return Some(slice);
        }
        self.doubt(format!("where `{}` ends", short(&word.value)));
        None
    }

    /// Returns the text of a span, without the blanks and the joined lines before it.
    fn slice(&self, span: &SourceSpan) -> String {
        let text = self.source.get(span.start.index..span.end.index).unwrap_or_default();
        let text: String = text.iter().collect();
        text.trim_start_matches([' ', '\t', '\n']).trim_start_matches("\\\n").trim_start_matches([' ', '\t']).to_owned()
    }
}

fn add(names: &mut Vec<String>, name: String) {
    if !names.contains(&name) {
        names.push(name);
    }
}
