//! The attributes of `portcullis-sdk`. They generate the code that an author would write by hand. The function itself
//! stays unchanged.

mod derives;
mod hints;
mod tool;

use proc_macro::TokenStream;

/// Turns a function into a tool. The name is the function's, the description its doc comment.
///
/// The function takes its arguments (a type with `#[arguments]`), a `&Context`, both in this order, or nothing. It
/// returns a `Result<_, Failure>` or a plain output.
///
/// `#[tool(read_only, idempotent, requires(read), title = "Read a file")]`:
///
/// - `read_only`, `destructive`, `idempotent`, `open_world`, `sequential`: what the author claims about its behaviour;
/// - `requires(...)`, `optional(...)`: permissions, out of `read`, `write`, `execute` and `network`;
/// - `title = "..."`: a few words for people;
/// - `name = "..."`: a name that is not a Rust identifier.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Prepares a struct or an enum for the arguments of a tool: parsed by serde, described by a JSON Schema.
///
/// The attributes of serde and schemars work on its fields; `#[serde(default)]` makes a field optional.
#[proc_macro_attribute]
pub fn arguments(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    derives::arguments(&item.into()).into()
}

/// Prepares a struct or an enum for the JSON output of a tool: written by serde, described by a JSON Schema.
#[proc_macro_attribute]
pub fn output(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    derives::output(&item.into()).into()
}
