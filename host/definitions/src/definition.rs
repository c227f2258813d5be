//! Checks that a manifest can be shown to models and people, and that calls can be checked against its schemas.

use crate::manifest::{self, Definition, Manifest, Narrowing};
use crate::schema::{self, Schema, SchemaError};
use crate::text::{OneLine, cut, excess_mark, hex, is_deceptive};
use crate::tool::{Dependency, Tool};
use portcullis_policy::json;
use portcullis_policy::{DependencyKey, LocalName, PluginName, ToolName};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum tools of one plugin. A model could not choose from more.
const TOOLS_MAX: usize = 256;

/// Maximum tools that one plugin generates. The largest public API descriptions have about a thousand operations. A
/// model picks from them by search.
pub const GENERATED_TOOLS_MAX: usize = 2000;

/// Maximum problems of generated tools that are reported. A mistake of a generator is in all of its tools.
const GENERATED_PROBLEMS_MAX: usize = 8;

/// Maximum dependencies of one plugin.
const DEPENDENCIES_MAX: usize = 32;

/// Maximum length of a description, in bytes. A model reads it in every turn.
const DESCRIPTION_BYTES_MAX: usize = 4096;

/// Maximum length of a title, a version or a reason, in bytes: one line for a person.
const LINE_BYTES_MAX: usize = 256;

/// Why a manifest is refused.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// The plugin's name in the manifest differs from its file name.
    #[error("its manifest calls it {:?}, but its file is named for {expected:?}: name the file after the plugin", cut(.found, 80))]
    OtherName {
        /// The name in the manifest.
        found: String,
        /// The name in the file name.
        expected: String,
    },
    /// A name has an invalid form.
    #[error("{what} has an invalid name ({}): use a-z, 0-9, `-` and `_`, at most 64", OneLine(cut(.name, 80)))]
    Name {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name appears twice.
    #[error("{what} {name} appears twice")]
    Twice {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// There are too many of something.
    #[error("it has more than {most} {what}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// The maximum number.
        most: usize,
    },
    /// The plugin has no tools.
    #[error("it has no tools")]
    NoTools,
    /// A text contains hidden characters, or is too long.
    #[error("the {what} of {of} {why}")]
    Text {
        /// Which text.
        what: &'static str,
        /// The tool or plugin that it belongs to.
        of: String,
        /// The problem.
        why: String,
    },
    /// A schema is refused.
    #[error("the {what} of {of} is refused: {error}")]
    Schema {
        /// Which schema.
        what: &'static str,
        /// The tool that it belongs to.
        of: String,
        /// Why.
        error: SchemaError,
    },
}

/// A checked manifest.
#[derive(Debug)]
pub struct CheckedManifest {
    /// The tools, by their names within the plugin.
    pub tools: BTreeMap<LocalName, Arc<Tool>>,
    /// The handles that the plugin asks for.
    pub dependencies: BTreeMap<DependencyKey, Dependency>,
}

/// Checks the manifest of a plugin with this name.
///
/// # Errors
/// All problems of the manifest.
pub fn check(name: &PluginName, manifest: &Manifest) -> Result<CheckedManifest, Vec<DefinitionError>> {
    let mut checked = check_generating(name, manifest);
    // Report this with the other problems, so that an author can correct all of them at once.
    if manifest.tools.is_empty() {
        match &mut checked {
            Ok(_) => return Err(vec![DefinitionError::NoTools]),
            Err(problems) => problems.push(DefinitionError::NoTools),
        }
    }
    checked
}

/// Checks the manifest of a plugin that also generates tools. It may name none itself.
///
/// # Errors
/// All problems of the manifest.
pub fn check_generating(name: &PluginName, manifest: &Manifest) -> Result<CheckedManifest, Vec<DefinitionError>> {
    check_all(name, manifest, SchemaCheck::Full)
}

/// Restores what [`check`] or [`check_generating`] returned for a manifest, under the same version of this crate. The
/// schemas are not checked again, and each is compiled on first use.
///
/// # Errors
/// All problems of the manifest, without those of its schemas.
pub fn restore(name: &PluginName, manifest: &Manifest) -> Result<CheckedManifest, Vec<DefinitionError>> {
    check_all(name, manifest, SchemaCheck::Passed)
}

/// Whether the schemas of a manifest have to be checked.
#[derive(Clone, Copy)]
enum SchemaCheck {
    Full,
    /// They passed all checks before.
    Passed,
}

fn check_all(
    name: &PluginName,
    manifest: &Manifest,
    schemas: SchemaCheck,
) -> Result<CheckedManifest, Vec<DefinitionError>> {
    let mut problems = Vec::new();
    let mut note = |outcome: Result<(), DefinitionError>| problems.extend(outcome.err());
    if manifest.name != name.as_str() {
        let expected = name.as_str().to_owned();
        note(Err(DefinitionError::OtherName { found: manifest.name.clone(), expected }));
    }
    note(check_line("version", "the plugin", &manifest.version));
    note(check_description("the plugin", &manifest.description));
    let tools = check_tools(name, manifest, schemas, &mut problems);
    let dependencies = check_dependencies(manifest, &mut problems);
    if problems.is_empty() { Ok(CheckedManifest { tools, dependencies }) } else { Err(problems) }
}

/// Checks the tools that a plugin generates, and returns them. `own` is the tools of its manifest.
///
/// # Errors
/// The first problems of the tools.
pub fn check_generated(
    name: &PluginName,
    own: &BTreeMap<LocalName, Arc<Tool>>,
    generated: &[Definition],
) -> Result<BTreeMap<LocalName, Arc<Tool>>, Vec<DefinitionError>> {
    if generated.len() > GENERATED_TOOLS_MAX {
        return Err(vec![DefinitionError::TooMany { what: "generated tools", most: GENERATED_TOOLS_MAX }]);
    }
    let (mut tools, mut problems) = (BTreeMap::new(), Vec::new());
    for definition in generated {
        match check_tool(name, definition, SchemaCheck::Full) {
            Ok(tool) => {
                let local = tool.name.tool.clone();
                if own.contains_key(&local) || tools.insert(local, Arc::new(tool)).is_some() {
                    problems.push(DefinitionError::Twice { what: "the tool", name: definition.name.clone() });
                }
            }
            Err(problem) => problems.push(problem),
        }
        if problems.len() == GENERATED_PROBLEMS_MAX {
            break;
        }
    }
    if problems.is_empty() { Ok(tools) } else { Err(problems) }
}

/// Returns the tool with a narrower definition. Its other parts, such as its permissions, stay the same. The arguments
/// of a call must match both schemas.
///
/// # Errors
/// A new text or schema is refused.
pub fn narrow(tool: &Tool, narrowing: &Narrowing) -> Result<Tool, DefinitionError> {
    let of = tool.name.tool.as_str();
    let mut narrowed = tool.clone();
    if let Some(description) = &narrowing.description {
        check_description(of, description)?;
        narrowed.description.clone_from(description);
    }
    if let Some(schema) = &narrowing.schema {
        check_schema_text("schema", of, schema)?;
        let refused = |error| DefinitionError::Schema { what: "schema", of: of.to_owned(), error };
        narrowed.schema = Arc::new(Schema::of_arguments(schema).map_err(refused)?);
    }
    // Lengths come before texts, so that no two narrowings have the same hash.
    let mut hash = Sha256::new().chain_update(tool.sha256);
    for text in [&narrowing.description, &narrowing.schema] {
        // No text is this long, so a missing text differs from an empty one.
        let length = text.as_ref().map_or(u64::MAX, |text| text.len() as u64);
        hash = hash.chain_update(length.to_le_bytes()).chain_update(text.as_deref().unwrap_or_default());
    }
    narrowed.sha256 = hash.finalize().into();
    narrowed.sha256_hex = Arc::from(hex(&narrowed.sha256));
    Ok(narrowed)
}

fn check_tools(
    name: &PluginName,
    manifest: &Manifest,
    schemas: SchemaCheck,
    problems: &mut Vec<DefinitionError>,
) -> BTreeMap<LocalName, Arc<Tool>> {
    let mut tools = BTreeMap::new();
    if manifest.tools.len() > TOOLS_MAX {
        problems.push(DefinitionError::TooMany { what: "tools", most: TOOLS_MAX });
    }
    // If the plugin has more, it is refused already, so the rest is not checked.
    for definition in manifest.tools.iter().take(TOOLS_MAX) {
        match check_tool(name, definition, schemas) {
            Ok(tool) => {
                if tools.insert(tool.name.tool.clone(), Arc::new(tool)).is_some() {
                    problems.push(DefinitionError::Twice { what: "the tool", name: definition.name.clone() });
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    tools
}

fn check_dependencies(manifest: &Manifest, problems: &mut Vec<DefinitionError>) -> BTreeMap<DependencyKey, Dependency> {
    let mut dependencies = BTreeMap::new();
    if manifest.dependencies.len() > DEPENDENCIES_MAX {
        problems.push(DefinitionError::TooMany { what: "dependencies", most: DEPENDENCIES_MAX });
    }
    for asked in manifest.dependencies.iter().take(DEPENDENCIES_MAX) {
        match check_dependency(asked) {
            Ok((key, dependency)) => {
                if dependencies.insert(key, dependency).is_some() {
                    problems.push(DefinitionError::Twice { what: "the dependency", name: asked.key.clone() });
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    dependencies
}

fn check_dependency(asked: &manifest::Dependency) -> Result<(DependencyKey, Dependency), DefinitionError> {
    let key = DependencyKey::new(&asked.key)
        .map_err(|_| DefinitionError::Name { what: "a dependency", name: asked.key.clone() })?;
    check_line("reason", &asked.key, &asked.reason)?;
    Ok((key, Dependency { kind: asked.kind, optional: asked.optional, reason: asked.reason.clone() }))
}

fn check_tool(plugin: &PluginName, definition: &Definition, schemas: SchemaCheck) -> Result<Tool, DefinitionError> {
    let local = LocalName::new(&definition.name)
        .map_err(|_| DefinitionError::Name { what: "a tool", name: definition.name.clone() })?;
    let of = definition.name.as_str();
    if let Some(title) = &definition.title {
        check_line("title", of, title)?;
    }
    check_description(of, &definition.description)?;
    let schema = schemas.schema("schema", of, &definition.schema, |text| match text.trim() {
        "" => schema::absent(),
        text => Schema::of_arguments(text),
    })?;
    let output_schema = definition.output_schema.as_ref();
    let output_schema =
        output_schema.map(|text| schemas.schema("output schema", of, text, Schema::of_document)).transpose()?;
    let sha256 = digest(definition);
    Ok(Tool {
        name: ToolName::new(plugin.clone(), local),
        title: definition.title.clone(),
        description: definition.description.clone(),
        schema: Arc::new(schema),
        output_schema: output_schema.map(Arc::new),
        required: definition.required,
        optional: definition.optional,
        hints: definition.hints.clone(),
        sha256,
        sha256_hex: Arc::from(hex(&sha256)),
    })
}

impl SchemaCheck {
    /// Returns the schema with this text. `check` checks and compiles it.
    fn schema(
        self,
        what: &'static str,
        of: &str,
        text: &str,
        check: impl FnOnce(&str) -> Result<Schema, SchemaError>,
    ) -> Result<Schema, DefinitionError> {
        let schema = match self {
            // A missing schema is no JSON.
            Self::Passed if !text.trim().is_empty() => Schema::of_checked(text),
            Self::Passed | Self::Full => {
                check_schema_text(what, of, text)?;
                check(text)
            }
        };
        schema.map_err(|error| DefinitionError::Schema { what, of: of.to_owned(), error })
    }
}

/// Returns the hash of a whole definition.
fn digest(definition: &Definition) -> [u8; 32] {
    // Serializing strings, flags and options cannot fail.
    Sha256::digest(serde_json::to_vec(definition).unwrap_or_default()).into()
}

fn check_line(what: &'static str, of: &str, text: &str) -> Result<(), DefinitionError> {
    check_text(what, of, text, LINE_BYTES_MAX, |_| false)
}

fn check_description(of: &str, text: &str) -> Result<(), DefinitionError> {
    check_text("description", of, text, DESCRIPTION_BYTES_MAX, description_allows)
}

/// Returns whether a description may contain this control character.
pub fn description_allows(character: char) -> bool {
    matches!(character, '\n' | '\t')
}

/// Checks the texts in a schema, because models read them too.
fn check_schema_text(what: &'static str, of: &str, text: &str) -> Result<(), DefinitionError> {
    check_text(what, of, text, usize::MAX, |character| matches!(character, '\n' | '\t' | '\r'))?;
    // Check the parsed strings too, because an escape can hide a forbidden character.
    match json::parse(text) {
        Ok(document) => check_strings(what, of, &document),
        // Compiling the schema reports invalid JSON, with its position.
        Err(_) => Ok(()),
    }
}

fn check_strings(what: &'static str, of: &str, value: &serde_json::Value) -> Result<(), DefinitionError> {
    use serde_json::Value;
    let allowed = |character| matches!(character, '\n' | '\t');
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) => check_text(what, of, text, usize::MAX, allowed),
        Value::Array(items) => items.iter().try_for_each(|item| check_strings(what, of, item)),
        Value::Object(members) => members.iter().try_for_each(|(key, member)| {
            check_text(what, of, key, usize::MAX, |_| false)?;
            check_strings(what, of, member)
        }),
    }
}

fn check_text(
    what: &'static str,
    of: &str,
    text: &str,
    bytes_max: usize,
    allowed: impl Fn(char) -> bool,
) -> Result<(), DefinitionError> {
    let of = || OneLine(cut(of, 80)).to_string();
    if text.len() > bytes_max {
        return Err(DefinitionError::Text { what, of: of(), why: format!("is longer than {bytes_max} bytes") });
    }
    let why = match text.chars().find(|character| is_deceptive(*character) && !allowed(*character)) {
        Some(character) => format!("contains the invisible or control character U+{:04X}", u32::from(character)),
        None => match excess_mark(text) {
            Some(mark) => {
                format!("stacks too many combining marks on one character, U+{:04X} among them", u32::from(mark))
            }
            None => return Ok(()),
        },
    };
    Err(DefinitionError::Text { what, of: of(), why })
}
