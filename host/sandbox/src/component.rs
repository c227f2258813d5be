//! Whether bytes are a plugin, told before anything is compiled: one component, importing only what the host serves.

use semver::Version;
use wasmparser::{Encoding, Parser, Payload};

/// The largest plugin, in bytes. CPython as a component is 18 MB and StarlingMonkey 12 MB; three times that leaves
/// room for what a tool brings along.
pub const COMPONENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The most names a refusal lists.
const NAMES_LISTED_MAX: usize = 16;

/// The most imports that are looked at: the standard worlds have fewer than fifty.
const IMPORTS_MAX: usize = 1000;

/// What a plugin may import: package and interface, and the version whose compatible releases are served.
static SERVED: [(&str, Version); 33] = [
    ("portcullis:tool/types", Version::new(0, 1, 0)),
    ("portcullis:tool/context", Version::new(0, 1, 0)),
    ("portcullis:tool/dependencies", Version::new(0, 1, 0)),
    ("portcullis:tool/output", Version::new(0, 1, 0)),
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
const SERVED_DRAFTS: [&str; 3] =
    ["wasi:keyvalue/store@0.2.0-draft", "wasi:config/store@0.2.0-rc.1", "wasi:logging/logging@0.1.0-draft"];

const WASI: Version = Version::new(0, 2, 12);

/// What every plugin exports.
const HANDLER: (&str, Version) = ("portcullis:tool/handler", Version::new(0, 1, 0));

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
    #[error("it exports no portcullis:tool/handler@0.1, which every plugin must{}", .0.as_deref().map(exported).unwrap_or_default())]
    NoHandler(Option<String>),
    /// The imports or exports have another type than the contract gives them.
    #[error("its imports or exports do not match the contract: {0}")]
    Mismatch(String),
    /// It could not be compiled.
    #[error("it could not be compiled: {0}")]
    Uncompilable(String),
}

fn exported(name: &str) -> String {
    format!(" (it exports {})", name.escape_debug())
}

fn list(names: &[String]) -> String {
    let mut text = names.iter().take(NAMES_LISTED_MAX).map(|name| name.escape_debug().to_string()).collect::<Vec<_>>();
    if names.len() > NAMES_LISTED_MAX {
        text.push(format!("and {} more", names.len() - NAMES_LISTED_MAX));
    }
    text.join(", ")
}

/// Checks that bytes are one component that this host can serve.
///
/// # Errors
/// The first thing that is wrong with the bytes as a whole, or every import that is not served.
pub fn check_component(bytes: &[u8]) -> Result<(), Refusal> {
    check_header(bytes)?;
    let names = Names::read(bytes)?;
    let unknown: Vec<String> = names.imports.into_iter().filter(|name| !is_served(name)).collect();
    if !unknown.is_empty() {
        return Err(Refusal::UnknownImports(unknown));
    }
    match names.handler {
        Some(name) if matches(&name, &HANDLER) => Ok(()),
        other => Err(Refusal::NoHandler(other)),
    }
}

/// The names of everything that a component imports, served or not; untrusted text.
///
/// # Errors
/// The bytes are no component.
pub fn component_imports(bytes: &[u8]) -> Result<Vec<String>, Refusal> {
    check_header(bytes)?;
    Ok(Names::read(bytes)?.imports)
}

/// The interfaces that a plugin may import, each as this host has it. Releases that are compatible are served as well.
pub fn served_imports() -> Vec<String> {
    let released = SERVED.iter().map(|(interface, version)| format!("{interface}@{version}"));
    released.chain(SERVED_DRAFTS.map(str::to_owned)).collect()
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
    handler: Option<String>,
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
                        names.note_export(export.map_err(malformed)?.name.name);
                    }
                }
                _ => {}
            }
            if names.imports.len() > IMPORTS_MAX {
                return Err(Refusal::Malformed { offset: 0, reason: format!("more than {IMPORTS_MAX} imports") });
            }
        }
        Ok(names)
    }

    fn note_export(&mut self, name: &str) {
        let better = matches(name, &HANDLER) || self.handler.is_none();
        if name.starts_with("portcullis:tool/handler") && better {
            self.handler = Some(name.to_owned());
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function of the error alone")]
fn malformed(error: wasmparser::BinaryReaderError) -> Refusal {
    Refusal::Malformed { offset: error.offset(), reason: error.message().escape_debug().to_string() }
}

fn is_served(import: &str) -> bool {
    SERVED.iter().any(|served| matches(import, served)) || SERVED_DRAFTS.contains(&import)
}

/// Whether `name` is the interface in a version compatible with the served one: the same 0.x line.
fn matches(name: &str, (interface, served): &(&str, Version)) -> bool {
    let Some((base, version)) = name.split_once('@') else { return false };
    base == *interface
        && Version::parse(version).is_ok_and(|version| {
            version.pre.is_empty() && version.major == served.major && version.minor == served.minor
        })
}
