//! `#[tool]`: adds a type with the name of the function that implements `Tool`. Functions and types have separate
//! namespaces, so `greet` names both.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Attribute as RustAttribute, Error, Expr, FnArg, ItemFn, Lit, Meta, Result, ReturnType, Type};

use crate::hints::Attribute;

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let mut parsed = Attribute::default();
    syn::meta::parser(|meta| parsed.parse(&meta)).parse2(attribute)?;
    parsed.check()?;
    check_signature(&function)?;
    let implementation = implement(&parsed, &function)?;
    Ok(quote! {
        #[allow(clippy::needless_pass_by_value, reason = "a tool owns its arguments")]
        #function
        #implementation
    })
}

fn implement(attribute: &Attribute, function: &ItemFn) -> Result<TokenStream> {
    let Attribute { name, title, hints, required, optional } = attribute;
    let (identifier, visibility) = (&function.sig.ident, &function.vis);
    let name = name.as_ref().map_or_else(|| identifier.to_string(), syn::LitStr::value);
    let title = title.as_ref().map_or_else(|| quote! { None }, |title| quote! { Some(#title) });
    let description = description(function)?;
    let local = Locals::default();
    let (schema, parse, call) = parameters(function, &local)?;
    let Locals { arguments, context } = local;
    let output = match &function.sig.output {
        ReturnType::Type(_, output) => output,
        ReturnType::Default => return Err(Error::new(function.sig.span(), "a tool must return an output")),
    };
    let documentation = format!("The tool `{name}`.");
    Ok(quote! {
        #[doc = #documentation]
        #[allow(non_camel_case_types, reason = "the type of a tool has the name of its function")]
        #visibility struct #identifier {}

        impl ::portcullis_sdk::Tool for #identifier {
            const DECLARATION: ::portcullis_sdk::Declaration = ::portcullis_sdk::Declaration {
                name: #name,
                title: #title,
                description: #description,
                required: &[#(::portcullis_sdk::Permission::#required),*],
                optional: &[#(::portcullis_sdk::Permission::#optional),*],
                hints: &[#(::portcullis_sdk::Hint::#hints),*],
            };

            fn schema() -> ::portcullis_sdk::serde_json::Value {
                ::portcullis_sdk::derived::schema::<#schema>()
            }

            fn output_schema() -> Option<::portcullis_sdk::serde_json::Value> {
                ::portcullis_sdk::derived::output_schema::<#output>()
            }

            fn execute(
                #arguments: &str,
                #context: &::portcullis_sdk::Context,
            ) -> Result<::portcullis_sdk::Success, ::portcullis_sdk::Failure> {
                let _ = #context;
                #parse
                ::portcullis_sdk::IntoOutput::into_success(#identifier(#call))
            }
        }
    })
}

fn check_signature(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if let Some(asyncness) = &signature.asyncness {
        return Err(Error::new(asyncness.span(), "a tool must not be async: the sandbox has one thread and one call"));
    }
    if !signature.generics.params.is_empty() {
        return Err(Error::new(signature.generics.span(), "a tool cannot be generic: its schema describes one type"));
    }
    Ok(())
}

/// The variables of the implementation. Their hygiene keeps them from shadowing a tool with the same name.
struct Locals {
    arguments: Ident,
    context: Ident,
}

impl Default for Locals {
    fn default() -> Self {
        Self {
            arguments: Ident::new("arguments", Span::mixed_site()),
            context: Ident::new("context", Span::mixed_site()),
        }
    }
}

/// Returns the type for the schema, the code that parses it, and the arguments for the function.
fn parameters(function: &ItemFn, local: &Locals) -> Result<(TokenStream, TokenStream, TokenStream)> {
    let types = function.sig.inputs.iter().map(|input| match input {
        FnArg::Typed(parameter) => Ok(&*parameter.ty),
        FnArg::Receiver(receiver) => Err(Error::new(receiver.span(), "a tool must be a function, not a method")),
    });
    let types = types.collect::<Result<Vec<&Type>>>()?;
    let Locals { arguments, context } = local;
    let none = quote! { ::portcullis_sdk::NoArguments };
    let parse = |kind: &TokenStream, name: TokenStream| {
        quote! { let #name: #kind = ::portcullis_sdk::derived::parse(#arguments)?; }
    };
    Ok(match types.as_slice() {
        [] => (none.clone(), parse(&none, quote! { _ }), quote! {}),
        [Type::Reference(_)] => (none.clone(), parse(&none, quote! { _ }), quote! { #context }),
        [kind] => (quote! { #kind }, parse(&quote! { #kind }, quote! { #arguments }), quote! { #arguments }),
        [kind, Type::Reference(_)] => {
            (quote! { #kind }, parse(&quote! { #kind }, quote! { #arguments }), quote! { #arguments, #context })
        }
        _ => {
            let message = "a tool takes its arguments, then `&Context`; both are optional";
            return Err(Error::new(function.sig.inputs.span(), message));
        }
    })
}

/// Returns the doc comment, line by line.
fn description(function: &ItemFn) -> Result<String> {
    let lines: Vec<String> = function.attrs.iter().filter_map(documentation).collect();
    let text = lines.join("\n").trim().to_owned();
    if text.is_empty() {
        let message = "a tool needs a doc comment: it is the description that the model reads";
        return Err(Error::new(function.sig.ident.span(), message));
    }
    Ok(text)
}

fn documentation(attribute: &RustAttribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    if !pair.path.is_ident("doc") {
        return None;
    }
    match &pair.value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value().strip_prefix(' ').unwrap_or(&text.value()).trim_end().to_owned()),
            _ => None,
        },
        _ => None,
    }
}
