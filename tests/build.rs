//! Lists the guests of `guests/`, so that a test file can check that it tests every one of them.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a build script reads its crate"
)]

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=guests");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    println!("cargo::rustc-env=PORTCULLIS_COMPILED_BY={:016x}", compiler_digest(&Path::new(&root).join("..")));
    let makers = ["Cargo.lock", "wit", "tests/guests/wit", "tests/src/guest.rs"];
    println!("cargo::rustc-env=PORTCULLIS_GUESTS_MADE_BY={:016x}", digest(&Path::new(&root).join(".."), &makers));
    let modules = texts(&Path::new(&root).join("guests"));
    let components = texts(&Path::new(&root).join("guests/component"));

    let mut code = String::new();
    let mut list = |name: &str, what: &str, texts: &[(String, String)]| {
        let _ = writeln!(code, "/// {what}\npub const {name}: &[(&str, &str)] = &[");
        for (stem, path) in texts {
            let _ = writeln!(code, "    ({stem:?}, include_str!({path:?})),");
        }
        code.push_str("];\n");
    };
    list("MODULES", "Fields of a core module, by name of the guest.", &modules);
    list("COMPONENTS", "Fields of a component, by name of the guest.", &components);

    code.push_str("/// Hands the name of every guest, as an identifier, to a macro.\n");
    code.push_str("#[macro_export]\nmacro_rules! foreach_guest {\n    ($each:ident) => {\n");
    for (stem, _) in modules.iter().chain(&components) {
        let _ = writeln!(code, "        $each!({});", stem.replace('-', "_"));
    }
    code.push_str("    };\n}\n");
    let out = env::var("OUT_DIR").expect("cargo says where to write");
    fs::write(Path::new(&out).join("guests.rs"), code).expect("the build directory can be written");
}

/// Returns a digest of everything that decides what a state directory with compiled plugins looks like: the sandbox,
/// the catalog and the definitions that describe plugins, the audit log, the ledger, and the versions of the engine.
fn compiler_digest(root: &Path) -> u64 {
    let crates = ["host/definitions/src", "host/ledger/src", "host/sandbox/src"];
    digest(root, &[&["Cargo.lock", "host/runtime/src/catalog"], &crates[..]].concat())
}

/// Returns a digest of these files and folders. Cargo runs this script again when one of them changes.
fn digest(root: &Path, places: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for place in places {
        println!("cargo::rerun-if-changed=../{place}");
        hash_files(&root.join(place), &mut hasher);
    }
    hasher.finish()
}

/// Hashes a file, or all files below a folder in the order of their names.
fn hash_files(place: &Path, hasher: &mut DefaultHasher) {
    if !place.is_dir() {
        fs::read(place).expect("a source can be read").hash(hasher);
        return;
    }
    let entries = fs::read_dir(place).expect("a folder of sources can be listed");
    let mut places: Vec<_> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    places.sort();
    for place in places {
        place.file_name().hash(hasher);
        hash_files(&place, hasher);
    }
}

/// Returns the stem and the path of each text in a folder, sorted.
fn texts(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("the folder of guests is there");
    let mut texts: Vec<_> = entries
        .map(|entry| entry.expect("a folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "wat"))
        .map(|path| {
            let stem = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            (stem, path.to_string_lossy().into_owned())
        })
        .collect();
    texts.sort();
    texts
}
