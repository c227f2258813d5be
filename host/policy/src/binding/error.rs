//! Errors of bindings, and how to fix them.

use super::limits::{ARGUMENT_BYTES, ARGUMENTS, ENVIRONMENT_ENTRIES, PROGRAM_DIRECTORIES, TOOL_PATTERNS};
use super::server_address_error::ServerAddressError;
use crate::mask::{MASKS_MAX, MaskError};

/// Why a binding is invalid. Messages repeat no text of the policy, because it may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// The access is neither `read-only` nor `read-write`.
    #[error("unknown access")]
    Access,
    /// The path is empty or too long, or contains a control character.
    #[error("invalid path")]
    Path,
    /// A mask covers the whole directory, or is not a valid pattern.
    #[error("invalid mask: {0}")]
    Mask(MaskError),
    /// There are too many masks of one kind.
    #[error("there are more than {MASKS_MAX} masks of one kind")]
    Masks,
    /// A default mask is lifted in a read-only directory, which has none.
    #[error("a read-only directory has no default masks to lift")]
    WritableReadOnly,
    /// The method is not an upper-case word, or one that the host never sends.
    #[error("invalid HTTP method")]
    Method,
    /// The port is not a number from 1 to 65535.
    #[error("invalid port")]
    Port,
    /// The path prefix is not a plain path.
    #[error("invalid path prefix")]
    PathPrefix,
    /// The header is not a lower-case name.
    #[error("invalid header name")]
    Header,
    /// The header controls where a request goes or ends.
    #[error("the host sets this header itself")]
    ReservedHeader,
    /// Unnamed hosts need approval, but the client is not narrowed to a URL.
    #[error("`unnamed = \"ask\"` needs `narrow`")]
    UnnamedWide,
    /// A client with tunnels limits what a tunnel hides.
    #[error("`CONNECT` makes tunnels, in which the host cannot check `paths`, `headers` and `roots`")]
    TunnelHides,
    /// The template does not have exactly one `{}`, or contains something other than visible ASCII and spaces.
    #[error("the value must be visible ASCII with exactly one `{{}}`")]
    Template,
    /// The user name is empty or too long, or contains a colon or something other than visible ASCII and spaces.
    #[error("invalid user name for HTTP Basic authentication")]
    User,
    /// The name of the query parameter is empty or too long, or contains a character that needs an escape.
    #[error("invalid name of a query parameter")]
    QueryName,
    /// The source is not a variable, a file or a command.
    #[error("invalid source of a secret")]
    SecretSource,
    /// The package has no registry, no name or no exact version.
    #[error("invalid package")]
    Package,
    /// The section of a server has none of `command`, `package` and `url`, or several.
    #[error("a server needs one of `command`, `package` and `url`")]
    ServerStart,
    /// The address of a server, or how the host logs in to it, is invalid.
    #[error("{0}")]
    Address(#[from] ServerAddressError),
    /// Only the program of a package gets its arguments apart.
    #[error("`program` and `arguments` belong to `package`")]
    ServerArguments,
    /// The command has no words or too many, or one that is too long or contains a NUL.
    #[error("a command must have 1 to {ARGUMENTS} words of at most {ARGUMENT_BYTES} bytes")]
    Command,
    /// The secret has none of `header`, `basic` and `query`, or more than one, or `header` without `value`.
    #[error("the secret must have exactly one place in the request")]
    SecretSlot,
    /// The secret has no `host`, and the client does not reach exactly one exact host.
    #[error("the secret needs `host`, because this client does not reach exactly one host")]
    SecretHostMissing,
    /// The host of the secret is a wildcard, or not a host of the client.
    #[error("the host of the secret is not one of the exact hosts of this client")]
    SecretHost,
    /// A client with a secret has several schemes or ports.
    #[error("a client with a secret has more than one scheme or port")]
    SecretOrigins,
    /// The secret would be sent unencrypted over the internet.
    #[error("the secret would be sent unencrypted")]
    SecretInClear,
    /// The policy lets the guest set the header of the secret.
    #[error("`headers` lets the plugin set the header of the secret")]
    SecretHeaderGranted,
    /// The name of a service or method is invalid.
    #[error("invalid name of a service or method")]
    ServiceName,
    /// The path of a program is relative, or is a directory.
    #[error("the path of a program must be the absolute path of a file")]
    Program,
    /// A program has too many directories.
    #[error("a program has more than {PROGRAM_DIRECTORIES} directories")]
    ProgramDirectories,
    /// A program names the same directory twice.
    #[error("the program already has this directory")]
    SameDirectory,
    /// A program has both `network` and `http`.
    #[error("a program cannot have both `network` and `http`")]
    ProgramNetworks,
    /// The name of an environment variable is invalid.
    #[error("invalid name of an environment variable")]
    EnvironmentName,
    /// The value of an environment variable is invalid.
    #[error("the value of an environment variable is too long or contains a NUL")]
    EnvironmentValue,
    /// A program has too many environment variables.
    #[error("a program has more than {ENVIRONMENT_ENTRIES} environment variables")]
    EnvironmentEntries,
    /// A set of tools has too many patterns.
    #[error("`tools` must have 1 to {TOOL_PATTERNS} patterns")]
    ToolPatterns,
    /// The key of a setting is invalid.
    #[error("invalid key of a setting")]
    ConfigKey,
    /// The value of a setting is invalid.
    #[error("the value of a setting is too long or contains a NUL")]
    ConfigValue,
    /// The value of a setting is not a string.
    #[error("the value of a setting must be a string")]
    ConfigType,
    /// The plugin has too many settings.
    #[error("too many settings for one plugin")]
    ConfigEntries,
    /// The address of a name server is invalid.
    #[error("invalid address of a name server")]
    NameServer,
    /// There are too many name servers.
    #[error("too many name servers")]
    NameServers,
}

impl BindingError {
    /// Returns how to fix it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Access => "write `read-only` or `read-write`",
            Self::Path => "write the path of a directory or file, without control characters",
            Self::Mask(error) => error.remedy(),
            Self::Masks => "combine them with `*`, `**` and `{a,b}`",
            Self::WritableReadOnly => "remove `writable`, or write access = \"read-write\"",
            Self::Method => "write a method such as \"GET\" in upper case; TRACE is never sent",
            Self::Port => "write a whole number from 1 to 65535, without quotes",
            Self::PathPrefix => "write a path such as \"/api/\", without query, `..` and escaped slashes",
            Self::Header => "write a name such as \"authorization\" in lower case",
            Self::ReservedHeader => "use another header, such as \"authorization\"",
            Self::UnnamedWide => "add `narrow = \"/url\"` with the argument that holds the URL, or remove `unnamed`",
            Self::TunnelHides => "remove \"CONNECT\" from the methods, or remove `paths`, `headers` and `roots`",
            Self::Template => "write a value such as \"Bearer {}\"; never write the secret itself",
            Self::User => "write a user name in visible ASCII without a colon",
            Self::QueryName => "write 1 to 64 letters, digits, `_`, `.` and `-`",
            Self::SecretSource => {
                "write \"env:NAME\", \"file:PATH\" or { command = [\"PROGRAM\", ...] }; never write the secret itself"
            }
            Self::Package => "write \"npm:NAME@1.2.3\" or \"pypi:NAME==1.2.3\", with an exact version",
            Self::ServerStart => {
                "write command = [\"/path/of/program\", ...], package = \"npm:NAME@1.2.3\" or url = \"https://HOST/mcp\""
            }
            Self::Address(error) => error.remedy(),
            Self::ServerArguments => "write the arguments in `command`, after the program",
            Self::Command => "write the program and each of its arguments as a separate string",
            Self::SecretSlot => "write `header` with `value`, or `basic`, or `query`",
            Self::SecretHostMissing => "add `host` with the one host that may get the secret",
            Self::SecretHost => "name the host in `hosts` without a wildcard, and spell it here the same way",
            Self::SecretOrigins => {
                "keep one entry in `schemes` and one in `ports`, and bind a second key for the others"
            }
            Self::SecretInClear => {
                "use https; over http, write the private address of the server as the host, or its range in `addresses`"
            }
            Self::SecretHeaderGranted => "remove the header from `headers`: the host sets it",
            Self::ServiceName => "write 1 to 64 letters, digits, `_`, `.` and `-`",
            Self::Program => {
                "write an absolute path such as \"/usr/bin/git\", or one that begins with `~/`; a relative path would \
                 depend on where the host was started"
            }
            Self::ProgramDirectories => "bind one directory that contains several of them",
            Self::SameDirectory => "write each key once",
            Self::ProgramNetworks => "remove `http` for no network, or remove `network`",
            Self::EnvironmentName => "write 1 to 64 letters, digits and `_`, without a digit at the beginning",
            Self::EnvironmentValue => "write at most 4096 bytes, or put the value in a file of a granted directory",
            Self::EnvironmentEntries => "write at most 64, or set them in a script",
            Self::ToolPatterns => "write patterns such as \"files.read\" or \"web.*\"",
            Self::ConfigKey => "write 1 to 128 bytes without control characters",
            Self::ConfigValue => "write at most 4096 bytes, or put the value in a file of a granted directory",
            Self::ConfigType => "write it as a string in quotes",
            Self::ConfigEntries => "write at most 100, or put them in a file of a granted directory",
            Self::NameServer => "write an address with or without a port, such as \"10.0.0.53\" or \"[::1]:5353\"",
            Self::NameServers => "write at most 8",
        }
    }
}
