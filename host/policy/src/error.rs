//! Errors of the policy parser: the position, the key, what is wrong, and how to fix it.
//!
//! Errors never repeat a value of the policy, because it may be a secret. Names are shown escaped and shortened. This
//! file must not know how the text is parsed.

use std::ops::Range;

use crate::address::AddressError;
use crate::amount::AmountError;
use crate::argument::ArgumentKeyError;
use crate::binding::{BindingError, DependencyKind, ServerAddressError};
use crate::bounds::BoundsError;
use crate::caller::{OriginError, PrincipalError};
use crate::decision::DecisionError;
use crate::glob::GlobError;
use crate::hint::HintError;
use crate::host_pattern::HostError;
use crate::layer::Layer;
use crate::name::NameError;
use crate::permission::PermissionError;
use crate::pointer::PointerError;
use crate::policy_size::{POLICY_BYTES, POLICY_RULES};
use crate::rule::{REASON_BYTES, ToolPatternError};
use crate::text::LiteralError;

/// An error that makes the whole policy invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", plain(self))]
pub struct PolicyError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The full path of the key, such as `plugin.web.http.fetch.hosts`, escaped. Empty for the file itself.
    pub key: String,
    /// What is wrong. It is part of this error's own message, and not its source.
    pub fault: PolicyFault,
    /// What only people need. In a box, because results with a larger error are slow to return.
    pub(crate) details: Box<ErrorDetails>,
}

/// The parts of an error that a reader of the text needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ErrorDetails {
    /// The bytes of the text that are wrong.
    pub(crate) span: Range<usize>,
    /// The known word that was probably meant.
    pub(crate) suggestion: Option<String>,
    /// The other errors of the same text, in its order. Each of them has none itself.
    pub(crate) more: Vec<PolicyError>,
}

impl PolicyError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> String {
        self.fault.remedy()
    }

    /// Returns all errors of the text: this one and the others.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.details.more)
    }

    /// Returns the bytes of the text that are wrong: a key or a value. They may be empty.
    pub fn span(&self) -> Range<usize> {
        self.details.span.clone()
    }

    /// Returns the known word that was probably meant.
    pub fn suggestion(&self) -> Option<&str> {
        self.details.suggestion.as_deref()
    }
}

/// Returns the errors as one line.
fn plain(error: &PolicyError) -> String {
    let one = |error: &PolicyError| {
        let PolicyError { line, column, key, fault, .. } = error;
        let suggestion = error.suggestion().map(|word| format!(" (did you mean `{word}`?)")).unwrap_or_default();
        format!("line {line}, column {column}: {}{fault}{suggestion}; {}", place(key), fault.remedy())
    };
    error.all().map(one).collect::<Vec<_>>().join("; also ")
}

fn place(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("`{key}`: ") }
}

/// An error in one layer. It makes the whole policy invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {error}", .layer.phrase())]
pub struct LayerError {
    /// The layer with the error.
    pub layer: Layer,
    /// The error. It is part of this error's own message, and not its source.
    pub error: PolicyError,
}

impl LayerError {
    /// Returns how to fix it.
    pub fn remedy(&self) -> String {
        self.error.remedy()
    }
}

/// What is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFault {
    /// The text is longer than [`POLICY_BYTES`].
    #[error("the policy is longer than {POLICY_BYTES} bytes")]
    TooLong,
    /// There are more than [`POLICY_RULES`] rules.
    #[error("the policy has more than {POLICY_RULES} rules")]
    TooManyRules,
    /// The text is not valid TOML. A duplicate key is a syntax error, too.
    #[error("invalid TOML: {message}")]
    Syntax {
        /// The message of the TOML parser.
        message: String,
    },
    /// The table has no such key.
    #[error("unknown key")]
    UnknownKey {
        /// The valid keys.
        known: Vec<&'static str>,
    },
    /// A required key is missing.
    #[error("the key `{name}` is missing")]
    MissingKey {
        /// The key.
        name: &'static str,
    },
    /// The value has the wrong type.
    #[error("the value has the wrong type")]
    WrongType {
        /// The expected type.
        wanted: &'static str,
    },
    /// A table or list is empty.
    #[error("the value is empty")]
    Empty,
    /// The same key is bound twice for one plugin.
    #[error("the same key is already bound for this plugin")]
    BoundTwice,
    /// An earlier layer binds the same key for the same plugin.
    #[error("{} already binds this key for this plugin", .layer.phrase())]
    BoundElsewhere {
        /// That layer.
        layer: Layer,
    },
    /// An earlier layer has the same setting for the same plugin.
    #[error("{} already has this setting for this plugin", .layer.phrase())]
    SetElsewhere {
        /// That layer.
        layer: Layer,
    },
    /// A binding names a key that has no binding of the right kind in the same plugin's section.
    #[error("this plugin has no {} binding of this name", .kind.as_str())]
    NotBound {
        /// The kind.
        kind: DependencyKind,
        /// The key of that kind that was probably meant.
        nearest: Option<String>,
    },
    /// A plugin has the name of the server.
    #[error("a plugin has the same name")]
    ServerIsPlugin,
    /// The list has too many elements.
    #[error("there are more than {most} entries")]
    TooMany {
        /// The maximum.
        most: usize,
    },
    /// There is no toolset of this name.
    #[error("there is no toolset of this name")]
    UnknownToolset {
        /// The toolset that was probably meant.
        nearest: Option<String>,
    },
    /// A toolset includes itself, directly or through others.
    #[error("the toolset includes itself")]
    ToolsetCycle,
    /// A rate limit has neither `rate` nor `concurrent`.
    #[error("the rate limit limits nothing")]
    LimitsNothing,
    /// The value is not one of the valid words.
    #[error("unknown value")]
    Word {
        /// The valid words.
        known: Vec<&'static str>,
    },
    /// An allow rule has a `hint`. The plugin sets its own hints, so they must not allow anything.
    #[error("an allow rule cannot use `hint`, because plugins set their own hints")]
    AllowByHint,
    /// A rule that does not allow has `over`. A deny wins over an ask anyway.
    #[error("only an allow rule can use `over`")]
    OverWithoutAllow,
    /// A table in a `when` mixes several kinds of test.
    #[error("the table mixes several kinds of test")]
    MixedTest,
    /// A pattern for sessions or principals has a segment that no name can have.
    #[error("no name has a `.` or `..` segment")]
    DotName,
    /// A pattern that no principal matches.
    #[error("{shown} matches no principal")]
    PrincipalPattern {
        /// Its beginning, escaped.
        shown: String,
    },
    /// A number that no argument can equal.
    #[error("no argument can equal this number")]
    Number,
    /// The pattern of an allow rule has a segment that an allow rule never matches.
    #[error("an allow rule never matches a `.` or `..` segment")]
    DotSegment,
    /// The pattern of a deny or ask rule has a `..` segment.
    #[error("a normalized path has no `..` segment")]
    ParentSegment,
    /// The reason is empty or too long, or contains a control character.
    #[error("a reason must be one line of at most {REASON_BYTES} bytes")]
    Reason,
    /// A name is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A tool pattern is malformed.
    #[error(transparent)]
    Tool(#[from] ToolPatternError),
    /// A word is not a permission.
    #[error(transparent)]
    Permission(#[from] PermissionError),
    /// A word is not a hint.
    #[error(transparent)]
    Hint(#[from] HintError),
    /// A text is not a principal.
    #[error(transparent)]
    Principal(#[from] PrincipalError),
    /// A word is not an origin.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// A literal text is malformed.
    #[error(transparent)]
    Literal(#[from] LiteralError),
    /// The bounds exclude every number, or cannot be compared exactly.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// A word is not a decision.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// A pattern is malformed.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// A key of a `when` table is malformed.
    #[error(transparent)]
    ArgumentKey(#[from] ArgumentKeyError),
    /// A limit is malformed or out of range.
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// A host pattern is malformed or too broad.
    #[error(transparent)]
    Host(#[from] HostError),
    /// An address range is malformed or too broad.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A text is not a pointer to an argument.
    #[error(transparent)]
    Pointer(#[from] PointerError),
    /// A part of a binding is malformed.
    #[error(transparent)]
    Binding(#[from] BindingError),
}

impl From<ServerAddressError> for PolicyFault {
    fn from(error: ServerAddressError) -> Self {
        Self::Binding(error.into())
    }
}

impl PolicyFault {
    /// Returns how to fix it.
    pub fn remedy(&self) -> String {
        match self {
            Self::TooLong | Self::TooManyRules => "write patterns that cover several tools".to_owned(),
            Self::Syntax { .. } => "correct the text, and write each key once".to_owned(),
            Self::UnknownKey { known } => format!("the known keys are {}", list(known)),
            Self::MissingKey { name } => format!("add `{name}`"),
            Self::WrongType { wanted } => format!("write {wanted}"),
            Self::Empty => "write at least one entry, or remove the key".to_owned(),
            Self::BoundTwice => "give each dependency its own key".to_owned(),
            Self::BoundElsewhere { .. } => "bind it in only one of the two policies, or use another key".to_owned(),
            Self::SetElsewhere { .. } => "keep it in only one of the two policies".to_owned(),
            Self::NotBound { kind, .. } => {
                format!("add `{}.KEY` to the same plugin, in this policy or in an earlier layer", kind.as_str())
            }
            Self::ServerIsPlugin => "give the server or the plugin another name".to_owned(),
            Self::TooMany { .. } => "write patterns that cover several tools, or remove entries".to_owned(),
            Self::UnknownToolset { .. } => {
                "add `[toolset.NAME]` to this policy or to an earlier layer, or write `all` or `read-only`".to_owned()
            }
            Self::ToolsetCycle => "remove the name from one of the toolsets".to_owned(),
            Self::LimitsNothing => "add `rate` or `concurrent`".to_owned(),
            Self::Word { known } => format!("write one of {}", list(known)),
            Self::AllowByHint => "name the tools instead; only ask and deny rules can use `hint`".to_owned(),
            Self::OverWithoutAllow => "remove `over`, or write `decision = \"allow\"`".to_owned(),
            Self::MixedTest => {
                "write one of `prefix`, `equals`, or bounds; for alternatives, write a list of tables".to_owned()
            }
            Self::DotName => "remove the segment".to_owned(),
            Self::PrincipalPattern { .. } => {
                "write a name, or a pattern such as \"alice/**\" for alice and all of her sub-agents".to_owned()
            }
            Self::Number => "write a finite number".to_owned(),
            Self::DotSegment => "remove the segment".to_owned(),
            Self::ParentSegment => {
                "remove it: a path that climbs above its root matches every deny and ask pattern".to_owned()
            }
            Self::Reason => "write one short sentence".to_owned(),
            Self::Name(error) => error.remedy().to_owned(),
            Self::Tool(error) => error.remedy().to_owned(),
            Self::Permission(error) => error.remedy().to_owned(),
            Self::Hint(error) => error.remedy().to_owned(),
            Self::Principal(error) => error.remedy().to_owned(),
            Self::Origin(error) => error.remedy().to_owned(),
            Self::Literal(error) => error.remedy().to_owned(),
            Self::Bounds(error) => error.remedy().to_owned(),
            Self::Decision(error) => error.remedy().to_owned(),
            Self::Glob(error) => error.remedy().to_owned(),
            Self::ArgumentKey(error) => error.remedy().to_owned(),
            Self::Amount(error) => error.remedy(),
            Self::Host(error) => error.remedy().to_owned(),
            Self::Address(error) => error.remedy().to_owned(),
            Self::Pointer(error) => error.remedy().to_owned(),
            Self::Binding(error) => error.remedy().to_owned(),
        }
    }
}

fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
