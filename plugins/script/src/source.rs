//! The text of a script: its syntax, its final value, and the positions in it.

mod last;
mod places;
mod position;
mod syntax;

pub(crate) use places::{Sought, find};
pub(crate) use position::CodePosition;
pub(crate) use syntax::SyntaxFault;

/// The name of the script in stack traces of the engine.
pub(crate) const FILE: &str = "script.js";

/// A line of its own, so that the columns of the script stay.
const PROLOGUE: &str = "(async () => {\n";
const EPILOGUE: &str = "\n})()";

/// What makes the last expression the value of the script.
const RETURN: &str = "return ";

/// A script that has the right syntax.
#[derive(Debug)]
pub(crate) struct ScriptSource {
    code: String,
    /// The script as the body of an async function, which the engine runs.
    wrapped: String,
    /// Where `return` was inserted.
    inserted: Option<CodePosition>,
}

impl ScriptSource {
    /// Checks the syntax of a script, and makes its last expression its value.
    pub(crate) fn parse(code: &str) -> Result<Self, SyntaxFault> {
        let with_return = last::expression(code)?.and_then(|last| {
            let mut code_with_return = code.to_owned();
            code_with_return.insert_str(offset(code, last.begins)?, RETURN);
            // Without this check, a wrong position would change what the script does.
            last::returns(&code_with_return, &last.text).then_some((code_with_return, last.begins))
        });
        let (body, inserted) = match with_return {
            Some((body, position)) => (body, Some(position)),
            None => (code.to_owned(), None),
        };
        let source = Self { code: code.to_owned(), wrapped: format!("{PROLOGUE}{body}{EPILOGUE}"), inserted };
        // Some faults are found only in a whole script.
        syntax::check_wrapped(&source.wrapped).map_err(|SyntaxFault { message, position }| SyntaxFault {
            message,
            position: position.and_then(|position| source.position(position.line, position.column)),
        })?;
        Ok(source)
    }

    /// Returns the code of the model.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// Returns what the engine runs. Its value is a promise.
    pub(crate) fn wrapped(&self) -> &str {
        &self.wrapped
    }

    /// Converts a position of the engine into one in the code of the model. Returns `None` for one outside of it.
    pub(crate) fn position(&self, line: u32, column: u32) -> Option<CodePosition> {
        // The prologue is the first line that the engine sees.
        let line = line.checked_sub(1).filter(|line| *line > 0)?;
        let lines = u32::try_from(self.code.split('\n').count()).unwrap_or(u32::MAX);
        if line > lines {
            return None;
        }
        let inserted = self.inserted.filter(|inserted| inserted.line == line && column > inserted.column);
        #[expect(clippy::cast_possible_truncation, reason = "the length of a keyword")]
        let column = if inserted.is_some() { column.saturating_sub(RETURN.len() as u32) } else { column };
        Some(CodePosition { line, column })
    }
}

/// Returns a line of a code, counted from 1.
pub(crate) fn line(code: &str, number: u32) -> Option<&str> {
    code.split('\n').nth(usize::try_from(number).ok()?.checked_sub(1)?)
}

/// Returns the offset of a position in bytes.
fn offset(code: &str, position: CodePosition) -> Option<usize> {
    let text = line(code, position.line)?;
    let before = usize::try_from(position.line).ok()? - 1;
    let start: usize = code.split('\n').take(before).map(|line| line.len() + 1).sum();
    let column = usize::try_from(position.column).ok()?.checked_sub(1)?;
    let end = std::iter::once(text.len());
    text.char_indices().map(|(index, _)| index).chain(end).nth(column).map(|index| start + index)
}
