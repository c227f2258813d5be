//! Decides who may call a server, from the options of the command line.

use super::token;
use crate::arguments::HttpArguments;
use crate::context::Context;
use crate::environment;
use crate::style::TextStyle;
use anyhow::{Context as _, ensure};
use portcullis::policy::{Policy, Principal};
use portcullis::text::OneLine;
use portcullis_mcp::http::{APPROVER_SCOPE, Access, Approvers, OAuth, TokenFile, Tokens};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Maximum size of a file of tokens or keys, in bytes.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// The permission bits that let other users write. A user who can write to the file could grant themselves access.
const OTHERS_WRITE: u32 = 0o022;
/// The permission bits that let other users read. Only the owner should read tokens.
const OTHERS_READ: u32 = 0o044;

/// Who may call, with the line that tells the user.
pub(super) struct ServeAccess {
    pub(super) access: Access,
    /// The file that it was read from. It may change while the server runs.
    pub(super) file: Option<PathBuf>,
    pub(super) line: String,
    pub(super) look: TextStyle,
}

/// Returns who may call.
///
/// # Errors
/// A file cannot be read, or its content is invalid.
pub(super) fn of(
    arguments: &HttpArguments,
    operator: &Principal,
    policy: &Policy,
    context: &Context,
) -> anyhow::Result<ServeAccess> {
    if arguments.no_auth {
        let line = "anyone who can connect may call, including every user and container of this machine".to_owned();
        return Ok(ServeAccess { access: Access::Everyone, file: None, line, look: TextStyle::Doubtful });
    }
    if let (Some(issuer), Some(audience), Some(keys)) =
        (&arguments.oauth_issuer, &arguments.oauth_audience, &arguments.oauth_keys)
    {
        let text = read(keys, Secrecy::Public, context)?;
        let oauth = oauth(issuer, audience, keys, &text)?;
        warn_of_keys(&oauth, keys, context);
        warn_of_rules(&oauth, policy, context);
        let (issuer, audience, prefix) = (OneLine(issuer), OneLine(audience), oauth.principal_prefix());
        let line =
            format!("clients need a token of {issuer} for {audience}; a subject is the principal {prefix}SUBJECT");
        return Ok(ServeAccess {
            access: Access::OAuth(Box::new(oauth)),
            file: Some(keys.clone()),
            line,
            look: TextStyle::Quiet,
        });
    }
    let (path, text) = match &arguments.token_file {
        Some(path) => (path.clone(), read(path, Secrecy::Secret, context)?),
        None => {
            let kept = token::of_state(context.environment.state()?, token::CALLER_FILE)?;
            (kept.path, kept.text)
        }
    };
    let shown = path.display().to_string();
    let tokens = TokenFile::parse(&text, operator).with_context(|| shown.clone())?.callers;
    // A server with a console may have approvers alone.
    ensure!(!tokens.is_empty() || arguments.console, "{shown}: no line is the token of a client");
    let line = format!("clients need the token in {}, as `Authorization: Bearer`", OneLine(&shown));
    Ok(ServeAccess { access: Access::Tokens(tokens), file: Some(path), line, look: TextStyle::Quiet })
}

fn oauth(issuer: &str, audience: &str, keys: &Path, text: &str) -> anyhow::Result<OAuth> {
    OAuth::new(issuer, audience, text.as_bytes()).with_context(|| keys.display().to_string())
}

/// Reads again who may call, and who may answer in the console if the server has one.
///
/// # Errors
/// A file cannot be read, or its content is invalid. Nothing of what was read counts then.
pub(super) fn reread(
    arguments: &HttpArguments,
    operator: &Principal,
    policy: &Policy,
    context: &Context,
) -> anyhow::Result<(ServeAccess, Option<ConsoleAccess>)> {
    let callers = of(arguments, operator, policy, context)?;
    let approvers = arguments.console.then(|| approvers(arguments, operator, context)).transpose()?;
    Ok((callers, approvers))
}

/// Names the keys that are not used, and those whose private half is in the file.
fn warn_of_keys(oauth: &OAuth, path: &Path, context: &Context) {
    let (style, shown) = (context.terminal.note_style(), path.display().to_string());
    for notice in oauth.key_notices() {
        let note = format!("{}: {}", OneLine(&shown), OneLine(&notice.to_string()));
        context.terminal.note(style.paint(TextStyle::Doubtful, note));
    }
}

/// Warns of rules that name principals of a token file, because they do not match subjects of an issuer.
fn warn_of_rules(oauth: &OAuth, policy: &Policy, context: &Context) {
    let named = policy.rules().iter().filter_map(|rule| rule.subject_text()).any(|text| text.contains("mcp."));
    if named {
        let (style, prefix) = (context.terminal.note_style(), oauth.principal_prefix());
        let note =
            format!("rules for `mcp.` principals do not cover subjects of the issuer: name them `{prefix}SUBJECT`");
        context.terminal.note(style.paint(TextStyle::Doubtful, note));
    }
}

/// Who may answer in the console, with the line that tells the user.
pub(super) struct ConsoleAccess {
    pub(super) approvers: Approvers,
    /// The file that it was read from.
    pub(super) file: PathBuf,
    pub(super) line: String,
}

/// Returns who may answer approval requests in the console of a server.
///
/// # Errors
/// A file cannot be read, its content is invalid, or it has no approver.
pub(super) fn approvers(
    arguments: &HttpArguments,
    operator: &Principal,
    context: &Context,
) -> anyhow::Result<ConsoleAccess> {
    if let (Some(issuer), Some(audience), Some(keys)) =
        (&arguments.oauth_issuer, &arguments.oauth_audience, &arguments.oauth_keys)
    {
        let approvers =
            Approvers::OAuth(Box::new(oauth(issuer, audience, keys, &read(keys, Secrecy::Public, context)?)?));
        let line = format!("approvers need a token of {} with the scope {APPROVER_SCOPE} alone", OneLine(issuer));
        return Ok(ConsoleAccess { approvers, file: keys.clone(), line });
    }
    let (path, tokens) = match &arguments.token_file {
        Some(path) => {
            let text = read(path, Secrecy::Secret, context)?;
            let tokens = TokenFile::parse(&text, operator).with_context(|| path.display().to_string())?.approvers;
            let shown = path.display();
            ensure!(!tokens.is_empty(), "{shown}: no line is the token of an approver: add `approver NAME:TOKEN`");
            (path.clone(), tokens)
        }
        None => {
            let kept = token::of_state(context.environment.state()?, token::APPROVER_FILE)?;
            let tokens = Tokens::parse(&kept.text, operator).with_context(|| kept.path.display().to_string())?;
            (kept.path, tokens)
        }
    };
    let line = format!("approvers sign in with their token in {}", OneLine(&path.display().to_string()));
    Ok(ConsoleAccess { approvers: Approvers::Tokens(tokens), file: path, line })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Secrecy {
    Secret,
    Public,
}

fn read(path: &Path, secrecy: Secrecy, context: &Context) -> anyhow::Result<String> {
    let shown = || path.display().to_string();
    let file = environment::open_named(path).with_context(shown)?;
    // Of the open file, so that no other file takes its place after the check.
    let metadata = file.metadata().with_context(shown)?;
    let mode = metadata.permissions().mode();
    ensure!(mode & OTHERS_WRITE == 0, "other users can write to {}: run `chmod go-w` on it", shown());
    // Only a note: Kubernetes mounts a secret so that the group of the pod can read it.
    if secrecy == Secrecy::Secret && mode & OTHERS_READ != 0 {
        let style = context.terminal.note_style();
        let note = format!("other users can read {}: run `chmod go-r` on it", OneLine(&shown()));
        context.terminal.note(style.paint(TextStyle::Doubtful, note));
    }
    let mut text = String::new();
    // Read one byte more than allowed, so that a longer file is refused and not cut.
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).with_context(shown)?;
    ensure!(text.len() as u64 <= FILE_BYTES_MAX, "{} is longer than {FILE_BYTES_MAX} bytes", shown());
    Ok(text)
}
