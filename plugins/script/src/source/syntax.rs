//! Parses scripts, and says what is wrong with them.

use boa_engine::ast::function::FunctionBody;
use boa_engine::ast::scope::Scope;
use boa_engine::ast::{Expression, Script, Statement, StatementListItem};
use boa_engine::interner::Interner;
use boa_engine::parser::lexer::error::Error as LexError;
use boa_engine::parser::{Error as ParseError, Parser, Source};

use super::position::CodePosition;

/// What is wrong with the syntax of a script.
#[derive(Debug)]
pub(crate) struct SyntaxFault {
    pub(crate) message: String,
    pub(crate) position: Option<CodePosition>,
}

/// Parses a script as the body of an async function, in which `await` and `return` are allowed.
pub(super) fn function_body(code: &str, interner: &mut Interner) -> Result<FunctionBody, SyntaxFault> {
    let body = Parser::new(Source::from_bytes(code)).parse_function_body(interner, false, true);
    body.map_err(|error| SyntaxFault::new(&error))
}

/// Checks a script that is an async function and its call.
pub(super) fn check_wrapped(script: &str) -> Result<(), SyntaxFault> {
    let mut interner = Interner::default();
    let parsed = Parser::new(Source::from_bytes(script)).parse_script(&Scope::new_global(), &mut interner);
    let parsed = parsed.map_err(|error| SyntaxFault::new(&error))?;
    if is_one_call(&parsed) {
        return Ok(());
    }
    // The body has closed the function, and opened another one.
    let message = "a bracket is closed that was not opened".to_owned();
    Err(SyntaxFault { message, position: None })
}

/// Whether a script is nothing but `(async () => {...})()`.
fn is_one_call(script: &Script) -> bool {
    let [StatementListItem::Statement(statement)] = script.statements().statements() else { return false };
    let Statement::Expression(Expression::Call(call)) = &**statement else { return false };
    let Expression::Parenthesized(function) = call.function() else { return false };
    call.args().is_empty() && matches!(function.expression(), Expression::AsyncArrowFunction(_))
}

impl SyntaxFault {
    fn new(error: &ParseError) -> Self {
        let position = match error {
            ParseError::Expected { span, .. } | ParseError::Unexpected { span, .. } => Some(span.start()),
            ParseError::General { position, .. } => Some(*position),
            ParseError::Lex { err: LexError::Syntax(_, position) } => Some(*position),
            ParseError::Lex { err: LexError::IO(_) } | ParseError::AbruptEnd | ParseError::ScopeAnalysis { .. } => None,
        };
        let mut message = match error {
            ParseError::AbruptEnd => "the script ends too early: a bracket or a string is not closed".to_owned(),
            other => other.to_string(),
        };
        if let Some(position) = position {
            // The report gives the position itself.
            let suffix = format!(" at line {}, col {}", position.line_number(), position.column_number());
            message = message.trim_end_matches(&suffix).to_owned();
        }
        Self { message, position: position.map(CodePosition::from) }
    }
}
