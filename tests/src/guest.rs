//! Builds guests: from a text in `guests/` to the bytes of a component.
//!
//! A text contains the fields of a core module that matter to the attack. `guests/frame/` provides the missing ones of
//! `$describe`, `$execute`, `$post`, `$realloc` and `$memory`, and the harness writes the manifest. A text in
//! `guests/component/` contains fields of a component, which are added to a well-behaved one.
//!
//! A text uses the names of the first version of the contract. For another version the names are replaced: the versions
//! do not differ in the bytes that these guests return. Tests without an explicit version use the one in
//! `PORTCULLIS_TEST_CONTRACT`, so that a suite can run with each version.

use crate::{COMPONENTS, MODULES, Manifest, holds, renamed};
use data_encoding::HEXLOWER;
use portcullis::plugins::Contract;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs};
use tempfile::NamedTempFile;
use wasmparser::{Parser, Payload};
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::{PackageId, Resolve};

/// The address of the manifest in a guest's memory.
const MANIFEST_AT: u32 = 4096;

/// The functions that a text need not define.
const FRAME: [(&str, &str); 4] = [
    ("(func $describe", include_str!("../guests/frame/describe.wat")),
    ("(func $execute", include_str!("../guests/frame/execute.wat")),
    ("(func $post", include_str!("../guests/frame/post.wat")),
    ("(func $realloc", include_str!("../guests/frame/realloc.wat")),
];

/// The worlds of the guests.
const WORLDS: &str = include_str!("../guests/wit/world.wit");

/// A world for versions with previewers.
const PREVIEWING_WORLD: &str = "
    world previewing-guest {
        include guest;
        export portcullis:tool/previewer@0.1.0;
    }
";

/// The digest of everything that decides how a guest is made of its text.
const MADE_BY: &str = env!("PORTCULLIS_GUESTS_MADE_BY");

/// The common part of every module.
const ALWAYS: &str = include_str!("../guests/frame/always.wat");

/// Returns the contract version of guests whose test does not specify one.
pub fn usual_contract() -> Contract {
    let name = env::var("PORTCULLIS_TEST_CONTRACT").unwrap_or_else(|_| Contract::V0_1.to_string());
    let named = Contract::ALL.into_iter().find(|contract| contract.as_str() == name);
    named.unwrap_or_else(|| panic!("PORTCULLIS_TEST_CONTRACT names {name}, which no host supports"))
}

/// Builds the guest with this name and manifest as a component.
pub fn guest(name: &str, manifest: &Manifest) -> Vec<u8> {
    guest_of(usual_contract(), name, manifest)
}

/// Builds the guest with this name in a version of the contract.
pub fn guest_of(contract: Contract, name: &str, manifest: &Manifest) -> Vec<u8> {
    if let Some((_, fields)) = MODULES.iter().find(|(stem, _)| *stem == name) {
        return component(&module_of(contract, fields, manifest));
    }
    match COMPONENTS.iter().find(|(stem, _)| *stem == name) {
        Some((_, fields)) => with_fields(&component(&module_of(contract, "", manifest)), &speaking(contract, fields)),
        None => panic!("there is no guest {name} in tests/guests"),
    }
}

/// Builds the core module of a guest.
pub fn module(fields: &str, manifest: &Manifest) -> Vec<u8> {
    module_of(usual_contract(), fields, manifest)
}

/// Builds the core module of a guest in a version of the contract.
pub fn module_of(contract: Contract, fields: &str, manifest: &Manifest) -> Vec<u8> {
    let manifest = manifest.encode(MANIFEST_AT);
    let heap = MANIFEST_AT as usize + manifest.len();
    let mut text = format!("(module\n{fields}\n{ALWAYS}\n");
    if !fields.contains("(memory $memory") {
        let _ = writeln!(text, "(memory $memory {})", heap / 65536 + 2);
    }
    for (defines, field) in FRAME {
        if !fields.contains(defines) {
            text.push_str(field);
        }
    }
    let _ = writeln!(text, "(global $manifest i32 (i32.const {MANIFEST_AT}))");
    let _ = writeln!(text, "(global $heap (mut i32) (i32.const {heap}))");
    let _ = write!(text, "(data (i32.const {MANIFEST_AT}) \"");
    for byte in &manifest {
        let _ = write!(text, "\\{byte:02x}");
    }
    text.push_str("\"))");
    parsed(&speaking(contract, &text))
}

/// Returns the binary form of a text.
fn parsed(text: &str) -> Vec<u8> {
    kept("text", &[text.as_bytes()], || wat::parse_str(text).unwrap_or_else(|error| panic!("{error}")))
}

/// The names in the contract: its interfaces, and its world.
const INTERFACES: [&str; 8] =
    ["types", "context", "dependencies", "output", "handler", "reviewer", "previewer", "plugin"];

/// Replaces the names of the first version of the contract in a text with those of another version.
fn speaking(contract: Contract, text: &str) -> String {
    let names = |interface: &str, contract: Contract| format!("portcullis:tool/{interface}@{contract}.0");
    INTERFACES.iter().fold(text.to_owned(), |text, interface| {
        text.replace(&names(interface, Contract::V0_1), &names(interface, contract))
    })
}

/// Returns the contract version of a core module.
fn spoken(module: &[u8]) -> Contract {
    let speaks = |contract: &Contract| holds(module, format!("portcullis:tool/handler@{contract}.0#describe"));
    Contract::ALL.into_iter().find(speaks).expect("a guest exports the handler")
}

/// Wraps a core module as a component of the world `guest`, or of another world if it exports a review or a preview.
pub fn component(module: &[u8]) -> Vec<u8> {
    kept("component", &[module], || encoded(module))
}

fn encoded(module: &[u8]) -> Vec<u8> {
    let contract = spoken(module);
    let (resolve, package) = wit(contract);
    let exports = |interface, function| holds(module, format!("portcullis:tool/{interface}@{contract}.0#{function}"));
    let world = match (exports("reviewer", "review"), exports("previewer", "preview")) {
        (true, _) => "reviewing-guest",
        (false, true) => "previewing-guest",
        (false, false) => "guest",
    };
    typed(module, &resolve, package, world)
}

/// Wraps a core module as a component of a world.
pub fn typed(module: &[u8], resolve: &Resolve, package: PackageId, world: &str) -> Vec<u8> {
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    let mut module = module.to_vec();
    wit_component::embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8).unwrap();
    let encoded = ComponentEncoder::default().module(&module).and_then(|mut encoder| encoder.encode());
    encoded.unwrap_or_else(|error| panic!("{error:#}"))
}

/// Resolves a version of the contract with its dependencies, and the package of the guests' worlds.
pub fn wit(contract: Contract) -> (Resolve, PackageId) {
    let mut resolve = Resolve::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../wit/v{contract}"));
    resolve.push_dir(folder).unwrap();
    let previewing = if contract == Contract::V0_1 { "" } else { PREVIEWING_WORLD };
    let package = resolve.push_str("world.wit", &speaking(contract, &[WORLDS, previewing].concat())).unwrap();
    (resolve, package)
}

/// Moves a component to another version of the contract: the same code under other names, with that version's types.
/// This only works for guests that return no blob, whose layout in memory differs between the versions. The rest of the
/// result's layout is the same.
pub fn moved(component: &[u8], contract: Contract) -> Vec<u8> {
    let mut module = largest_module(component).to_vec();
    let spoken = spoken(&module);
    if spoken == contract {
        return component.to_vec();
    }
    for interface in INTERFACES {
        let named = |contract: Contract| format!("portcullis:tool/{interface}@{contract}.0");
        (module, _) = renamed(&module, &named(spoken), &named(contract));
    }
    self::component(&module)
}

/// Returns the guest's own module. The other modules of a component only contain glue for linking.
fn largest_module(component: &[u8]) -> &[u8] {
    let ranges = Parser::new(0).parse_all(component).filter_map(|payload| match payload.unwrap() {
        Payload::ModuleSection { unchecked_range, .. } => Some(unchecked_range),
        _ => None,
    });
    &component[ranges.max_by_key(ExactSizeIterator::len).expect("a component holds a module")]
}

/// Appends fields to a component.
pub fn with_fields(component: &[u8], fields: &str) -> Vec<u8> {
    kept("fields", &[component, fields.as_bytes()], || {
        let text = wasmprinter::print_bytes(component).unwrap();
        let text = text.trim_end().strip_suffix(')').unwrap();
        wat::parse_str(format!("{text}\n{fields}\n)")).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// Returns what `make` makes of these inputs, which all tests share: each runs in a process of its own, and would spend
/// half of its time on parsing the contract. The folder has the digest of everything else that decides the result.
fn kept(step: &str, inputs: &[&[u8]], make: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let mut key = Sha256::new_with_prefix(step);
    for input in inputs {
        key.update(input.len().to_be_bytes());
        key.update(input);
    }
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/test-guests")).join(MADE_BY);
    let file = folder.join(HEXLOWER.encode(&key.finalize())).with_extension("wasm");
    if let Ok(bytes) = fs::read(&file) {
        return bytes;
    }
    let bytes = make();
    fs::create_dir_all(&folder).unwrap();
    // Another test may read the file at this moment, so it appears whole.
    let mut partial = NamedTempFile::new_in(&folder).unwrap();
    partial.write_all(&bytes).unwrap();
    partial.persist(&file).unwrap();
    bytes
}
