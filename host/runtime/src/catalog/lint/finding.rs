//! What a look at a definition finds.

/// What [`super::lints`] tells at the most: who has mended so many looks again.
pub const LINTS_MAX: usize = 200;

/// A parameter's description, in characters: half of what a tool has, for a model reads all of them in every turn.
pub(super) const PARAMETER_CHARS_MAX: usize = 512;

/// Something to mend, or to know of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lint {
    /// The tool, by its name within the plugin; nothing where it is the plugin itself. Untrusted text.
    pub tool: Option<String>,
    /// The place in the schema of its arguments, as a JSON Pointer; empty where it is not in there. Untrusted text.
    pub pointer: String,
    /// Which rule.
    pub rule: Rule,
    /// What was found; untrusted text.
    pub what: String,
    /// What to do about it.
    pub remedy: &'static str,
}

/// What definitions are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A model has many tools to choose from.
    ManyTools,
    /// A name that some clients and providers shorten, hide or refuse.
    LongName,
    /// A tool without a description.
    NoDescription,
    /// A description that only says the tool's name again.
    OnlyName,
    /// A description that is hardly one.
    ShortDescription,
    /// A description that some providers refuse.
    LongDescription,
    /// Two tools that cannot be told apart.
    SameDescription,
    /// A tool without a schema.
    NoSchema,
    /// A schema that lets any further argument through.
    OpenSchema,
    /// A parameter without a description.
    NoParameterDescription,
    /// A parameter's description that is too much to read.
    LongParameterDescription,
    /// A parameter's name that not every provider takes.
    ParameterName,
    /// Text that speaks to the model of something other than the tool.
    Instruction,
}

impl Rule {
    /// Its name, which is stable.
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
            Self::ManyTools => "split the plugin, or let models look for tools instead of reading all of them",
            Self::LongName => "shorten the name of the tool or the plugin",
            Self::NoDescription | Self::OnlyName | Self::ShortDescription => {
                "say what it does, what it needs, and when to use it"
            }
            Self::LongDescription => "keep what a model needs to choose it, and move the rest to its parameters",
            Self::SameDescription => "say what tells them apart",
            Self::NoSchema => "give it one: without, its calls are refused, or each of them asks a person",
            Self::OpenSchema => {
                "say \"additionalProperties\": false at its root, so that a misspelt argument is refused"
            }
            Self::NoParameterDescription => "give it a \"description\": a model fills it in by that",
            Self::LongParameterDescription => "keep what a model needs to fill it in",
            Self::ParameterName => {
                "use letters, digits and `_`, not beginning with a digit, at most 64: Gemini takes no other"
            }
            Self::Instruction => {
                "say what the tool does, not what the model is to do; if you did not write it, do not use this plugin"
            }
        }
    }
}

/// What was found so far, and the tool that is looked at.
pub(super) struct Found {
    pub(super) tool: Option<String>,
    pub(super) lints: Vec<Lint>,
}

impl Found {
    pub(super) fn note(&mut self, rule: Rule, pointer: &str, what: String) {
        if self.lints.len() < LINTS_MAX {
            let (tool, pointer) = (self.tool.clone(), pointer.to_owned());
            self.lints.push(Lint { tool, pointer, rule, what, remedy: rule.remedy() });
        }
    }
}
