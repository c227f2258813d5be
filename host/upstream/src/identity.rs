//! How a server introduces itself.

use portcullis_definitions::text;
use rmcp::model::ServerPeerInfo;

/// Maximum length of a name or a version, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// Maximum length of the instructions, in bytes.
const INSTRUCTIONS_BYTES_MAX: usize = 16 * 1024;

/// How a server introduces itself. Untrusted: any server can use any name. Each text is cut to a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerIdentity {
    /// The name of the server, if it gives one.
    pub name: Option<String>,
    /// The version of the server, if it gives one.
    pub version: Option<String>,
    /// The version of the protocol. One that the host speaks.
    pub protocol: String,
    /// What a model should know about using the server.
    pub instructions: Option<String>,
    /// Whether the server offers resources.
    pub has_resources: bool,
    /// Whether the server offers prompts.
    pub has_prompts: bool,
}

impl ServerIdentity {
    pub(crate) fn of(info: &ServerPeerInfo) -> Self {
        let cut = |text: &str, bytes_max| text::cut(text, bytes_max).to_owned();
        Self {
            name: info.server_info.as_ref().map(|server| cut(&server.name, NAME_BYTES_MAX)),
            version: info.server_info.as_ref().map(|server| cut(&server.version, NAME_BYTES_MAX)),
            protocol: cut(info.protocol_version.as_str(), NAME_BYTES_MAX),
            has_resources: info.capabilities.resources.is_some(),
            has_prompts: info.capabilities.prompts.is_some(),
            instructions: info.instructions.as_deref().map(|text| cut(text, INSTRUCTIONS_BYTES_MAX)),
        }
    }
}
