//! What the author of a plugin can do about a refusal, where the refusal does not say it itself.

use portcullis::plugins::{CompileError, DefinitionError, FileError, LoadError, Refusal};

/// What to do about it; nothing where the error's own words say it.
pub(crate) fn of(error: &LoadError) -> Option<&'static str> {
    match error {
        LoadError::File(error) => of_file(error),
        LoadError::Refused(refusal) | LoadError::Compile(CompileError::Refused(refusal)) => of_bytes(refusal),
        LoadError::Compile(CompileError::Exhausted) => Some("make it smaller, above all its largest function"),
        LoadError::Compile(CompileError::Worker(_)) => {
            Some("this is the machine's fault and not the plugin's: try again")
        }
        LoadError::Describe(_) => Some(
            "what it printed says most; else, `describe` gets no handle and little time: let it answer with what it \
             knows beforehand",
        ),
        LoadError::Unstable => Some("let `describe` use no clock, no randomness and no state"),
        LoadError::Definition(errors) => errors.iter().find_map(of_definition),
        LoadError::Changed => Some("start the host again"),
        LoadError::Descriptions(_) | LoadError::Grants(_) | LoadError::Audit(_) => None,
    }
}

fn of_file(error: &FileError) -> Option<&'static str> {
    match error {
        FileError::TooLarge => Some("strip it, or leave out what the tool does not need"),
        FileError::Name | FileError::Reserved | FileError::NotRegular | FileError::Exposed => None,
        FileError::NoPlugin { .. } | FileError::Io(_) => None,
    }
}

fn of_bytes(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::NotWasm(_) => Some("build a component, such as with `cargo build --target wasm32-wasip2`"),
        Refusal::Malformed { .. } => Some("build or copy it again: the file may be cut off"),
        Refusal::UnknownImports(_) => {
            Some("leave out what needs these imports, or ask for it as a dependency of the contract (wit/)")
        }
        Refusal::NoHandler(_) => Some("build it with an SDK, or export the interface as wit/ has it"),
        Refusal::UnknownExports(_) => Some("spell the interface as wit/ has it, or leave it out"),
        Refusal::MixedContracts(_) => Some("build all of it against one version (wit/)"),
        Refusal::Mismatch(_) => Some("build it against the contract of this host (wit/)"),
        Refusal::Uncompilable(_) => Some("build it again with a current toolchain"),
        Refusal::TooLarge | Refusal::CoreModule => None,
    }
}

fn of_definition(error: &DefinitionError) -> Option<&'static str> {
    match error {
        DefinitionError::Twice { .. } => Some("give each its own name"),
        DefinitionError::TooMany { .. } => Some("split the plugin"),
        DefinitionError::NoTools => Some("define at least one"),
        DefinitionError::Text { .. } => Some("shorten it, and spell out what does not show"),
        DefinitionError::Schema { .. } => Some("simplify the schema: a model has to understand it too"),
        DefinitionError::OtherName { .. } | DefinitionError::Name { .. } => None,
    }
}
