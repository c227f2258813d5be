//! Why a policy is refused: where in the text, under which key, what is wrong, and what to write instead.
//!
//! No value of the policy is repeated except a name, escaped and cut short: the text may hold what should not be shown.
//! It must not know how the text is read.

use crate::address::AddressError;
use crate::amount::AmountError;
use crate::argument::ArgumentKeyError;
use crate::binding::BindingError;
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

/// A policy that is refused as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {}{fault}; {}", place(.key), .fault.remedy())]
pub struct PolicyError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The key from the top of the file, such as `plugin.web.http.fetch.hosts`, escaped; empty for the file itself.
    pub key: String,
    /// What is wrong there.
    #[source]
    pub fault: PolicyFault,
}

impl PolicyError {
    /// What to write instead.
    pub fn remedy(&self) -> String {
        self.fault.remedy()
    }
}

fn place(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("`{key}`: ") }
}

/// A layer that is refused, and the whole policy with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {error}", .layer.phrase())]
pub struct LayerError {
    /// Whose text it is.
    pub layer: Layer,
    /// What is wrong with it.
    #[source]
    pub error: PolicyError,
}

impl LayerError {
    /// What to write instead.
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
    /// The text is not TOML; a key that is written twice is not, either.
    #[error("this is not TOML: {message}")]
    Syntax {
        /// What the TOML parser says.
        message: String,
    },
    /// No such key is known here.
    #[error("this key is not known here")]
    UnknownKey {
        /// The keys that are.
        known: Vec<&'static str>,
    },
    /// A key that must be here is not.
    #[error("the key `{name}` is missing")]
    MissingKey {
        /// The key.
        name: &'static str,
    },
    /// The value is of another type.
    #[error("this is not {wanted}")]
    WrongType {
        /// The type that it should have.
        wanted: &'static str,
    },
    /// A table or list has nothing in it.
    #[error("there is nothing in it")]
    Empty,
    /// The same key is bound twice for one plugin.
    #[error("the same key is already bound for this plugin")]
    BoundTwice,
    /// A key that an earlier layer binds for the same plugin.
    #[error("{} already binds this key for this plugin", .layer.phrase())]
    BoundElsewhere {
        /// That layer.
        layer: Layer,
    },
    /// A setting that an earlier layer has for the same plugin.
    #[error("{} already has this setting for this plugin", .layer.phrase())]
    SetElsewhere {
        /// That layer.
        layer: Layer,
    },
    /// A word that is none of those which may stand here.
    #[error("this word is not known here")]
    Word {
        /// Those which may.
        known: Vec<&'static str>,
    },
    /// An allow rule that rests on what a plugin claims of itself.
    #[error("an allow rule rests on what the plugin claims of itself")]
    AllowByHint,
    /// A table in a `when` with keys of several kinds.
    #[error("the table asks for more than one thing")]
    MixedTest,
    /// A pattern for sessions or principals with a segment that no name has.
    #[error("no name has a `.` or `..` segment")]
    DotName,
    /// A pattern that no principal matches.
    #[error("{shown} matches no principal")]
    PrincipalPattern {
        /// Its beginning, escaped.
        shown: String,
    },
    /// A number that no argument equals.
    #[error("no argument can equal this number")]
    Number,
    /// An allow rule whose pattern has a segment that an allow rule never matches.
    #[error("an allow rule never matches a `.` or `..` segment")]
    DotSegment,
    /// A deny or ask rule whose pattern has a `..` segment.
    #[error("a normalized path has no `..` segment")]
    ParentSegment,
    /// The reason is empty, too long, or holds a control character.
    #[error("a reason is one line of at most {REASON_BYTES} bytes")]
    Reason,
    /// A name is outside the grammar.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A tool pattern is malformed.
    #[error(transparent)]
    Tool(#[from] ToolPatternError),
    /// A word names no permission.
    #[error(transparent)]
    Permission(#[from] PermissionError),
    /// A word names no hint.
    #[error(transparent)]
    Hint(#[from] HintError),
    /// A text names no principal.
    #[error(transparent)]
    Principal(#[from] PrincipalError),
    /// A word names no origin.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// A text that stands for itself is malformed.
    #[error(transparent)]
    Literal(#[from] LiteralError),
    /// Bounds that no number is within, or that no number can be compared with.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
    /// A word names no decision.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// A pattern is malformed.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// A key of a `when` table is malformed.
    #[error(transparent)]
    ArgumentKey(#[from] ArgumentKeyError),
    /// A limit is malformed or out of its range.
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// A host pattern is malformed or too broad.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A range of addresses is malformed or too broad.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A text points to no argument.
    #[error(transparent)]
    Pointer(#[from] PointerError),
    /// A part of a binding is malformed.
    #[error(transparent)]
    Binding(#[from] BindingError),
}

impl PolicyFault {
    /// What to write instead.
    pub fn remedy(&self) -> String {
        match self {
            Self::TooLong | Self::TooManyRules => "write patterns that cover several tools".to_owned(),
            Self::Syntax { .. } => "correct the text, and write each key once".to_owned(),
            Self::UnknownKey { known } => format!("the known keys are {}", list(known)),
            Self::MissingKey { name } => format!("add `{name}`"),
            Self::WrongType { wanted } => format!("write {wanted}"),
            Self::Empty => "write at least one entry, or remove the key".to_owned(),
            Self::BoundTwice => "give each dependency a key of its own".to_owned(),
            Self::BoundElsewhere { .. } => "bind it in one of the two only, or to another key".to_owned(),
            Self::SetElsewhere { .. } => "write it in one of the two only".to_owned(),
            Self::Word { known } => format!("write one of {}", list(known)),
            Self::AllowByHint => "name the tools in an allow rule; `hint` is for ask and deny".to_owned(),
            Self::MixedTest => {
                "write one of `prefix`, `equals`, or bounds, and a list of tables where any of them is enough"
                    .to_owned()
            }
            Self::DotName => "write the name without it".to_owned(),
            Self::PrincipalPattern { .. } => {
                "write a name, or a pattern such as \"alice/**\" for alice and all of her sub-agents".to_owned()
            }
            Self::Number => "write a finite number".to_owned(),
            Self::DotSegment => "write the path without it".to_owned(),
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
