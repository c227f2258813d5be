//! The sections `[server.NAME]`: MCP servers whose tools the host offers.
//!
//! A section is read as that of a plugin with a program, or with a client. This file must not know how a server is
//! started.

mod address;

use std::collections::BTreeMap;

use super::faults::Misplaced;
use super::limits;
use super::node::{TomlNode, TomlTable};
use super::plugin::{self, KeyReference, PlacedValue, PluginSection};
use super::words::read_words;
use crate::binding::{
    self, Binding, BindingError, BindingLimit, ConfinementTier, DependencyKind, Escalation, Limited,
    PROGRAM_DIRECTORIES, ProcessBinding, ProcessLimit, ProcessLimits, ProcessNetwork, SecretSource, ServerPackage,
    ServerProgram,
};
use crate::error::PolicyFault;
use crate::name::{DependencyKey, LocalName, PluginName};
use crate::permission::Permissions;
use crate::server::{ServerOffers, ServerPolicy, ServerQuestions};

/// The keys of a section with a program. The limits of a run are missing: a server runs until the host ends.
const KEYS: [&str; 19] = [
    "command",
    "package",
    "program",
    "arguments",
    "directory",
    "network",
    "environment",
    "require",
    "permissions",
    "tool",
    "elicitation",
    "resources",
    "prompts",
    "limits",
    "processes",
    "memory",
    "open-files",
    "file-bytes",
    "temporary-bytes",
];

/// The environment of a server.
#[derive(Default)]
struct ServerEnvironment {
    plain: BTreeMap<String, String>,
    secrets: BTreeMap<String, SecretSource>,
}

/// The value of an environment variable of a server.
enum ServerVariable {
    Plain(String),
    Secret(SecretSource),
}

/// Parses the section of every server.
pub(super) fn read(section: &TomlNode<'_>) -> Result<BTreeMap<PluginName, PluginSection>, Misplaced> {
    let mut servers = BTreeMap::new();
    for (name, node) in section.entries()? {
        let name = node.keep(PluginName::new(name).map_err(|fault| node.fail(fault)));
        let server = node.keep(read_server(&node));
        servers.extend(name.zip(server));
    }
    Ok(servers)
}

fn read_server(node: &TomlNode<'_>) -> Result<PluginSection, Misplaced> {
    let has = |key: &str| Ok(node.entries()?.iter().any(|(name, _)| *name == key));
    let has_url = has("url")?;
    // Otherwise each key of the other form would be reported as unknown.
    if has_url && (has("command")? || has("package")?) {
        return Err(node.fail(BindingError::ServerStart));
    }
    let table = node.table(if has_url { &address::KEYS } else { &KEYS })?;
    let mut section =
        PluginSection { limits: table.read("limits", limits::read).unwrap_or_default(), ..PluginSection::default() };
    match table.get("url") {
        Some(url) => {
            let client = address::read(&table, url)?;
            bind(&mut section, ServerPolicy::BINDING, Binding::Http(Box::new(client)), node)?;
        }
        None => read_program(&mut section, node, &table)?,
    }
    let permissions = table.read("permissions", read_permissions);
    let tools = table.read("tool", read_tools).unwrap_or_default();
    let questions = table.read("elicitation", |node| node.word(&ServerQuestions::ALL, ServerQuestions::as_str));
    let passes_on = |key: &str| table.read(key, TomlNode::boolean).unwrap_or_default();
    let offers = ServerOffers { resources: passes_on("resources"), prompts: passes_on("prompts") };
    let policy = ServerPolicy::new(permissions, tools, (questions.unwrap_or_default(), offers));
    section.server = Some(PlacedValue::new(policy, node));
    Ok(section)
}

/// Parses the program of a server, and what it gets.
fn read_program(section: &mut PluginSection, node: &TomlNode<'_>, table: &TomlTable<'_, '_>) -> Result<(), Misplaced> {
    table.read("directory", |directories| plugin::bind(section, DependencyKind::Directory, directories));
    // Nothing else is bound yet, so these keys are the directories.
    let directories: Vec<DependencyKey> = section.bindings.keys().cloned().collect();
    if let Some(node) = table.get("directory").filter(|_| directories.len() > PROGRAM_DIRECTORIES) {
        node.keep::<()>(Err(node.fail(BindingError::ProgramDirectories)));
    }
    let network = table.read("network", |network| read_network(section, network)).unwrap_or_default();
    // Without a start, the fault was noted and the policy is refused.
    let start = node.keep(read_start(node, table)).unwrap_or_default();
    let ServerEnvironment { plain, secrets } = table.read("environment", read_environment).unwrap_or_default();
    let process = ProcessBinding {
        program: start.program,
        directories,
        network,
        environment: plain,
        require: table.read("require", |node| node.word(&ConfinementTier::ALL, ConfinementTier::as_str)),
        escalate: Escalation::Never,
        limits: read_limits(table),
        server: Some(ServerProgram { package: start.package, arguments: start.arguments, secrets }),
    };
    bind(section, ServerPolicy::BINDING, Binding::Process(Box::new(process)), node)
}

/// Binds a key that the section itself chooses.
fn bind(section: &mut PluginSection, key: &str, binding: Binding, node: &TomlNode<'_>) -> Result<(), Misplaced> {
    let key = DependencyKey::new(key).map_err(|fault| node.fail(fault))?;
    // A directory of the section may already have this key.
    match section.bindings.insert(key, PlacedValue::new(binding, node)) {
        Some(_) => Err(node.fail(PolicyFault::BoundTwice)),
        None => Ok(()),
    }
}

/// Parses the client through which the server reaches the network. A server speaks any method, and encrypts its
/// connections itself.
fn read_network(section: &mut PluginSection, node: &TomlNode<'_>) -> Result<ProcessNetwork, Misplaced> {
    let client = plugin::read_server_client(node)?;
    bind(section, ServerPolicy::NETWORK, Binding::Http(Box::new(client)), node)?;
    let key = DependencyKey::new(ServerPolicy::NETWORK).map_err(|fault| node.fail(fault))?;
    section.references.push(KeyReference::new(key.clone(), DependencyKind::Http, node));
    Ok(ProcessNetwork::Http(key))
}

/// How a server is started.
#[derive(Default)]
struct StartSection {
    program: String,
    package: Option<ServerPackage>,
    arguments: Vec<String>,
}

/// Parses `command`, or `package` with its program and its arguments.
fn read_start(node: &TomlNode<'_>, table: &TomlTable<'_, '_>) -> Result<StartSection, Misplaced> {
    match (table.get("command"), table.get("package")) {
        (Some(command), None) => {
            if let Some(stray) = table.get("program").or(table.get("arguments")) {
                return Err(stray.fail(BindingError::ServerArguments));
            }
            let mut words = read_command(command)?.into_iter();
            let program = words.next().unwrap_or_default();
            Ok(StartSection { program, package: None, arguments: words.collect() })
        }
        (None, Some(package)) => {
            let spec = binding::read_package(package.text()?).map_err(|fault| package.fail(fault))?;
            let program = table.read("program", |node| node.text().map(str::to_owned));
            let arguments = table.read("arguments", read_words).unwrap_or_default();
            Ok(StartSection { program: String::new(), package: Some(ServerPackage { spec, program }), arguments })
        }
        // A misspelt key was noted already.
        (None, None) if table.is_misspelt("command") => Ok(StartSection::default()),
        (Some(_), Some(_)) | (None, None) => Err(node.fail(BindingError::ServerStart)),
    }
}

/// Parses the program and its arguments. The program is a path, because a name would depend on where the host runs.
fn read_command(node: &TomlNode<'_>) -> Result<Vec<String>, Misplaced> {
    let words = read_words(node)?;
    for (element, program) in node.list()?.iter().zip(&words).take(1) {
        binding::read_program(program).map_err(|fault| element.fail(fault))?;
    }
    Ok(words)
}

/// Parses the variables. A value that begins with `env:` or `file:` names the source of a secret.
fn read_environment(node: &TomlNode<'_>) -> Result<ServerEnvironment, Misplaced> {
    let variables = plugin::read_variables(node, |value| {
        let text = value.text()?;
        let is_secret = text.starts_with("env:") || text.starts_with("file:");
        let read = match is_secret {
            true => binding::read_source(text).map(ServerVariable::Secret),
            false => binding::read_environment_value(text).map(ServerVariable::Plain),
        };
        read.map_err(|fault| value.fail(fault))
    })?;
    let mut environment = ServerEnvironment::default();
    for (name, value) in variables {
        match value {
            ServerVariable::Plain(value) => drop(environment.plain.insert(name, value)),
            ServerVariable::Secret(source) => drop(environment.secrets.insert(name, source)),
        }
    }
    Ok(environment)
}

fn read_limits(table: &TomlTable<'_, '_>) -> ProcessLimits {
    let mut limits = ProcessLimits::default();
    for &limit in ProcessLimit::ALL.iter().filter(|limit| KEYS.contains(&limit.key())) {
        table.read(limit.key(), |node| plugin::set_amount(node, limit.unit(), |amount| limits.set(limit, amount)));
    }
    limits
}

fn read_permissions(node: &TomlNode<'_>) -> Result<Permissions, Misplaced> {
    let read = |node: &TomlNode<'_>| node.text()?.parse().map_err(|fault| node.fail(fault));
    Ok(node.each(&node.list()?, read).into_iter().collect())
}

/// Parses the permissions of single tools.
fn read_tools(node: &TomlNode<'_>) -> Result<BTreeMap<LocalName, Permissions>, Misplaced> {
    let mut tools = BTreeMap::new();
    for (name, entry) in node.entries()? {
        let name = node.keep(LocalName::new(name).map_err(|fault| entry.fail(fault)));
        tools.extend(name.zip(node.keep(read_permissions(&entry))));
    }
    Ok(tools)
}
