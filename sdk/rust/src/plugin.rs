//! A plugin as a list of tools: its manifest, and the execution of its calls.
//!
//! Names are checked while the plugin compiles, so that a plugin that builds also loads.

use serde_json::Value;

use crate::generate::GeneratorEntry;
use crate::host;
use crate::{
    Caller, Context, Definition, Dependency, Failure, FileChange, GeneratedCall, GeneratedTool, Generator, Hint,
    Manifest, Permission, Preparation, Preparing, Preview, Review, Success, Verdict,
};

/// Maximum length of a name in bytes, as in the contract.
const NAME_LENGTH_MAX: usize = 64;

/// The author's declaration of a tool, without its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    /// Unique within the plugin.
    pub name: &'static str,
    /// A few words for people.
    pub title: Option<&'static str>,
    /// What the tool does, for a model.
    pub description: &'static str,
    /// Permissions that the tool needs.
    pub required: &'static [Permission],
    /// Permissions that the tool can use but does not need.
    pub optional: &'static [Permission],
    /// What the author claims.
    pub hints: &'static [Hint],
}

/// A tool. The attribute `#[tool]` implements it for a type with the name of the function.
pub trait Tool {
    /// The author's declaration.
    const DECLARATION: Declaration;

    /// Returns the schema of its arguments.
    #[must_use]
    fn schema() -> Value;

    /// Returns the schema of its JSON output, if there is one.
    #[must_use]
    fn output_schema() -> Option<Value>;

    /// Parses the arguments and runs the tool.
    ///
    /// # Errors
    /// The arguments do not parse, or the tool failed.
    fn execute(arguments: &str, context: &Context) -> Result<Success, Failure>;
}

/// A tool in the list of a plugin.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    declaration: Declaration,
    schema: fn() -> Value,
    output_schema: fn() -> Option<Value>,
    execute: fn(&str, &Context) -> Result<Success, Failure>,
}

impl Entry {
    /// Creates the entry of a tool.
    #[must_use]
    pub const fn of<T: Tool>() -> Self {
        Self { declaration: T::DECLARATION, schema: T::schema, output_schema: T::output_schema, execute: T::execute }
    }

    fn definition(&self) -> Definition {
        let Declaration { name, title, description, required, optional, hints } = self.declaration;
        let (schema, output_schema) = ((self.schema)(), (self.output_schema)());
        Definition { name, title, description, schema, output_schema, required, optional, hints }
    }
}

/// A plugin. The macro `plugin!` makes one, as `PLUGIN`.
#[derive(Debug, Clone, Copy)]
pub struct Plugin {
    name: &'static str,
    version: &'static str,
    description: &'static str,
    tools: &'static [Entry],
    dependencies: &'static [Dependency],
    reviewer: Option<Reviewer>,
    previewer: Option<Previewer>,
    generator: Option<GeneratorEntry>,
    preparer: Option<Preparer>,
}

/// Reviews a call before it runs.
type Reviewer = fn(&Review<'_>) -> Verdict;

/// Chooses the tools that a caller is not offered whole.
type Preparer = fn(&Preparing<'_>) -> Vec<Preparation>;

/// Computes what a call would change.
type Previewer = fn(&Preview<'_>) -> Result<Vec<FileChange>, Failure>;

impl Plugin {
    /// Creates a plugin.
    ///
    /// # Panics
    /// A name breaks the contract's rule, or two tools or two dependencies share one. In a `static` that is a
    /// compile-time error.
    #[must_use]
    pub const fn new(
        name: &'static str,
        version: &'static str,
        description: &'static str,
        tools: &'static [Entry],
        dependencies: &'static [Dependency],
    ) -> Self {
        assert!(is_name(name), "the name of a plugin is a-z, then a-z, 0-9, _ or -, at most 64 bytes");
        let mut index = 0;
        while index < tools.len() {
            assert!(is_name(tools[index].declaration.name), "the name of a tool is a-z, then a-z, 0-9, _ or -");
            let mut other = 0;
            while other < index {
                let same = is_equal(tools[index].declaration.name, tools[other].declaration.name);
                assert!(!same, "two tools of the plugin have the same name");
                other += 1;
            }
            index += 1;
        }
        check_keys(dependencies);
        let (reviewer, previewer, generator, preparer) = (None, None, None, None);
        Self { name, version, description, tools, dependencies, reviewer, previewer, generator, preparer }
    }

    /// Sets the function that reviews each call before it runs.
    #[must_use]
    pub const fn reviewed_by(self, reviewer: Reviewer) -> Self {
        Self { reviewer: Some(reviewer), ..self }
    }

    /// Sets the function that computes what a call would change in files.
    #[must_use]
    pub const fn previewed_by(self, previewer: Previewer) -> Self {
        Self { previewer: Some(previewer), ..self }
    }

    /// Sets the type that makes more tools and runs them.
    #[must_use]
    pub const fn generated_by<G: Generator>(self) -> Self {
        Self { generator: Some(GeneratorEntry::of::<G>()), ..self }
    }

    /// Sets the function that hides or narrows tools for some callers.
    #[must_use]
    pub const fn prepared_by(self, preparer: Preparer) -> Self {
        Self { preparer: Some(preparer), ..self }
    }

    /// Checks that the plugin has tools.
    ///
    /// # Panics
    /// It has neither tools nor a generator. In a `static` that is a compile-time error.
    #[must_use]
    pub const fn with_tools(self) -> Self {
        assert!(!self.tools.is_empty() || self.generator.is_some(), "a plugin has at least one tool, or a generator");
        self
    }

    /// Returns the plugin's manifest.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        Manifest {
            name: self.name,
            version: self.version,
            description: self.description,
            tools: self.tools.iter().map(Entry::definition).collect(),
            dependencies: self.dependencies,
        }
    }

    /// Runs one tool, in the same way in a guest and in a test.
    ///
    /// # Errors
    /// There is no such tool, the arguments do not parse, or the tool failed.
    pub fn execute(&self, tool: &str, arguments: &str, context: &Context) -> Result<Success, Failure> {
        match (self.tools.iter().find(|entry| entry.declaration.name == tool), &self.generator) {
            (Some(entry), _) => (entry.execute)(arguments, context),
            (None, Some(generator)) => (generator.execute)(&GeneratedCall::new(tool, arguments, context)),
            (None, None) => Err(Failure::invalid(format!("`{}` has no tool `{tool}`", self.name))),
        }
    }

    /// Makes the tools of the generator, in the same way in a guest and in a test. There are none without a generator.
    ///
    /// # Errors
    /// The tools cannot be made.
    pub fn generate(&self, context: &Context) -> Result<Vec<GeneratedTool>, Failure> {
        self.generator.as_ref().map_or_else(|| Ok(Vec::new()), |generator| (generator.generate)(context))
    }

    /// Returns the tools that a caller is not offered whole, in the same way in a guest and in a test. There are none
    /// without a preparer.
    #[must_use]
    pub fn prepare(&self, caller: &Caller, context: &Context) -> Vec<Preparation> {
        self.preparer.map_or_else(Vec::new, |prepare| prepare(&Preparing::new(caller, context)))
    }

    /// Reviews a call. A plugin without a reviewer clears every call.
    pub(crate) fn review(&self, tool: &str, arguments: &str, host: &host::Host) -> Verdict {
        let Some(reviewer) = self.reviewer else { return Verdict::Clear };
        match serde_json::from_str(arguments) {
            Ok(arguments) => reviewer(&Review::new(tool, arguments, host)),
            Err(error) => Verdict::refuse(format!("the arguments are not JSON: {error}")),
        }
    }

    /// Computes what a call would change. A plugin without a previewer reports no changes.
    pub(crate) fn preview(&self, tool: &str, arguments: &str, context: &Context) -> Result<Vec<FileChange>, Failure> {
        self.previewer.map_or_else(|| Ok(Vec::new()), |preview| preview(&Preview::new(tool, arguments, context)))
    }
}

const fn check_keys(dependencies: &[Dependency]) {
    let mut index = 0;
    while index < dependencies.len() {
        assert!(is_name(dependencies[index].key), "the key of a dependency is a-z, then a-z, 0-9, _ or -");
        let mut other = 0;
        while other < index {
            assert!(!is_equal(dependencies[index].key, dependencies[other].key), "two dependencies have the same key");
            other += 1;
        }
        index += 1;
    }
}

const fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > NAME_LENGTH_MAX || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut index = 1;
    while index < bytes.len() {
        if !matches!(bytes[index], b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-') {
            return false;
        }
        index += 1;
    }
    true
}

const fn is_equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut index = 0;
    while index < one.len() {
        if one[index] != other[index] {
            return false;
        }
        index += 1;
    }
    true
}
