//! Checks before compilation whether bytes are a plugin: one component that imports only what the host provides.

use crate::contract::Contract;
use semver::Version;
use std::collections::BTreeSet;
use wasmparser::{Encoding, Parser, Payload};

/// Maximum size of a plugin, in bytes. CPython as a component is 18 MB and StarlingMonkey 12 MB. Three times that
/// leaves room for a tool's own code and data.
pub const COMPONENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Maximum names that a refusal lists.
const NAMES_LISTED_MAX: usize = 16;

/// Maximum length of a name in a refusal, in characters. The longest supported name has fewer than fifty.
const NAME_SHOWN_MAX: usize = 120;

/// Maximum imports, and maximum exports of the contract. The standard worlds have fewer than fifty.
const NAMES_MAX: usize = 1000;

/// The interfaces of the contract that a plugin of any version may import.
const CONTRACT_IMPORTS: [&str; 4] =
    ["portcullis:tool/types", "portcullis:tool/context", "portcullis:tool/dependencies", "portcullis:tool/output"];

/// The interfaces of programs and of other tools. Since 0.2.
const SINCE_0_2: [&str; 2] = ["portcullis:tool/programs", "portcullis:tool/tools"];

/// Returns the interfaces that a plugin of a version may import.
fn contract_imports(contract: Contract) -> impl Iterator<Item = &'static str> {
    let added: &[&str] = match contract {
        Contract::V0_1 => &[],
        Contract::V0_2 => &SINCE_0_2,
    };
    CONTRACT_IMPORTS.into_iter().chain(added.iter().copied())
}

/// The interface that every plugin exports.
const HANDLER: &str = "portcullis:tool/handler";

/// The interface of a plugin that reviews its calls.
const REVIEWER: &str = "portcullis:tool/reviewer";

/// The interface of a plugin that computes what its calls would change. Since 0.2.
const PREVIEWER: &str = "portcullis:tool/previewer";

/// The interface of a plugin that makes tools from its settings and its directories. Since 0.2.
const GENERATOR: &str = "portcullis:tool/generator";

/// The interface of a plugin that offers some callers less of its tools. Since 0.2.
const PREPARER: &str = "portcullis:tool/preparer";

/// The interfaces of the contract that a plugin may export in addition to the handler.
const CONTRACT_EXPORTS: [&str; 5] = [REVIEWER, PREVIEWER, GENERATOR, PREPARER, "portcullis:tool/types"];

/// The prefix of every name of the contract.
const CONTRACT: &str = "portcullis:tool/";

/// The other interfaces that a plugin may import, with the version whose compatible releases are provided.
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

/// Drafts that are provided in exactly these versions, because no two versions before a release are compatible.
const SERVED_DRAFTS: [&str; 4] = [
    "wasi:keyvalue/store@0.2.0-draft",
    "wasi:keyvalue/atomics@0.2.0-draft",
    "wasi:config/store@0.2.0-rc.1",
    "wasi:logging/logging@0.1.0-draft",
];

const WASI: Version = Version::new(0, 2, 12);

/// Why bytes are not a plugin. The messages name what was found, escaped, and say what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The file is too large.
    #[error("it is larger than {} MiB: strip it, or leave out what the tool does not need", COMPONENT_BYTES_MAX >> 20)]
    TooLarge,
    /// The bytes are not WebAssembly.
    #[error("it is not WebAssembly: {0}")]
    NotWasm(&'static str),
    /// The bytes are a core module.
    #[error(
        "it is a core module, not a component: build for wasm32-wasip2, or wrap it with `wasm-tools component new`"
    )]
    CoreModule,
    /// The bytes are malformed.
    #[error("its bytes are malformed at offset {offset}: {reason}")]
    Malformed {
        /// The offset in bytes.
        offset: usize,
        /// The parser's message.
        reason: String,
    },
    /// It imports interfaces that the host does not provide.
    #[error("it imports interfaces that this host does not provide: {}", list(.0))]
    UnknownImports(Vec<String>),
    /// It exports no handler in a supported version.
    #[error(
        "it exports no portcullis:tool/handler in a version that this host supports, which are {}{}",
        served(),
        .0.as_deref().map(exported).unwrap_or_default()
    )]
    NoHandler(Option<String>),
    /// It exports names of the contract's package that its version of the contract does not have. No host would call
    /// them, although the author may rely on them.
    #[error(
        "it exports names that are not in its version of the contract, so no host would call them: {}; a plugin can \
         export handler, reviewer and, since 0.2, previewer, generator and preparer",
        list(.0)
    )]
    UnknownExports(Vec<String>),
    /// It uses several versions of the contract, or exports two handlers, so its behaviour would depend on the host.
    #[error("it uses more than one version of the contract, but a plugin must use exactly one: {}", list(.0))]
    MixedContracts(Vec<String>),
    /// An import or export does not have the type that the contract defines.
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

/// Returns a name as a refusal shows it: escaped, and truncated if it is too long.
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

/// Checks that bytes are a component that this host can run, and returns the version of its contract.
///
/// # Errors
/// The first problem with the bytes as a whole, all imports that are not provided, all unknown exports, or all names of
/// the contract if they have several versions.
pub fn check_component(bytes: &[u8]) -> Result<Contract, Refusal> {
    check_header(bytes)?;
    let SurfaceNames { imports, exports } = SurfaceNames::read(bytes)?;
    let mut handlers = exports.iter().filter(|name| interface(name) == HANDLER).peekable();
    let first = handlers.peek().copied();
    let Some(contract) = handlers.find_map(|name| version(name)) else {
        // Reported first, because the imports of an unsupported version are also unknown.
        return Err(Refusal::NoHandler(first.cloned()));
    };
    let unknown: Vec<String> = imports.iter().filter(|name| !is_served(name)).cloned().collect();
    if !unknown.is_empty() {
        return Err(Refusal::UnknownImports(unknown));
    }
    let known = |name: &&String| match interface(name) {
        HANDLER => true,
        // In a version without them, no host would call them.
        PREVIEWER => contract.previewer().is_some(),
        GENERATOR => contract.generator().is_some(),
        PREPARER => contract.preparer().is_some(),
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

/// The imports and exports of a component, whether or not it is a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    /// The names of all imports, whether or not the host provides them. Untrusted text.
    pub imports: Vec<String>,
    /// Whether it exports a reviewer, which reviews its calls before they run.
    pub reviews: bool,
    /// Whether it exports a previewer, which computes what its calls would change in files.
    pub previews: bool,
    /// Whether it exports a generator, which makes tools from its settings and its directories.
    pub generates: bool,
    /// Whether it exports a preparer, which offers some callers less of its tools.
    pub prepares: bool,
}

impl Surface {
    /// Reads the surface of a component.
    ///
    /// # Errors
    /// The bytes are not a component.
    pub fn of(bytes: &[u8]) -> Result<Self, Refusal> {
        check_header(bytes)?;
        let SurfaceNames { imports, exports } = SurfaceNames::read(bytes)?;
        let has = |exported| exports.iter().any(|name| interface(name) == exported);
        let (reviews, previews) = (has(REVIEWER), has(PREVIEWER));
        Ok(Self { imports, reviews, previews, generates: has(GENERATOR), prepares: has(PREPARER) })
    }
}

/// Returns the names of all imports of a component, whether or not the host provides them. Untrusted text.
///
/// # Errors
/// The bytes are not a component.
pub fn component_imports(bytes: &[u8]) -> Result<Vec<String>, Refusal> {
    Ok(Surface::of(bytes)?.imports)
}

/// Returns the interfaces that a plugin may import, in this host's versions. Compatible releases are provided as well.
pub fn served_imports() -> Vec<String> {
    let of_a_version = |contract: Contract| {
        contract_imports(contract).map(move |interface| format!("{interface}@{}", contract.version()))
    };
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
            true => "it looks like the WebAssembly text format; assemble it first",
            false => "it does not begin with the magic bytes \\0asm",
        }));
    }
    if Parser::is_core_wasm(bytes) {
        return Err(Refusal::CoreModule);
    }
    Ok(())
}

/// The names of a component's imports and exports.
#[derive(Default)]
struct SurfaceNames {
    imports: Vec<String>,
    /// Only the exports of the contract.
    exports: Vec<String>,
}

impl SurfaceNames {
    fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let mut names = Self::default();
        let mut depth = 0_usize;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.map_err(malformed)? {
                // Only the outermost component counts. What a nested one imports, the outer one provides.
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
    let of_the_contract =
        version(import).is_some_and(|contract| contract_imports(contract).any(|served| served == interface(import)));
    let released =
        || SERVED.iter().any(|(served, version)| interface(import) == *served && is_release(import, version));
    of_the_contract || released() || SERVED_DRAFTS.contains(&import)
}

/// Returns the version of the contract in a name, if it is supported.
fn version(name: &str) -> Option<Contract> {
    Contract::ALL.into_iter().find(|contract| is_release(name, &contract.version()))
}

/// Returns a name without its version.
fn interface(name: &str) -> &str {
    name.split_once('@').map_or(name, |(interface, _)| interface)
}

/// Returns whether a name has a version that is compatible with the provided one: the same major and minor version.
fn is_release(name: &str, served: &Version) -> bool {
    let version = name.split_once('@').and_then(|(_, version)| Version::parse(version).ok());
    version
        .is_some_and(|version| version.pre.is_empty() && version.major == served.major && version.minor == served.minor)
}
