//! Whether bytes are a plugin, told before anything is compiled: one component, importing only what the host serves.

use crate::contract::Contract;
use semver::Version;
use std::collections::BTreeSet;
use wasmparser::{Encoding, Parser, Payload};

/// The largest plugin, in bytes. CPython as a component is 18 MB and StarlingMonkey 12 MB; three times that leaves
/// room for what a tool brings along.
pub const COMPONENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The most names a refusal lists.
const NAMES_LISTED_MAX: usize = 16;

/// The most of a name that a refusal shows, in characters: the longest that is served has under fifty.
const NAME_SHOWN_MAX: usize = 120;

/// The most imports that are looked at, and the most exports: the standard worlds have fewer than fifty.
const NAMES_MAX: usize = 1000;

/// What a plugin may import of the contract it speaks.
const CONTRACT_IMPORTS: [&str; 4] =
    ["portcullis:tool/types", "portcullis:tool/context", "portcullis:tool/dependencies", "portcullis:tool/output"];

/// What every plugin exports of it.
const HANDLER: &str = "portcullis:tool/handler";

/// What a plugin exports of it that reviews its calls.
const REVIEWER: &str = "portcullis:tool/reviewer";

/// What a plugin exports of it that computes what its calls would change. Since 0.2.
const PREVIEWER: &str = "portcullis:tool/previewer";

/// What a plugin may export of it besides.
const CONTRACT_EXPORTS: [&str; 3] = [REVIEWER, PREVIEWER, "portcullis:tool/types"];

/// What every name of the contract begins with.
const CONTRACT: &str = "portcullis:tool/";

/// What a plugin may import besides: package and interface, and the version whose compatible releases are served.
static SERVED: [(&str, Version); 29] = [
    ("wasi:io/error", WASI),
    ("wasi:io/poll", WASI),
    ("wasi:io/streams", WASI),
    ("wasi:clocks/monotonic-clock", WASI),
    ("wasi:clocks/wall-clock", WASI),
    ("wasi:random/random", WASI),
    ("wasi:random/insecure", WASI),
    ("wasi:random/insecure-seed", WASI),
    ("wasi:cli/environment", WASI),
    ("wasi:cli/exit", WASI),
    ("wasi:cli/stdin", WASI),
    ("wasi:cli/stdout", WASI),
    ("wasi:cli/stderr", WASI),
    ("wasi:cli/terminal-input", WASI),
    ("wasi:cli/terminal-output", WASI),
    ("wasi:cli/terminal-stdin", WASI),
    ("wasi:cli/terminal-stdout", WASI),
    ("wasi:cli/terminal-stderr", WASI),
    ("wasi:filesystem/types", WASI),
    ("wasi:filesystem/preopens", WASI),
    ("wasi:http/types", WASI),
    ("wasi:http/outgoing-handler", WASI),
    ("wasi:sockets/network", WASI),
    ("wasi:sockets/instance-network", WASI),
    ("wasi:sockets/tcp", WASI),
    ("wasi:sockets/tcp-create-socket", WASI),
    ("wasi:sockets/udp", WASI),
    ("wasi:sockets/udp-create-socket", WASI),
    ("wasi:sockets/ip-name-lookup", WASI),
];

/// Served as well, in exactly these versions: before 1.0 and without a release, no two are compatible.
const SERVED_DRAFTS: [&str; 4] = [
    "wasi:keyvalue/store@0.2.0-draft",
    "wasi:keyvalue/atomics@0.2.0-draft",
    "wasi:config/store@0.2.0-rc.1",
    "wasi:logging/logging@0.1.0-draft",
];

const WASI: Version = Version::new(0, 2, 12);

/// Why bytes are not a plugin. The texts name what was found, escaped, and say what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too many bytes.
    #[error("it is larger than {} MiB: strip it, or leave out what the tool does not need", COMPONENT_BYTES_MAX >> 20)]
    TooLarge,
    /// No WebAssembly at all.
    #[error("it is not WebAssembly: {0}")]
    NotWasm(&'static str),
    /// A core module.
    #[error(
        "it is a core module, not a component: build for wasm32-wasip2, or wrap it with `wasm-tools component new`"
    )]
    CoreModule,
    /// Broken bytes.
    #[error("its bytes are malformed at offset {offset}: {reason}")]
    Malformed {
        /// Where, in bytes.
        offset: usize,
        /// What the parser says.
        reason: String,
    },
    /// Imports the host does not serve.
    #[error("it imports what this host does not serve: {}", list(.0))]
    UnknownImports(Vec<String>),
    /// No handler of a version that is served.
    #[error(
        "it exports no portcullis:tool/handler of a version that this host serves, which are {}{}",
        served(),
        .0.as_deref().map(exported).unwrap_or_default()
    )]
    NoHandler(Option<String>),
    /// Exports that look like the contract's and are none of it: they would go unheard, and their author rely on them.
    #[error(
        "it exports what no version of the contract has, so no host calls it: {}; a plugin exports handler, \
         reviewer, and previewer since 0.2",
        list(.0)
    )]
    UnknownExports(Vec<String>),
    /// Names of several versions of the contract, or two handlers: what it is would depend on the host.
    #[error("it speaks more than one version of the contract, of which a plugin speaks one: {}", list(.0))]
    MixedContracts(Vec<String>),
    /// The imports or exports have another type than the contract gives them.
    #[error("its imports or exports do not match the contract: {0}")]
    Mismatch(String),
    /// It could not be compiled.
    #[error("it could not be compiled: {0}")]
    Uncompilable(String),
}

fn served() -> String {
    Contract::ALL.map(Contract::as_str).join(" and ")
}

fn exported(name: &str) -> String {
    format!(" (it exports {})", shown(name))
}

/// A name as a refusal shows it: escaped, and not longer than a name of sense.
fn shown(name: &str) -> String {
    let start: String = name.chars().take(NAME_SHOWN_MAX).collect();
    let rest = if start.len() < name.len() { "..." } else { "" };
    format!("{}{rest}", start.escape_debug())
}

fn list(names: &[String]) -> String {
    let mut text = names.iter().take(NAMES_LISTED_MAX).map(|name| shown(name)).collect::<Vec<_>>();
    if names.len() > NAMES_LISTED_MAX {
        text.push(format!("and {} more", names.len() - NAMES_LISTED_MAX));
    }
    text.join(", ")
}

/// Checks that bytes are one component that this host can serve, and says which version of the contract it speaks.
///
/// # Errors
/// The first thing that is wrong with the bytes as a whole, or every import that is not served, or every name of the
/// contract where they are of several versions.
pub fn check_component(bytes: &[u8]) -> Result<Contract, Refusal> {
    check_header(bytes)?;
    let Names { imports, exports } = Names::read(bytes)?;
    let mut handlers = exports.iter().filter(|name| interface(name) == HANDLER).peekable();
    let first = handlers.peek().copied();
    let Some(contract) = handlers.find_map(|name| version(name)) else {
        // Said before what it imports, which is of another version as well.
        return Err(Refusal::NoHandler(first.cloned()));
    };
    let unknown: Vec<String> = imports.iter().filter(|name| !is_served(name)).cloned().collect();
    if !unknown.is_empty() {
        return Err(Refusal::UnknownImports(unknown));
    }
    let known = |name: &&String| match interface(name) {
        HANDLER => true,
        // Exported with a version that has none, it would go unheard.
        PREVIEWER => contract.previewer().is_some(),
        interface => CONTRACT_EXPORTS.contains(&interface),
    };
    let unheard: Vec<String> = exports.iter().filter(|name| !known(name)).cloned().collect();
    if !unheard.is_empty() {
        return Err(Refusal::UnknownExports(unheard));
    }
    let mut seen = BTreeSet::new();
    let once = exports.iter().all(|name| seen.insert(interface(name)));
    let names: Vec<&String> = imports.iter().filter(|name| name.starts_with(CONTRACT)).chain(&exports).collect();
    if !once || names.iter().any(|name| version(name) != Some(contract)) {
        return Err(Refusal::MixedContracts(names.into_iter().cloned().collect()));
    }
    Ok(contract)
}

/// What can be seen of a component from outside, whether or not it is a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    /// The names of everything that it imports, served or not; untrusted text.
    pub imports: Vec<String>,
    /// Whether it exports a reviewer, and so wants a say in whether its calls run.
    pub reviews: bool,
    /// Whether it exports a previewer, and so computes what its calls would change in files.
    pub previews: bool,
}

impl Surface {
    /// Reads it off a component.
    ///
    /// # Errors
    /// The bytes are no component.
    pub fn of(bytes: &[u8]) -> Result<Self, Refusal> {
        check_header(bytes)?;
        let Names { imports, exports } = Names::read(bytes)?;
        let has = |exported| exports.iter().any(|name| interface(name) == exported);
        Ok(Self { imports, reviews: has(REVIEWER), previews: has(PREVIEWER) })
    }
}

/// The names of everything that a component imports, served or not; untrusted text.
///
/// # Errors
/// The bytes are no component.
pub fn component_imports(bytes: &[u8]) -> Result<Vec<String>, Refusal> {
    Ok(Surface::of(bytes)?.imports)
}

/// The interfaces that a plugin may import, each as this host has it. Releases that are compatible are served as well.
pub fn served_imports() -> Vec<String> {
    let of_a_version =
        |contract: Contract| CONTRACT_IMPORTS.map(|interface| format!("{interface}@{}", contract.version()));
    let released = SERVED.iter().map(|(interface, version)| format!("{interface}@{version}"));
    let contracts = Contract::ALL.into_iter().flat_map(of_a_version);
    contracts.chain(released).chain(SERVED_DRAFTS.map(str::to_owned)).collect()
}

fn check_header(bytes: &[u8]) -> Result<(), Refusal> {
    if bytes.len() as u64 > COMPONENT_BYTES_MAX {
        return Err(Refusal::TooLarge);
    }
    if bytes.is_empty() {
        return Err(Refusal::NotWasm("the file is empty"));
    }
    if !bytes.starts_with(b"\0asm") {
        let text = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'(');
        return Err(Refusal::NotWasm(match text {
            true => "it looks like the text format, which has to be assembled first",
            false => "it does not begin with the magic bytes \\0asm",
        }));
    }
    if Parser::is_core_wasm(bytes) {
        return Err(Refusal::CoreModule);
    }
    Ok(())
}

/// The names at a component's surface.
#[derive(Default)]
struct Names {
    imports: Vec<String>,
    /// Those of the contract.
    exports: Vec<String>,
}

impl Names {
    fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut names = Self::default();
        let mut depth = 0_usize;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.map_err(malformed)? {
                Payload::Version { encoding: Encoding::Module | Encoding::Component, .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 1 => {
                    for import in section {
                        names.imports.push(import.map_err(malformed)?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 1 => {
                    for export in section {
                        let name = export.map_err(malformed)?.name.name;
                        names.exports.extend(name.starts_with(CONTRACT).then(|| name.to_owned()));
                    }
                }
                _ => {}
            }
            if names.imports.len() > NAMES_MAX || names.exports.len() > NAMES_MAX {
                let reason = format!("more than {NAMES_MAX} imports, or exports of the contract");
                return Err(Refusal::Malformed { offset: 0, reason });
            }
        }
        Ok(names)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function of the error alone")]
fn malformed(error: wasmparser::BinaryReaderError) -> Refusal {
    Refusal::Malformed { offset: error.offset(), reason: error.message().escape_debug().to_string() }
}

fn is_served(import: &str) -> bool {
    let of_the_contract = CONTRACT_IMPORTS.contains(&interface(import)) && version(import).is_some();
    let released =
        || SERVED.iter().any(|(served, version)| interface(import) == *served && is_release(import, version));
    of_the_contract || released() || SERVED_DRAFTS.contains(&import)
}

/// The version of the contract that a name of it is of, where it is served.
fn version(name: &str) -> Option<Contract> {
    Contract::ALL.into_iter().find(|contract| is_release(name, &contract.version()))
}

/// A name without its version.
fn interface(name: &str) -> &str {
    name.split_once('@').map_or(name, |(interface, _)| interface)
}

/// Whether a name has a version compatible with the served one: the same 0.x line.
fn is_release(name: &str, served: &Version) -> bool {
    let version = name.split_once('@').and_then(|(_, version)| Version::parse(version).ok());
    version
        .is_some_and(|version| version.pre.is_empty() && version.major == served.major && version.minor == served.minor)
}
