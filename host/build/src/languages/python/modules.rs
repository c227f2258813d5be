//! Copies the modules of a build, so that code that runs during the build cannot change the originals.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::project_file;

/// Folders that contain no modules of the plugin, at any depth. Folders whose name starts with a dot do not either.
const NO_MODULES: [&str; 4] = ["__pycache__", "venv", "dist", "node_modules"];

/// A copy of the files and folders below a folder. Follows links that stay inside it.
pub(super) struct Modules<'a> {
    /// The folder, with links resolved.
    root: PathBuf,
    /// Folders to skip.
    but: &'a [PathBuf],
    /// Whether to copy generated and hidden folders as well.
    all: bool,
    /// The folders that are being copied, with links resolved, to detect cycles.
    open: Vec<PathBuf>,
}

/// An entry of a folder.
enum ModuleEntry {
    File,
    Folder(PathBuf),
    /// Something that cannot contain a module, and the reason.
    Other(&'static str),
}

impl<'a> Modules<'a> {
    /// Copies what the author wrote below `root`, without generated and hidden folders and without the folders `but`.
    pub(super) fn of(root: &Path, but: &'a [PathBuf]) -> Result<Modules<'a>> {
        let root = root.canonicalize().with_context(|| format!("there is no {}", root.display()))?;
        Ok(Modules { root, but, all: false, open: Vec::new() })
    }

    /// Copies everything below `root`.
    pub(super) fn all_of(root: &Path) -> Result<Modules<'a>> {
        Ok(Modules { all: true, ..Modules::of(root, &[])? })
    }

    /// Copies the folder `from`. Prints the skipped entries that an author may miss to standard error.
    pub(super) fn copy(mut self, from: &Path, to: &Path) -> Result<()> {
        let real = from.canonicalize().with_context(|| format!("there is no {}", from.display()))?;
        ensure!(real.starts_with(&self.root), "{} is not in {}", from.display(), self.root.display());
        self.copy_folder(from, real, to)
    }

    fn copy_folder(&mut self, from: &Path, real: PathBuf, to: &Path) -> Result<()> {
        fs::create_dir_all(to)?;
        let read = || format!("cannot read {}", from.display());
        self.open.push(real);
        for entry in fs::read_dir(from).with_context(read)? {
            let name = entry.with_context(read)?.file_name();
            let place = from.join(&name);
            // An import names modules by identifiers, so a name that is not UTF-8 belongs to none.
            let hidden = name.to_str().is_none_or(|name| name.starts_with('.') || NO_MODULES.contains(&name));
            if (hidden && !self.all) || self.but.contains(&place) {
                continue;
            }
            match self.entry(&place).with_context(|| format!("cannot read {}", place.display()))? {
                ModuleEntry::Folder(real) => self.copy_folder(&place, real, &to.join(&name))?,
                ModuleEntry::File => {
                    project_file::copy(&place, &to.join(&name), project_file::SOURCE_BYTES_MAX)
                        .with_context(|| format!("cannot copy {}", place.display()))?;
                }
                ModuleEntry::Other(why) => eprintln!("skipped: {}: {why}", place.display()),
            }
        }
        self.open.pop();
        Ok(())
    }

    fn entry(&self, place: &Path) -> Result<ModuleEntry> {
        if fs::symlink_metadata(place)?.is_symlink() && !place.exists() {
            return Ok(ModuleEntry::Other("a link to nothing"));
        }
        let real = place.canonicalize()?;
        let kind = fs::metadata(&real)?.file_type();
        Ok(if !real.starts_with(&self.root) {
            ModuleEntry::Other("a link that leads out of the project; replace it with a copy")
        } else if self.open.contains(&real) {
            ModuleEntry::Other("a link to a folder that contains it")
        } else if kind.is_dir() {
            ModuleEntry::Folder(real)
        } else if kind.is_file() {
            ModuleEntry::File
        } else {
            ModuleEntry::Other("neither a file nor a folder")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn generated_folders_are_not_copied() {
        let folder = folder_of("built");
        for path in ["plugins/hello.wasm", "sdk/portcullis/plugin.py", ".git/x", "venv/x.py", "rules/plugins/one.py"] {
            write(&folder.join("from").join(path));
        }
        let but = ["plugins", "sdk"].map(|name| folder.join("from").join(name));
        copy(&folder, &but);
        assert!(folder.join("to/rules/plugins/one.py").exists());
        for left_out in ["plugins", "sdk", ".git", "venv"] {
            assert!(!folder.join("to").join(left_out).exists(), "{left_out}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn packages_are_copied_whole() {
        let folder = folder_of("whole");
        for path in ["venv/__init__.py", "one/.data/x"] {
            write(&folder.join("from").join(path));
        }
        Modules::all_of(&folder.join("from")).unwrap().copy(&folder.join("from"), &folder.join("to")).unwrap();
        assert!(folder.join("to/venv/__init__.py").exists() && folder.join("to/one/.data/x").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    /// A project from another person can contain anything that a file system supports.
    #[test]
    fn what_is_not_a_module_is_skipped() {
        let folder = folder_of("links");
        let from = folder.join("from");
        write(&from.join("rules/one.py"));
        write(&folder.join("secret"));
        for (target, link) in [
            ("rules/one.py", "two.py"),
            ("rules", "more"),
            (".", "again"),
            ("..", "rules/back"),
            ("nowhere", "nothing.py"),
            ("itself", "itself"),
            ("../secret", "secret.py"),
            ("/", "all"),
        ] {
            symlink(target, from.join(link)).unwrap();
        }
        let _socket = UnixListener::bind(from.join("socket")).unwrap();
        copy(&folder, &[]);
        for there in ["rules/one.py", "two.py", "more/one.py"] {
            assert!(fs::symlink_metadata(folder.join("to").join(there)).unwrap().is_file(), "{there}");
        }
        for left_out in ["again", "rules/back", "nothing.py", "itself", "secret.py", "all", "socket"] {
            assert!(fs::symlink_metadata(folder.join("to").join(left_out)).is_err(), "{left_out}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    fn copy(folder: &Path, but: &[PathBuf]) {
        let from = folder.join("from");
        Modules::of(&from, but).unwrap().copy(&from, &folder.join("to")).unwrap();
    }

    fn folder_of(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("portcullis-python-{name}-{}", std::process::id()));
        crate::cache::empty(&folder).unwrap();
        folder
    }

    fn write(file: &Path) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
}
