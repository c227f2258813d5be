//! The expression that is the last statement of a script, and so its value.

use std::convert::Infallible;
use std::ops::ControlFlow;

use boa_engine::ast::declaration::Declaration;
use boa_engine::ast::function::FunctionBody;
use boa_engine::ast::visitor::{VisitWith, Visitor};
use boa_engine::ast::{Expression, Spanned, Statement, StatementListItem};
use boa_engine::interner::{Interner, ToInternedString};

use super::position::CodePosition;
use super::syntax::{SyntaxFault, function_body};

/// The last statement of a script, if it is an expression.
pub(super) struct LastExpression {
    pub(super) begins: CodePosition,
    /// The expression as the engine writes it.
    pub(super) text: String,
}

/// Finds the last expression of a script.
pub(super) fn expression(code: &str) -> Result<Option<LastExpression>, SyntaxFault> {
    let mut interner = Interner::default();
    let body = function_body(code, &mut interner)?;
    let Some(Statement::Expression(expression)) = last_statement(&body) else { return Ok(None) };
    let begins = beginning(expression, expression.span().start().into());
    Ok(Some(LastExpression { begins, text: expression.to_interned_string(&interner) }))
}

/// Whether a script ends with a `return` of this expression.
pub(super) fn returns(code: &str, expression: &str) -> bool {
    let mut interner = Interner::default();
    let Ok(body) = function_body(code, &mut interner) else { return false };
    let Some(Statement::Return(returned)) = last_statement(&body) else { return false };
    returned.target().is_some_and(|target| target.to_interned_string(&interner) == expression)
}

/// Returns the first position of the expressions in a node. The engine's span of a call is that of its arguments, so
/// the span of the node itself may begin later.
pub(super) fn beginning(node: &impl VisitWith, start: CodePosition) -> CodePosition {
    let mut beginning = Beginning(start);
    let ControlFlow::Continue(()) = node.visit_with(&mut beginning);
    beginning.0
}

struct Beginning(CodePosition);

impl<'ast> Visitor<'ast> for Beginning {
    type BreakTy = Infallible;

    fn visit_expression(&mut self, expression: &'ast Expression) -> ControlFlow<Infallible> {
        self.0 = self.0.min(expression.span().start().into());
        expression.visit_with(self)
    }
}

fn last_statement(body: &FunctionBody) -> Option<&Statement> {
    let last = body.statements().iter().rev().find(|item| match item {
        StatementListItem::Statement(statement) => !matches!(**statement, Statement::Empty),
        // A function is declared before anything runs.
        StatementListItem::Declaration(declaration) => !declares_function(declaration),
    });
    match last? {
        StatementListItem::Statement(statement) => Some(statement),
        StatementListItem::Declaration(_) => None,
    }
}

fn declares_function(declaration: &Declaration) -> bool {
    match declaration {
        Declaration::FunctionDeclaration(_)
        | Declaration::GeneratorDeclaration(_)
        | Declaration::AsyncFunctionDeclaration(_)
        | Declaration::AsyncGeneratorDeclaration(_) => true,
        Declaration::ClassDeclaration(_) | Declaration::Lexical(_) => false,
    }
}
