//! Where something is in a script.
//!
//! The engine records positions of calls, `throw`, assignments and property reads. For a variable, the method of a
//! call and a loop it records only the function around them: its stack then has the beginning of the function's body.
//! What the error is about tells where in the function to look.

use std::convert::Infallible;
use std::ops::ControlFlow;

use boa_engine::ast::expression::access::PropertyAccessField;
use boa_engine::ast::expression::{Call, Identifier};
use boa_engine::ast::function::FunctionBody;
use boa_engine::ast::statement::{DoWhileLoop, ForLoop, WhileLoop};
use boa_engine::ast::visitor::{VisitWith, Visitor};
use boa_engine::ast::{Expression, Spanned};
use boa_engine::interner::Interner;

use super::last::beginning;
use super::position::CodePosition;
use super::syntax::function_body;

/// What an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought<'a> {
    /// The first use of a variable or a property.
    Name(&'a str),
    /// A call of a method, such as `a.b()`.
    MethodCall,
    /// A loop that has no end of its own.
    Loop,
}

/// Finds the places that an error may come from. `recorded` is the position that the engine has for it.
pub(crate) fn find(code: &str, sought: Sought<'_>, recorded: Option<CodePosition>) -> Vec<CodePosition> {
    let mut interner = Interner::default();
    let Ok(body) = function_body(code, &mut interner) else { return recorded.into_iter().collect() };
    let mut survey =
        Survey { sought, interner: &interner, functions: vec![None], bodies: Vec::new(), found: Vec::new() };
    let ControlFlow::Continue(()) = body.visit_with(&mut survey);
    let Survey { bodies, mut found, .. } = survey;
    if recorded.is_some_and(|recorded| !bodies.contains(&recorded)) {
        return recorded.into_iter().collect();
    }
    match sought {
        Sought::Name(_) => {
            let first = found.iter().map(|place| place.position).find(|position| Some(*position) >= recorded);
            first.or(recorded).into_iter().collect()
        }
        Sought::MethodCall | Sought::Loop => {
            found.retain(|place| place.function == recorded);
            let places: Vec<CodePosition> = found.into_iter().map(|place| place.position).collect();
            if places.is_empty() { recorded.into_iter().collect() } else { places }
        }
    }
}

struct Place {
    position: CodePosition,
    /// The beginning of the body of the function around it. `None` if that is the script itself.
    function: Option<CodePosition>,
}

struct Survey<'a> {
    sought: Sought<'a>,
    interner: &'a Interner,
    /// The functions around the current node.
    functions: Vec<Option<CodePosition>>,
    bodies: Vec<CodePosition>,
    found: Vec<Place>,
}

impl Survey<'_> {
    fn add(&mut self, position: CodePosition) {
        let function = self.functions.last().copied().flatten();
        self.found.push(Place { position, function });
    }

    fn add_loop(&mut self, node: &impl VisitWith) {
        let position = beginning(node, CodePosition { line: u32::MAX, column: u32::MAX });
        // A loop like `for (;;) {}` has no expression, and so no position.
        if self.sought == Sought::Loop && position.line < u32::MAX {
            self.add(position);
        }
    }
}

impl<'ast> Visitor<'ast> for Survey<'_> {
    type BreakTy = Infallible;

    fn visit_function_body(&mut self, body: &'ast FunctionBody) -> ControlFlow<Infallible> {
        let begins = CodePosition::from(body.span().start());
        self.bodies.push(begins);
        self.functions.push(Some(begins));
        let ControlFlow::Continue(()) = body.visit_with(self);
        self.functions.pop();
        ControlFlow::Continue(())
    }

    fn visit_identifier(&mut self, identifier: &'ast Identifier) -> ControlFlow<Infallible> {
        if let Sought::Name(name) = self.sought
            && self.interner.get(name) == Some(identifier.sym())
        {
            self.add(identifier.span().start().into());
        }
        ControlFlow::Continue(())
    }

    /// The name of a property is no identifier to the engine's visitor.
    fn visit_property_access_field(&mut self, field: &'ast PropertyAccessField) -> ControlFlow<Infallible> {
        match field {
            PropertyAccessField::Const(name) => self.visit_identifier(name),
            PropertyAccessField::Expr(expression) => self.visit_expression(expression),
        }
    }

    fn visit_call(&mut self, call: &'ast Call) -> ControlFlow<Infallible> {
        if self.sought == Sought::MethodCall && matches!(call.function().flatten(), Expression::PropertyAccess(_)) {
            self.add(beginning(call, call.span().start().into()));
        }
        call.visit_with(self)
    }

    fn visit_for_loop(&mut self, node: &'ast ForLoop) -> ControlFlow<Infallible> {
        self.add_loop(node);
        node.visit_with(self)
    }

    fn visit_while_loop(&mut self, node: &'ast WhileLoop) -> ControlFlow<Infallible> {
        self.add_loop(node);
        node.visit_with(self)
    }

    fn visit_do_while_loop(&mut self, node: &'ast DoWhileLoop) -> ControlFlow<Infallible> {
        self.add_loop(node);
        node.visit_with(self)
    }
}
