//! The findings of the lints, and their rules.

/// Maximum findings that [`super::lints`] returns. An author with more of them fixes these first, and checks again.
pub const LINTS_MAX: usize = 200;

/// Maximum length of a parameter's description, in characters: half of a tool's, because a model reads all of them in
/// every turn.
pub(super) const PARAMETER_CHARS_MAX: usize = 512;

/// A problem that an author should fix or know about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lint {
    /// The tool's name within the plugin. `None` if the lint is about the plugin itself. Untrusted text.
    pub tool: Option<String>,
    /// The place in the tool's argument schema, as a JSON Pointer. Empty if the lint is not about the schema. Untrusted
    /// text.
    pub pointer: String,
    /// The rule.
    pub rule: Rule,
    /// What was found. Untrusted text.
    pub what: String,
    /// What to do about it.
    pub remedy: &'static str,
}

/// The rules that definitions are checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The plugin has many tools.
    ManyTools,
    /// A name that some clients or providers shorten, hide or refuse.
    LongName,
    /// A tool without a description.
    NoDescription,
    /// A description that only repeats the tool's name.
    OnlyName,
    /// A very short description.
    ShortDescription,
    /// A description that some providers refuse.
    LongDescription,
    /// Two tools with the same description.
    SameDescription,
    /// A tool without a schema.
    NoSchema,
    /// A schema that allows any additional argument.
    OpenSchema,
    /// A parameter without a description.
    NoParameterDescription,
    /// A parameter's description that is too long.
    LongParameterDescription,
    /// A parameter's name that not every provider accepts.
    ParameterName,
    /// Text that gives the model instructions beyond the tool's use.
    Instruction,
}

impl Rule {
    /// Returns the rule's stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ManyTools => "many-tools",
            Self::LongName => "long-name",
            Self::NoDescription => "no-description",
            Self::OnlyName => "only-name",
            Self::ShortDescription => "short-description",
            Self::LongDescription => "long-description",
            Self::SameDescription => "same-description",
            Self::NoSchema => "no-schema",
            Self::OpenSchema => "open-schema",
            Self::NoParameterDescription => "no-parameter-description",
            Self::LongParameterDescription => "long-parameter-description",
            Self::ParameterName => "parameter-name",
            Self::Instruction => "instruction",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::ManyTools => "split the plugin, or let models search for tools instead of reading all of them",
            Self::LongName => "shorten the name of the tool or the plugin",
            Self::NoDescription | Self::OnlyName | Self::ShortDescription => {
                "describe what it does, what it needs, and when to use it"
            }
            Self::LongDescription => "keep what a model needs to choose it, and move the rest to its parameters",
            Self::SameDescription => "describe how they differ",
            Self::NoSchema => "add a schema; without one, its calls are refused, or each one needs a person's approval",
            Self::OpenSchema => {
                "set \"additionalProperties\": false at its root, so that a misspelt argument is refused"
            }
            Self::NoParameterDescription => "add a \"description\", which models use to fill it in",
            Self::LongParameterDescription => "keep what a model needs to fill it in",
            Self::ParameterName => {
                "use letters, digits and `_`, not a digit first, at most 64: Gemini accepts no other names"
            }
            Self::Instruction => {
                "describe what the tool does, not what the model must do; if you did not write it, do not use this \
                 plugin"
            }
        }
    }
}

/// The lints so far, and the tool that is checked now.
pub(super) struct LintFindings {
    pub(super) tool: Option<String>,
    pub(super) lints: Vec<Lint>,
}

impl LintFindings {
    pub(super) fn note(&mut self, rule: Rule, pointer: &str, what: String) {
        if self.lints.len() < LINTS_MAX {
            let (tool, pointer) = (self.tool.clone(), pointer.to_owned());
            self.lints.push(Lint { tool, pointer, rule, what, remedy: rule.remedy() });
        }
    }
}
