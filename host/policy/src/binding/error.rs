//! Why a binding cannot be what the policy says, and what to write instead.

use super::limits::{ARGUMENT_BYTES, ARGUMENTS};
use crate::mask::{MASKS_MAX, MaskError};

/// Why a binding cannot be what the policy says. No text of the policy is repeated, since it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// The access is none of the two words.
    #[error("this is not a kind of access")]
    Access,
    /// The path is empty, too long, or holds a control character.
    #[error("this is not a path")]
    Path,
    /// A mask covers the whole directory, or is no pattern of places in it.
    #[error("this is not a mask of places in the directory: {0}")]
    Mask(#[source] MaskError),
    /// Too many masks.
    #[error("these are more than {MASKS_MAX} masks of one kind")]
    Masks,
    /// A default mask is lifted in a directory that has none.
    #[error("no default mask holds in a directory that is read-only")]
    WritableReadOnly,
    /// The method is no upper-case word, or one that no binding sends.
    #[error("this is not a method that a plugin may send")]
    Method,
    /// The port is no number from 1 to 65535.
    #[error("this is not a port")]
    Port,
    /// The path prefix is no plain path.
    #[error("this is not the beginning of a path as requests have it")]
    PathPrefix,
    /// The header is no lower-case name.
    #[error("this is not the name of a header in lower case")]
    Header,
    /// The header decides where a request goes or ends.
    #[error("the host sets this header itself")]
    ReservedHeader,
    /// Hosts that are not named are asked about, but the grant is not narrowed to one URL.
    #[error("a grant that asks for hosts it does not name is not narrowed to an argument")]
    UnnamedWide,
    /// The template does not have exactly one `{}`, or holds something other than visible ASCII and spaces.
    #[error("this is not a template with exactly one `{{}}`")]
    Template,
    /// The user of Basic authentication is empty, too long, or holds a colon or something that is not visible ASCII.
    #[error("this is not a user of HTTP Basic authentication")]
    User,
    /// The name of the parameter is empty, too long, or holds what would need an escape.
    #[error("this is not the name of a parameter")]
    QueryName,
    /// The source is neither a variable nor a file.
    #[error("this does not say where the secret is")]
    SecretSource,
    /// The command has no or too many words, or one that is too long or holds a NUL.
    #[error("this is not a command of 1 to {ARGUMENTS} words of at most {ARGUMENT_BYTES} bytes")]
    Command,
    /// Of header, basic and query there is not exactly one, or a header is without its value.
    #[error("the secret has no slot, or more than one")]
    SecretSlot,
    /// There are several hosts, and the secret does not say for which it is.
    #[error("the secret does not say for which of the hosts it is")]
    SecretHostMissing,
    /// The host of the secret is a wildcard, or none of those the client reaches.
    #[error("the host of the secret is not one of the exact hosts of this client")]
    SecretHost,
    /// A client with a secret has several schemes or ports.
    #[error("a client with a secret has more than one scheme or port")]
    SecretOrigins,
    /// The secret would cross the internet unencrypted.
    #[error("the secret would travel in the clear")]
    SecretInClear,
    /// The guest may set the header in which the secret goes.
    #[error("the header of the secret is among those that a plugin may set")]
    SecretHeaderGranted,
    /// The name of a service or of one of its methods.
    #[error("this is not the name of a service or of a method")]
    ServiceName,
    /// The key of a setting.
    #[error("this is not the key of a setting")]
    ConfigKey,
    /// The value of a setting.
    #[error("the value of a setting is too long or holds a NUL")]
    ConfigValue,
    /// A setting that is no text.
    #[error("the value of a setting is not a text")]
    ConfigType,
    /// Too many settings.
    #[error("these are too many settings for one plugin")]
    ConfigEntries,
    /// A name server.
    #[error("this is not the address of a name server")]
    NameServer,
    /// Too many name servers.
    #[error("these are too many name servers")]
    NameServers,
}

impl BindingError {
    /// What to write instead.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Access => "write `read-only` or `read-write`",
            Self::Path => "write the path of a directory or file, without control characters",
            Self::Mask(error) => error.remedy(),
            Self::Masks => "combine them with `*`, `**` and `{a,b}`",
            Self::WritableReadOnly => "remove `writable`, or write access = \"read-write\"",
            Self::Method => "write a method such as \"GET\" in upper case; CONNECT and TRACE are never sent",
            Self::Port => "write a whole number from 1 to 65535, without quotes",
            Self::PathPrefix => "write a path such as \"/api/\", without query, `..` and escaped slashes",
            Self::Header => "write a name such as \"authorization\" in lower case",
            Self::ReservedHeader => "use another header, such as \"authorization\"",
            Self::UnnamedWide => "add `narrow = \"/url\"` with the argument that holds the URL, or remove `unnamed`",
            Self::Template => "write a value such as \"Bearer {}\", and the secret itself nowhere",
            Self::User => "write a user in visible ASCII without a colon",
            Self::QueryName => "write 1 to 64 letters, digits, `_`, `.` and `-`",
            Self::SecretSource => {
                "write \"env:NAME\", \"file:PATH\" or { command = [\"PROGRAM\", ...] }, and the secret itself nowhere"
            }
            Self::Command => "write the program and its arguments, each as a text of its own",
            Self::SecretSlot => "write `header` with `value`, or `basic`, or `query`",
            Self::SecretHostMissing => "add `host` with the one host that may get it",
            Self::SecretHost => "name the host in `hosts`, without a wildcard, and write it here in the same way",
            Self::SecretOrigins => {
                "leave one entry in `schemes` and one in `ports`, and bind a second key for the others"
            }
            Self::SecretInClear => {
                "use https; over http, write the private address of the server as the host, or its range in `addresses`"
            }
            Self::SecretHeaderGranted => "remove the header from `headers`: the host sets it",
            Self::ServiceName => "write 1 to 64 letters, digits, `_`, `.` and `-`",
            Self::ConfigKey => "write 1 to 128 bytes without control characters",
            Self::ConfigValue => "write at most 4096 bytes, or put them in a file of a directory",
            Self::ConfigType => "write it as a text in quotes",
            Self::ConfigEntries => "write at most 100, or put them in a file of a directory",
            Self::NameServer => "write an address with or without a port, such as \"10.0.0.53\" or \"[::1]:5353\"",
            Self::NameServers => "write at most 8",
        }
    }
}
