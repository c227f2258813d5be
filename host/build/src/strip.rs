//! Strips names and debug information from every module of a component.

use anyhow::{Context as _, Result};
use wasm_encoder::{Component, ComponentSectionId, Module, RawSection};
use wasmparser::{Encoding, Parser, Payload};

/// Returns whether only a debugger uses a custom section. Other sections may mean something to a host.
fn is_debugging(name: &str) -> bool {
    name == "name"
        || name == "component-name"
        || name == "producers"
        || name.starts_with(".debug")
        || name == "sourceMappingURL"
}

/// A component or a module that is being rewritten.
enum StripOutput {
    Component(Component),
    Module(Module),
}

impl StripOutput {
    fn section(&mut self, id: u8, data: &[u8]) {
        let section = RawSection { id, data };
        match self {
            StripOutput::Component(component) => {
                component.section(&section);
            }
            StripOutput::Module(module) => {
                module.section(&section);
            }
        }
    }

    /// Adds the finished inner component or module as a section.
    fn nest(&mut self, inner: StripOutput) {
        let (id, bytes) = match inner {
            StripOutput::Component(component) => (ComponentSectionId::Component, component.finish()),
            StripOutput::Module(module) => (ComponentSectionId::CoreModule, module.finish()),
        };
        self.section(id.into(), &bytes);
    }

    fn finish(self) -> Vec<u8> {
        match self {
            StripOutput::Component(component) => component.finish(),
            StripOutput::Module(module) => module.finish(),
        }
    }
}

/// Returns the component without debugging sections.
///
/// # Errors
/// The bytes are not a component.
pub(crate) fn strip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut open: Vec<StripOutput> = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        match &payload {
            Payload::Version { encoding: Encoding::Component, .. } => {
                open.push(StripOutput::Component(Component::new()))
            }
            Payload::Version { encoding: Encoding::Module, .. } => open.push(StripOutput::Module(Module::new())),
            // Its content follows as payloads of its own.
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {}
            Payload::CustomSection(section) if is_debugging(section.name()) => {}
            Payload::End(_) => {
                let done = open.pop().context("an end without a beginning")?;
                match open.last_mut() {
                    Some(outer) => outer.nest(done),
                    None => return Ok(done.finish()),
                }
            }
            other => {
                // The functions of a code section are payloads too. The start of the section has already covered their
                // bytes.
                if let Some((id, range)) = other.as_section() {
                    let data = bytes.get(range).context("a section beyond the end")?;
                    open.last_mut().context("a section without a beginning")?.section(id, data);
                }
            }
        }
    }
    anyhow::bail!("it is truncated")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{CustomSection, ModuleSection, NameSection, TypeSection};

    fn custom(name: &str) -> CustomSection<'_> {
        CustomSection { name: name.into(), data: b"kept".as_slice().into() }
    }

    /// Returns the names of all custom sections, including those of nested modules.
    fn customs(bytes: &[u8]) -> Vec<String> {
        let payloads = Parser::new(0).parse_all(bytes).map(Result::unwrap);
        let name = |payload| match payload {
            Payload::CustomSection(section) => Some(section.name().to_owned()),
            _ => None,
        };
        payloads.filter_map(name).collect()
    }

    #[test]
    fn names_are_stripped_from_every_module_and_the_rest_stays() {
        let mut module = Module::new();
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let mut names = NameSection::new();
        names.module("secret");
        module.section(&types).section(&custom("of-the-host")).section(&names).section(&custom(".debug_info"));
        let mut component = Component::new();
        component.section(&ModuleSection(&module)).section(&custom("producers")).section(&custom("mine"));
        let bytes = component.finish();
        assert_eq!(customs(&bytes).len(), 5);
        let stripped = strip(&bytes).unwrap();
        assert_eq!(customs(&stripped), ["of-the-host", "mine"]);
        assert!(Parser::new(0).parse_all(&stripped).any(|it| matches!(it, Ok(Payload::TypeSection(_)))));
        assert_eq!(strip(&stripped).unwrap(), stripped);
    }

    #[test]
    fn invalid_bytes_are_refused() {
        for bytes in [b"".as_slice(), b"\0asm", b"not wasm at all", &Component::new().finish()[..6]] {
            assert!(strip(bytes).is_err());
        }
    }
}
