//! Remedies for the author of a refused plugin, if the error itself does not name one.

use portcullis::plugins::{CompileError, DefinitionError, FileError, GenerationError, LoadError, Refusal};

/// Returns the remedy for an error, or `None` if the error itself names it.
pub(crate) fn of(error: &LoadError) -> Option<&'static str> {
    match error {
        LoadError::File(error) => of_file(error),
        LoadError::Refused(refusal) | LoadError::Compile(CompileError::Refused(refusal)) => of_bytes(refusal),
        LoadError::Compile(CompileError::Exhausted) => Some("make the component smaller, its largest function first"),
        LoadError::Compile(CompileError::Worker(_)) => Some("the compiler process failed, not the plugin: try again"),
        LoadError::Describe(_) => Some(
            "see what it printed; `describe` gets no handles and little time, so let it return fixed values \
             only",
        ),
        LoadError::Unstable => Some("remove clocks, randomness and state from `describe`"),
        LoadError::Generation(GenerationError::Failed(_)) => {
            Some("see what it says about its settings and its directories")
        }
        LoadError::Generation(GenerationError::Unstable) => Some("remove clocks, randomness and state from `generate`"),
        LoadError::Generation(GenerationError::Definition(errors)) => errors.iter().find_map(of_definition),
        LoadError::Generation(GenerationError::NoTools) => Some("define or generate at least one tool"),
        LoadError::Generation(GenerationError::Changed(_) | GenerationError::Pin(_) | GenerationError::Unusable(_)) => {
            None
        }
        LoadError::Preparation(_) => {
            Some("see what it says; `prepare` gets its settings, no handles and little time, and can only take away")
        }
        LoadError::Definition(errors) => errors.iter().find_map(of_definition),
        LoadError::Changed => Some("restart the host"),
        LoadError::Compile(CompileError::NoCompiler) | LoadError::Server(_) | LoadError::Altered => None,
        LoadError::Descriptions(_) | LoadError::Grants(_) | LoadError::Audit(_) => None,
        LoadError::Compile(CompileError::NoWorker(_)) => None,
    }
}

fn of_file(error: &FileError) -> Option<&'static str> {
    match error {
        FileError::TooLarge => Some("strip it, or remove what the tool does not need"),
        FileError::Name | FileError::Reserved | FileError::NotRegular | FileError::Exposed => None,
        FileError::NoPlugin { .. } | FileError::Shadowed { .. } | FileError::Registered => None,
        FileError::Server | FileError::Io(_) => None,
    }
}

fn of_bytes(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::NotWasm(_) => Some("build a component, such as with `cargo build --target wasm32-wasip2`"),
        Refusal::Malformed { .. } => Some("build or copy it again: the file may be truncated"),
        Refusal::UnknownImports(_) => {
            Some("remove what needs these imports, or ask for it as a dependency of the contract (wit/)")
        }
        Refusal::NoHandler(_) => Some("build it with an SDK, or export the interface as wit/ defines it"),
        Refusal::UnknownExports(_) => Some("name the interface as wit/ does, or remove the export"),
        Refusal::MixedContracts(_) => Some("build everything against one version of the contract (wit/)"),
        Refusal::Mismatch(_) => Some("build it against the contract of this host (wit/)"),
        Refusal::Uncompilable(_) => Some("rebuild it with a current toolchain"),
        Refusal::TooLarge | Refusal::CoreModule => None,
    }
}

fn of_definition(error: &DefinitionError) -> Option<&'static str> {
    match error {
        DefinitionError::Twice { .. } => Some("give each a unique name"),
        DefinitionError::TooMany { .. } => Some("split the plugin"),
        DefinitionError::NoTools => Some("define at least one tool"),
        DefinitionError::Text { .. } => Some("shorten it, and replace invisible characters"),
        DefinitionError::Schema { .. } => Some("simplify the schema: a model has to understand it too"),
        DefinitionError::OtherName { .. } | DefinitionError::Name { .. } => None,
    }
}
