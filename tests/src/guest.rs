//! Guests: from a text in `guests/` to the bytes of a component.
//!
//! A text holds the fields of a core module, those that matter to the attack; `guests/frame/` supplies what the text
//! does not define of `$describe`, `$execute`, `$post`, `$realloc` and `$memory`, and the harness writes the manifest.
//! A text in `guests/component/` holds fields of a component, which are added to those of a well-behaved one.

use crate::{COMPONENTS, MODULES, Manifest};
use std::fmt::Write;
use std::path::Path;
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::{PackageId, Resolve};

/// Where the manifest stands in a guest's memory.
const MANIFEST_AT: u32 = 4096;

/// What a text need not define.
const FRAME: [(&str, &str); 4] = [
    ("(func $describe", include_str!("../guests/frame/describe.wat")),
    ("(func $execute", include_str!("../guests/frame/execute.wat")),
    ("(func $post", include_str!("../guests/frame/post.wat")),
    ("(func $realloc", include_str!("../guests/frame/realloc.wat")),
];

/// What every module has.
const ALWAYS: &str = include_str!("../guests/frame/always.wat");

/// The guest of a name, as a component that describes itself so.
pub fn guest(name: &str, manifest: &Manifest) -> Vec<u8> {
    if let Some((_, fields)) = MODULES.iter().find(|(stem, _)| *stem == name) {
        return component(&module(fields, manifest));
    }
    match COMPONENTS.iter().find(|(stem, _)| *stem == name) {
        Some((_, fields)) => with_fields(&component(&module("", manifest)), fields),
        None => panic!("there is no guest {name} in tests/guests"),
    }
}

/// The core module of a guest.
pub fn module(fields: &str, manifest: &Manifest) -> Vec<u8> {
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
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// The export of a guest that reviews its calls.
const REVIEW: &str = "portcullis:tool/reviewer@0.1.0#review";

/// A core module as a component of the world `guest`, or of `reviewing-guest` where it exports a review.
pub fn component(module: &[u8]) -> Vec<u8> {
    let (resolve, package) = contract();
    let reviews = module.windows(REVIEW.len()).any(|name| name == REVIEW.as_bytes());
    let world = resolve.select_world(&[package], Some(if reviews { "reviewing-guest" } else { "guest" })).unwrap();
    let mut module = module.to_vec();
    wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    let encoded = ComponentEncoder::default().module(&module).and_then(|mut encoder| encoder.encode());
    encoded.unwrap_or_else(|error| panic!("{error:#}"))
}

/// The contract with everything it names, and the package of the guests' worlds.
pub fn contract() -> (Resolve, PackageId) {
    let mut resolve = Resolve::default();
    resolve.push_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit/v0.1")).unwrap();
    let package = resolve.push_str("world.wit", include_str!("../guests/wit/world.wit")).unwrap();
    (resolve, package)
}

/// A component with fields added at its end.
pub fn with_fields(component: &[u8], fields: &str) -> Vec<u8> {
    let text = wasmprinter::print_bytes(component).unwrap();
    let text = text.trim_end().strip_suffix(')').unwrap();
    wat::parse_str(format!("{text}\n{fields}\n)")).unwrap_or_else(|error| panic!("{error}"))
}
