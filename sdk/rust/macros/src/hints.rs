//! Parses the parentheses of `#[tool(...)]`.

use syn::meta::ParseNestedMeta;
use syn::{Error, Ident, LitStr, Result};

/// The parsed parentheses. Each list holds variants of the SDK's enums.
#[derive(Default)]
pub(crate) struct Attribute {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) hints: Vec<Ident>,
    pub(crate) required: Vec<Ident>,
    pub(crate) optional: Vec<Ident>,
}

impl Attribute {
    pub(crate) fn parse(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let word = meta.path.require_ident()?;
        match word.to_string().as_str() {
            "name" => self.name = Some(meta.value()?.parse()?),
            "title" => self.title = Some(meta.value()?.parse()?),
            "requires" => parse_permissions(meta, &mut self.required)?,
            "optional" => parse_permissions(meta, &mut self.optional)?,
            "read_only" => self.hints.push(Ident::new("ReadOnly", word.span())),
            "destructive" => self.hints.push(Ident::new("Destructive", word.span())),
            "idempotent" => self.hints.push(Ident::new("Idempotent", word.span())),
            "open_world" => self.hints.push(Ident::new("OpenWorld", word.span())),
            "sequential" => self.hints.push(Ident::new("Sequential", word.span())),
            _ => {
                return Err(meta.error(
                    "expected read_only, destructive, idempotent, open_world, sequential, requires(...), \
                     optional(...), title = \"...\" or name = \"...\"",
                ));
            }
        }
        Ok(())
    }

    /// Refuses contradicting claims.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(read_only) = self.hints.iter().find(|hint| *hint == "ReadOnly") else { return Ok(()) };
        let writes = self.required.iter().chain(&self.optional).any(|permission| permission == "Write");
        if writes || self.hints.iter().any(|hint| hint == "Destructive") {
            return Err(Error::new(read_only.span(), "a tool that writes or destroys cannot be read_only"));
        }
        Ok(())
    }
}

fn parse_permissions(meta: &ParseNestedMeta<'_>, permissions: &mut Vec<Ident>) -> Result<()> {
    meta.parse_nested_meta(|inner| {
        let word = inner.path.require_ident()?;
        let variant = match word.to_string().as_str() {
            "read" => "Read",
            "write" => "Write",
            "execute" => "Execute",
            "network" => "Network",
            _ => return Err(inner.error("expected read, write, execute or network")),
        };
        permissions.push(Ident::new(variant, word.span()));
        Ok(())
    })
}
