//! The tools that a server lists, as the definitions of a plugin.

use super::offers::{self, ServerAction};
use crate::text::cut;
use portcullis_definitions::manifest::Definition;
use portcullis_definitions::schema::from_earlier_draft;
use portcullis_definitions::text::hex;
use portcullis_policy::{Hint, LocalName, ServerPolicy};
use portcullis_upstream::{ServerIdentity, ServerTool};
use sha2::{Digest, Sha256};

/// Maximum length of a description, in bytes. A longer one is cut, because the host refuses a tool whose description
/// is too long.
const DESCRIPTION_BYTES_MAX: usize = 4000;

/// The description of a tool that has none.
const NO_DESCRIPTION: &str = "The server does not describe this tool.";

/// The mark at the end of a description that was cut.
const CUT: &str = " [cut]";

/// What a server lists.
pub(crate) struct ListedServer {
    /// The version that the server gives itself. Untrusted text.
    pub(crate) version: Option<String>,
    /// The tools, in the server's order.
    pub(crate) tools: Vec<ListedTool>,
    /// The host's own tools for what else the server offers.
    pub(crate) offers: Vec<(ServerAction, Definition)>,
    /// How many changes the server had announced before.
    pub(crate) announced: u64,
}

/// A tool that a server lists. It is not checked yet.
pub(crate) struct ListedTool {
    /// The name by which the server knows it.
    pub(crate) server_name: String,
    pub(crate) definition: Definition,
    /// What the server says about the tool, as JSON. What the policy says is no part of it.
    pub(crate) said: String,
    /// The SHA-256 of that, in hexadecimal digits.
    pub(crate) sha256: String,
}

/// Converts what a server lists.
pub(super) fn listed(
    identity: &ServerIdentity,
    tools: Vec<ServerTool>,
    policy: &ServerPolicy,
    announced: u64,
) -> ListedServer {
    let tools = tools.into_iter().map(|tool| listed_tool(tool, policy)).collect();
    ListedServer { version: identity.version.clone(), tools, offers: offers::definitions(identity, policy), announced }
}

fn listed_tool(tool: ServerTool, policy: &ServerPolicy) -> ListedTool {
    // Serializing strings and JSON values cannot fail.
    let said = serde_json::to_string(&tool).unwrap_or_default();
    let sha256 = hex(&Sha256::digest(&said));
    let name = local_name(&tool.name);
    // A name without a valid form is refused by the check of the definition.
    let permissions = LocalName::new(&name).map(|name| policy.permissions(&name)).unwrap_or_default();
    let ServerTool { name: server_name, title, description, input_schema, output_schema, claims } = tool;
    let hints = [
        (claims.read_only, Hint::ReadOnly),
        (claims.destructive, Hint::Destructive),
        (claims.idempotent, Hint::Idempotent),
        (claims.open_world, Hint::OpenWorld),
    ];
    let definition = Definition {
        name,
        title: title.or(claims.title).filter(|title| !title.trim().is_empty()),
        description: described(description),
        schema: from_earlier_draft(input_schema).to_string(),
        output_schema: output_schema.map(|schema| from_earlier_draft(schema).to_string()),
        required: permissions,
        optional: Default::default(),
        hints: hints.into_iter().filter(|(claim, _)| *claim == Some(true)).map(|(_, hint)| hint).collect(),
    };
    ListedTool { server_name, definition, said, sha256 }
}

/// Reads what a server said about a tool before.
pub(crate) fn said_before(said: &str, policy: &ServerPolicy) -> Option<ListedTool> {
    serde_json::from_str(said).ok().map(|tool| listed_tool(tool, policy))
}

fn described(description: Option<String>) -> String {
    let description = description.map(|text| text.trim().replace("\r\n", "\n")).filter(|text| !text.is_empty());
    match description {
        None => NO_DESCRIPTION.to_owned(),
        Some(text) if text.len() > DESCRIPTION_BYTES_MAX => cut(&text, DESCRIPTION_BYTES_MAX).to_owned() + CUT,
        Some(text) => text,
    }
}

/// Returns the name by which callers know a tool: in lower case, with `_` between words and in place of what a name
/// cannot have. `getUser` becomes `get_user`, and `repo/create` becomes `repo_create`.
fn local_name(name: &str) -> String {
    let mut local = String::with_capacity(name.len());
    let mut is_after_small = false;
    for character in name.chars() {
        if character.is_ascii_uppercase() && is_after_small {
            local.push('_');
        }
        is_after_small = character.is_ascii_lowercase() || character.is_ascii_digit();
        local.push(match character.to_ascii_lowercase() {
            valid @ ('a'..='z' | '0'..='9' | '_' | '-') => valid,
            _ => '_',
        });
    }
    local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_spelt_as_callers_can_spell_it() {
        for (name, expected) in [
            ("create_issue", "create_issue"),
            ("get-sum", "get-sum"),
            ("getUser", "get_user"),
            ("GetUserByID", "get_user_by_id"),
            ("repo/create", "repo_create"),
            ("a b.c", "a_b_c"),
            ("höhe", "h_he"),
        ] {
            assert_eq!(local_name(name), expected, "{name}");
        }
    }

    #[test]
    fn a_description_is_never_missing_and_never_too_long() {
        assert_eq!(described(None), NO_DESCRIPTION);
        assert_eq!(described(Some(" \r\n ".to_owned())), NO_DESCRIPTION);
        assert_eq!(described(Some("One.\r\nTwo. ".to_owned())), "One.\nTwo.");
        let long = described(Some("é".repeat(DESCRIPTION_BYTES_MAX)));
        assert!(long.len() <= DESCRIPTION_BYTES_MAX + CUT.len() && long.ends_with("é [cut]"));
    }
}
