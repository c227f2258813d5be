//! Python: CPython in a component, by componentize-py.
//!
//! It runs the author's module in a sandbox of its own while it builds, and keeps the memory as it is then. A folder
//! that the module comes from is a folder the module can read and write meanwhile, so it gets copies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::pip::Requirements;
use crate::project::Project;
use crate::{cache, process};

const TOOLCHAIN: Requirements =
    Requirements { name: "python", text: include_str!("../../toolchains/python/requirements.txt") };

/// The SDK's own module, below the folder of the SDK.
const LIBRARY: &str = "portcullis";
/// How many of the folders that modules come from are made for this build: the packages are not.
const OWN_FOLDERS: usize = 3;
/// The component in its cache entry.
const COMPONENT: &str = "component.wasm";
/// Hexadecimal digits of a digest that tell inputs apart.
const KEY_DIGITS: usize = 16;
/// The module that componentize-py is given: it exports what the author's module declares.
const ENTRY: &str = "portcullis_entry";
/// What the author's own packages are named in.
const PACKAGES_FILE: &str = "requirements.txt";
/// A component's Python, for which packages are chosen.
const PYTHON_VERSION: &str = "3.14";
/// Folders that hold no modules of the plugin, wherever they are; nor do those whose names begin with a dot.
const NO_MODULES: [&str; 4] = ["__pycache__", "venv", "dist", "node_modules"];
/// Folders of a project that hold no modules of the plugin; deeper down, they are the author's own.
const NO_MODULES_AT_TOP: [&str; 2] = ["plugins", "tests"];
/// The most projects whose components are kept, of 20 to 40 MB each: more than a person works on in one week.
const KEPT_PROJECTS_MAX: usize = 12;
/// What a line of [`PACKAGES_FILE`] holds that means something else in each folder, or that no name of a package has.
const NO_NAME: [&str; 5] = ["/", "file:", ".whl", ".zip", ".tar"];

const REMEDY: &str = "The lines above are Python's own, from running the module while it was built; `/1` is the \
                      project, `/2` the SDK, `/3` its packages.";

pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    let tools = TOOLCHAIN.install()?;
    let packages = packages(project)?;
    let work = out.with_extension("work");
    cache::empty(&work)?;
    let made = Inputs::gather(project, packages, &work).and_then(|inputs| {
        let component = kept(&project.root, &inputs.digest()?, |component| inputs.componentize(&tools, component))?;
        fs::copy(&component, out).with_context(|| format!("cannot write {}", out.display()))
    });
    // Nothing in it is of use any more. The failure to report is the first one.
    let _ = fs::remove_dir_all(&work);
    made.map(drop)
}

/// The component of these inputs. Building takes seconds, so the last one of each project is kept.
fn kept(root: &Path, inputs: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let project = cache::digest(root.as_os_str().as_encoded_bytes());
    let components = cache::folder("python-components")?;
    let folder = components.join(&project[..KEY_DIGITS]);
    let entry = cache::entry(&folder, inputs, |folder| make(&folder.join(COMPONENT)))?;
    for other in fs::read_dir(&folder)? {
        let other = other?.path();
        if other.is_dir() && other != entry {
            // Another build of the project may be at work in it, or have removed it.
            let _ = fs::remove_dir_all(other);
        }
    }
    cache::touch(&folder)?;
    cache::forget_oldest(&components, KEPT_PROJECTS_MAX)?;
    Ok(entry.join(COMPONENT))
}

/// What a component is made of, besides the toolchain.
struct Inputs {
    /// The folders that modules come from, in the order of the folders `/0`, `/1` and so on that they run with.
    modules: Vec<PathBuf>,
    wit: PathBuf,
    world: &'static str,
}

impl Inputs {
    fn gather(project: &Project, packages: Option<PathBuf>, work: &Path) -> Result<Inputs> {
        let (entry, modules, sdk) = (work.join("entry"), work.join("modules"), work.join("sdk"));
        fs::create_dir_all(&entry)?;
        fs::write(entry.join(ENTRY).with_extension("py"), entry_module(&project.source)?)?;
        let mut but = vec![project.sdk.clone(), work.to_owned()];
        but.extend(NO_MODULES_AT_TOP.map(|name| project.root.join(name)));
        copy(project.source.parent().context("the source is in no folder")?, &modules, &but)?;
        let library = project.sdk.join(LIBRARY);
        ensure!(library.is_dir(), "{} holds no SDK for Python: it has no folder {LIBRARY}", project.sdk.display());
        copy(&library, &sdk.join(LIBRARY), &[])?;
        Ok(Inputs {
            modules: [entry, modules, sdk].into_iter().chain(packages).collect(),
            wit: project.sdk.join("wit"),
            world: if reviews(&project.source)? { "reviewing-plugin" } else { "plugin" },
        })
    }

    /// Changes whenever the component would.
    fn digest(&self) -> Result<String> {
        let mut parts = vec![TOOLCHAIN.text.to_owned(), self.world.to_owned()];
        for folder in self.modules.iter().take(OWN_FOLDERS).chain([&self.wit]) {
            parts.push(cache::digest_of(folder, &[])?);
        }
        // Packages are in a folder that is named by what it was installed from.
        parts.extend(self.modules.iter().skip(OWN_FOLDERS).map(|folder| folder.display().to_string()));
        Ok(cache::digest(parts.join("\0").as_bytes())[..KEY_DIGITS].to_owned())
    }

    fn componentize(&self, tools: &Path, out: &Path) -> Result<()> {
        let mut command = Command::new("python3");
        command.args(["-P", "-c", "from componentize_py import script; script()", "--quiet"]);
        command.arg("--wit-path").arg(&self.wit).args(["--world", self.world, "componentize", ENTRY]);
        for folder in &self.modules {
            command.arg("--python-path").arg(folder);
        }
        command.arg("--output").arg(out).env("PYTHONPATH", tools).env_remove("VIRTUAL_ENV");
        // Otherwise its own stack stands below Python's.
        command.env("RUST_BACKTRACE", "0").env_remove("RUST_LIB_BACKTRACE");
        process::run_tool(&mut command, REMEDY)
    }
}

/// The module that the build begins with.
fn entry_module(source: &Path) -> Result<String> {
    let name = source.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(char::is_numeric);
    ensure!(
        is_name && !name.is_empty() && source.extension().is_some_and(|extension| extension == "py"),
        "{} is no module: its name is letters, digits and _, and ends with .py",
        source.display()
    );
    ensure!(source.is_file(), "there is no {}", source.display());
    Ok(format!(
        "import sys\n\nsys.dont_write_bytecode = True\n\nfrom portcullis._component import load\n\n\
         Handler, Reviewer = load({name:?})\n"
    ))
}

/// Whether the author's module has a say in calls: the component then exports that too.
fn reviews(source: &Path) -> Result<bool> {
    let text = fs::read_to_string(source).with_context(|| format!("cannot read {}", source.display()))?;
    Ok(text.lines().any(|line| line.starts_with('@') && line.trim_end().ends_with(".reviewer")))
}

/// The folder of the packages that the project asks for, from the cache or through pip.
fn packages(project: &Project) -> Result<Option<PathBuf>> {
    let file = project.root.join(PACKAGES_FILE);
    if !file.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let named = text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    if !named {
        return Ok(None);
    }
    // What they come to is kept by the text alone.
    for line in text.lines() {
        ensure!(names_package(line), "{}: `{}`: name packages only", file.display(), line.trim().escape_debug());
    }
    let key = cache::digest([PYTHON_VERSION, &text].concat().as_bytes());
    cache::entry(&cache::folder("python-packages")?, &key[..KEY_DIGITS], |folder| {
        let mut pip = Command::new("python3");
        // No module of the folder that the person stands in is taken for pip or one of its own.
        pip.args(["-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]);
        // Packages without machine code: what is compiled for this computer does not run in a component.
        pip.args(["--only-binary", ":all:", "--implementation", "py", "--abi", "none", "--platform", "any"]);
        pip.args(["--python-version", PYTHON_VERSION, "--target"]).arg(folder);
        pip.arg("--requirement").arg(&file).env_remove("PIP_USER").env_remove("PYTHONPATH");
        process::run_tool(
            &mut pip,
            "Only packages in pure Python work in a component: those with a wheel for `py3-none-any`. Leave the others \
             out of requirements.txt, or name one that does the same",
        )
    })
    .with_context(|| format!("the packages of {} could not be installed", file.display()))
    .map(Some)
}

/// Whether a line names a package, or the digest of one, or nothing.
fn names_package(line: &str) -> bool {
    let line = line.split_once('#').map_or(line, |(line, _comment)| line).trim();
    if line.starts_with("--hash=") {
        return true;
    }
    !line.starts_with(['-', '.']) && !NO_NAME.iter().any(|part| line.contains(part))
}

/// Copies modules and what lies beside them, but nothing that is built or hidden, and none of the folders `but`.
fn copy(from: &Path, to: &Path, but: &[PathBuf]) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (name, place) = (entry.file_name(), entry.path());
        let hidden = name.to_str().is_none_or(|name| name.starts_with('.') || NO_MODULES.contains(&name));
        if hidden || but.contains(&place) {
            continue;
        }
        if fs::metadata(&place).is_ok_and(|kind| kind.is_dir()) {
            copy(&place, &to.join(&name), but)?;
        } else {
            fs::copy(&place, to.join(&name)).with_context(|| format!("cannot copy {}", place.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_module() {
        let folder = std::env::temp_dir().join(format!("portcullis-python-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["app.py", "my-app.py", "1st.py", "app.txt"] {
            fs::write(folder.join(name), "").unwrap();
        }
        assert!(entry_module(&folder.join("app.py")).unwrap().contains("load(\"app\")"));
        for name in ["my-app.py", "1st.py", "app.txt", "none.py"] {
            assert!(entry_module(&folder.join(name)).is_err(), "{name}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_changed_file_changes_the_digest() {
        let folder = std::env::temp_dir().join(format!("portcullis-python-digest-{}", std::process::id()));
        let digest = || cache::digest_of(&folder, &[]).unwrap();
        fs::create_dir_all(folder.join("rules")).unwrap();
        fs::write(folder.join("rules/one.py"), "1").unwrap();
        let before = digest();
        assert_eq!(before, digest());
        fs::write(folder.join("rules/one.py"), "2").unwrap();
        assert_ne!(before, digest());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn packages_are_named() {
        for line in ["", "# ./a", "idna", "idna==3.10 \\", "  --hash=sha256:00", "idna[all]>=3; python_version > '3'"] {
            assert!(names_package(line), "{line}");
        }
        for line in ["-r other.txt", " --find-links x", "./x", "/x", "..", "x @ file:x", "x.whl", "a/b", "x.tar.gz"] {
            assert!(!names_package(line), "{line}");
        }
    }

    #[test]
    fn what_is_built_is_not_copied() {
        let folder = std::env::temp_dir().join(format!("portcullis-python-copy-{}", std::process::id()));
        for path in ["plugins/hello.wasm", "sdk/portcullis/plugin.py", ".git/x", "venv/x.py", "rules/plugins/one.py"] {
            let file = folder.join("from").join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        copy(&folder.join("from"), &folder.join("to"), &["plugins", "sdk"].map(|name| folder.join("from").join(name)))
            .unwrap();
        assert!(folder.join("to/rules/plugins/one.py").exists());
        for left_out in ["plugins", "sdk", ".git", "venv"] {
            assert!(!folder.join("to").join(left_out).exists(), "{left_out}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
