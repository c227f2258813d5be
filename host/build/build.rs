//! Generates a table of all files below `sdk`, so that the program includes the SDKs and the templates.
#![expect(clippy::disallowed_methods, reason = "a build script reads the repository and writes where cargo says")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

/// Folders of generated files, and folders that only this repository uses.
const LEFT_OUT: [&str; 9] =
    ["target", "node_modules", "__pycache__", ".mypy_cache", ".zig-cache", "zig-out", "plugins", ".venv", "dist"];

fn main() -> io::Result<()> {
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk").canonicalize()?;
    let mut table = String::from("/// All files, sorted by path.\npub(crate) static FILES: &[EmbeddedFile] = &[\n");
    list(&sdk, "", &mut table)?;
    table.push_str("];\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("embedded.rs"), table)
}

fn list(folder: &Path, prefix: &str, table: &mut String) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().into_string().map_err(|_| io::Error::other("a file name is not UTF-8"))?;
        if LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        let (place, path) = (entry.path(), format!("{prefix}{name}"));
        // Follow links, unlike the entry's own type, because the contract is a link.
        if fs::metadata(&place)?.is_dir() {
            list(&place, &format!("{path}/"), table)?;
        } else {
            println!("cargo:rerun-if-changed={}", place.display());
            writeln!(table, "    EmbeddedFile {{ path: {path:?}, bytes: include_bytes!({place:?}) }},")
                .map_err(io::Error::other)?;
        }
    }
    Ok(())
}
