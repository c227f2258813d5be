//! Python: CPython in a component, built with componentize-py.
//!
//! During the build, componentize-py runs the author's module in its own sandbox and takes a snapshot of the memory.
//! The module can read and write the folders that modules come from, so it gets copies of them and of its packages.

mod check;
mod modules;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, ensure};

use self::modules::Modules;
use crate::pip::{self, Requirements};
use crate::project::Project;
use crate::{cache, component, process, project_file};

const TOOLCHAIN: Requirements =
    Requirements { name: "python", text: include_str!("../../toolchains/python/requirements.txt") };

/// The SDK's Python package in the SDK's folder.
const LIBRARY: &str = "portcullis";
/// The file name of the component in its cache entry.
const COMPONENT: &str = "component.wasm";
/// Hexadecimal digits of a digest that distinguish inputs.
const KEY_DIGITS: usize = 16;
/// The module that componentize-py is given: it exports what the author's module declares.
const ENTRY: &str = "portcullis_entry";
/// The index of the author's folder among the folders of modules.
const AUTHORS: usize = 1;
/// The file that lists the packages of the project.
const PACKAGES_FILE: &str = "requirements.txt";
/// The Python version in a component, for which packages are selected.
const PYTHON_VERSION: &str = "3.14";
/// Folders at the top of a project that contain no modules of the plugin. Deeper down they are the author's own.
const NO_MODULES_AT_TOP: [&str; 2] = ["plugins", "tests"];
/// Maximum number of projects whose components are cached, with 20 to 40 MB each.
const KEPT_PROJECTS_MAX: usize = 12;
/// The folder of packages in a virtual environment. Here it is empty, so that the user's own packages are not used.
const SITE_PACKAGES: &str = "lib/site-packages";
/// Parts of a line in [`PACKAGES_FILE`] that refer to a file or a folder, or that pip replaces. A package name contains
/// none of them.
const NO_NAME: [&str; 7] = ["/", "file:", ".whl", ".zip", ".tar", "\\", "${"];

const REMEDY: &str = "The lines above are the output of Python, which ran the module during the build; `/1` is the \
                      project, `/2` the SDK, `/3` its packages. To add a missing package, add a line to \
                      `requirements.txt`.";

pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    let mut inputs = Inputs::gather(project, &out.with_extension("work"))?;
    // Check first, because installing the toolchain and the packages can take minutes.
    inputs.check(project)?;
    let tools = TOOLCHAIN.install()?;
    inputs.packages = packages(project)?;
    let component = kept(&project.root, &inputs.digest()?, |component| inputs.componentize(&tools, component))?;
    fs::copy(&component, out).with_context(|| format!("cannot write {}", out.display()))?;
    Ok(())
}

/// Returns the component of these inputs. Building takes seconds, so the last component of each project is cached.
fn kept(root: &Path, inputs: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let project = cache::digest(root.as_os_str().as_encoded_bytes());
    let components = cache::folder("python-components")?;
    let folder = components.join(&project[..KEY_DIGITS]);
    let entry = cache::entry(&folder, inputs, |folder| make(&folder.join(COMPONENT)))?;
    for other in fs::read_dir(&folder)? {
        let other = other?.path();
        // A partial entry is of a build that still runs.
        let is_partial = other.extension().is_some_and(|extension| extension == "partial");
        if other.is_dir() && other != entry && !is_partial {
            // Another build of the project may be using it, or have removed it.
            let _ = fs::remove_dir_all(other);
        }
    }
    // Mark the folder of the project and not the entry, because whole projects are removed.
    cache::touch(&folder)?;
    cache::forget_oldest(&components, KEPT_PROJECTS_MAX)?;
    Ok(entry.join(COMPONENT))
}

/// The inputs of a component, besides the toolchain.
struct Inputs {
    /// The folders of modules, in the order of the folders `/0`, `/1` and so on in the sandbox. All of them were
    /// created for this build.
    modules: Vec<PathBuf>,
    /// The folder of the project's packages in the cache. The build gets a copy of it, after the modules.
    packages: Option<PathBuf>,
    wit: PathBuf,
    world: &'static str,
    /// The working folder of this build.
    work: PathBuf,
}

impl Inputs {
    /// Collects all inputs except the packages, which may have to be fetched.
    fn gather(project: &Project, work: &Path) -> Result<Inputs> {
        let (entry, modules, sdk) = (work.join("entry"), work.join("modules"), work.join("sdk"));
        fs::create_dir_all(&entry)?;
        fs::write(entry.join(ENTRY).with_extension("py"), entry_module(&project.source)?)?;
        // The SDK gets a folder of its own below.
        let mut but = vec![project.sdk.clone()];
        but.extend(NO_MODULES_AT_TOP.map(|name| project.root.join(name)));
        let source = project.source.parent().context("the source has no folder")?;
        Modules::of(&project.root, &but)?.copy(source, &modules)?;
        let library = project.sdk.join(LIBRARY);
        ensure!(library.is_dir(), "{} contains no SDK for Python: it has no folder {LIBRARY}", project.sdk.display());
        Modules::of(&project.sdk, &[])?.copy(&library, &sdk.join(LIBRARY))?;
        let (contract, wit) = (project.sdk.join("wit"), work.join("wit"));
        // The interfaces of WASI may be a link to those of another version of the contract.
        let interfaces = contract.join("deps");
        Modules::of(&contract, std::slice::from_ref(&interfaces))?.copy(&contract, &wit)?;
        Modules::of(&interfaces, &[])?.copy(&interfaces, &wit.join("deps"))?;
        Ok(Inputs {
            modules: vec![entry, modules, sdk],
            packages: None,
            wit,
            world: world(&project.source)?,
            work: work.to_owned(),
        })
    }

    /// Checks the author's modules, as far as a parser can.
    fn check(&self, project: &Project) -> Result<()> {
        let folder = project.source.parent().context("the source has no folder")?;
        let file = project.source.file_name().context("the source has no file name")?;
        let prefix = folder.strip_prefix(&project.root).unwrap_or(Path::new(""));
        check::check(&self.modules[AUTHORS], Path::new(file), prefix, PYTHON_VERSION)
            .map_err(|found| anyhow!("`{}` does not build:\n{found}", project.name))
    }

    /// Returns a digest that changes whenever the component would.
    fn digest(&self) -> Result<String> {
        let mut parts = vec![TOOLCHAIN.text.to_owned(), self.world.to_owned()];
        for folder in self.modules.iter().chain([&self.wit]) {
            parts.push(cache::digest_of(folder, &[])?);
        }
        // The name of the packages' folder is a digest of its requirements.
        parts.extend(self.packages.iter().map(|folder| folder.display().to_string()));
        Ok(cache::digest(parts.join("\0").as_bytes())[..KEY_DIGITS].to_owned())
    }

    fn componentize(&self, tools: &Path, out: &Path) -> Result<()> {
        process::run_tool(&mut self.command(tools, out)?, REMEDY)
    }

    /// Returns the command that builds the component. The module can write only to folders of this build.
    fn command(&self, tools: &Path, out: &Path) -> Result<Command> {
        let mut command = Command::new("python3");
        command.args(["-P", "-c", "from componentize_py import script; script()", "--quiet"]);
        command.arg("--wit-path").arg(&self.wit).args(["--world", self.world, "componentize", ENTRY]);
        for folder in &self.modules {
            command.arg("--python-path").arg(folder);
        }
        if let Some(packages) = &self.packages {
            let copy = self.work.join("packages");
            // A copy and not a link: otherwise the module could change packages that other projects use.
            Modules::all_of(packages)?.copy(packages, &copy)?;
            command.arg("--python-path").arg(copy);
        }
        // Without this, the module could read and write the packages of the user's own Python.
        let environment = self.work.join("environment");
        fs::create_dir_all(environment.join(SITE_PACKAGES))?;
        command.arg("--output").arg(out).env("PYTHONPATH", tools).env("VIRTUAL_ENV", environment);
        // Without this, componentize-py prints its own backtrace after Python's.
        command.env("RUST_BACKTRACE", "0").env_remove("RUST_LIB_BACKTRACE");
        Ok(command)
    }
}

/// Returns the source of the entry module.
fn entry_module(source: &Path) -> Result<String> {
    let name = source.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(char::is_numeric);
    ensure!(
        is_name && !name.is_empty() && source.extension().is_some_and(|extension| extension == "py"),
        "{} is not a valid module: use letters, digits and _, and the extension .py",
        source.display()
    );
    ensure!(source.is_file(), "there is no {}", source.display());
    // `is_name` leaves only characters that a string in Python and one in Rust write in the same way.
    Ok(format!(
        "import sys\n\nsys.dont_write_bytecode = True\n\nfrom portcullis._component import load\n\n\
         Handler, Reviewer, Generator, Preparer = load({name:?})\n"
    ))
}

/// Returns the world of the contract for the author's module. A component exports a reviewer, a generator or a preparer
/// only if the module has one.
fn world(source: &Path) -> Result<&'static str> {
    let text = project_file::read_text(source, project_file::SOURCE_BYTES_MAX)
        .with_context(|| format!("cannot read {}", source.display()))?;
    // componentize-py needs the world before it runs the module, so only the text can tell.
    let decorates = |name: &str| text.lines().any(|line| line.starts_with('@') && line.trim_end().ends_with(name));
    let world = component::world_with(|interface| decorates(&format!(".{interface}")));
    world.with_context(|| source.display().to_string())
}

/// Returns the folder of the project's packages. Installs them with pip if they are not in the cache.
fn packages(project: &Project) -> Result<Option<PathBuf>> {
    let file = project.root.join(PACKAGES_FILE);
    if !file.is_file() {
        return Ok(None);
    }
    let text = project_file::read_text(&file, project_file::TEXT_BYTES_MAX)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let named = text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    if !named {
        return Ok(None);
    }
    // The cache key is only the text, so its meaning must not depend on other files.
    for line in text.lines() {
        ensure!(names_package(line), "{}: `{}`: use package names only", file.display(), line.trim().escape_debug());
    }
    let key = cache::digest([PYTHON_VERSION, &text].concat().as_bytes());
    cache::entry(&cache::folder("python-packages")?, &key[..KEY_DIGITS], |folder| {
        let mut pip = pip::install_into(folder);
        // Only pure Python: machine code for this computer does not run in a component.
        pip.args(["--only-binary", ":all:", "--implementation", "py", "--abi", "none", "--platform", "any"]);
        pip.args(["--python-version", PYTHON_VERSION]).arg("--requirement").arg(&file);
        process::run_tool(
            &mut pip,
            "Only packages in pure Python work in a component: those with a wheel for `py3-none-any`. Remove the \
             others from requirements.txt, or replace them",
        )
    })
    .with_context(|| format!("the packages of {} could not be installed", file.display()))
    .map(Some)
}

/// Returns whether a line is the name of a package, a digest, or empty.
fn names_package(line: &str) -> bool {
    let line = line.split_once('#').map_or(line, |(line, _comment)| line).trim();
    // pip joins a line with the next one. After a blank, the two remain words of their own.
    let line = line.strip_suffix(" \\").unwrap_or(line);
    if line.starts_with("--hash=") {
        return true;
    }
    !line.starts_with(['-', '.']) && !NO_NAME.iter().any(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_must_be_a_module() {
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
    fn the_world_has_what_the_module_decorates() {
        let folder = std::env::temp_dir().join(format!("portcullis-python-world-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let source = folder.join("app.py");
        let world_of = |text: &str| {
            fs::write(&source, text).unwrap();
            world(&source)
        };
        assert_eq!(world_of("@plugin.tool()\n").unwrap(), "plugin");
        assert_eq!(world_of("@plugin.reviewer\n").unwrap(), "reviewing-plugin");
        assert_eq!(world_of("@plugin.generator  \n@plugin.generated\n").unwrap(), "generating-plugin");
        assert_eq!(world_of("@plugin.preparer\n").unwrap(), "preparing-plugin");
        assert_eq!(world_of("    @plugin.generator\n# @plugin.generator\n").unwrap(), "plugin");
        let two = world_of("@plugin.generator\n@plugin.reviewer\n").unwrap_err();
        assert!(
            format!("{two:#}")
                .ends_with("app.py: a plugin has a reviewer, a generator or a preparer, but only one of them"),
            "{two:#}"
        );
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
    fn only_names_of_packages_are_accepted() {
        for line in ["", "# ./a", "idna", "idna==3.10 \\", "  --hash=sha256:00", "idna[all]>=3; python_version > '3'"] {
            assert!(names_package(line), "{line}");
        }
        for line in [
            "-r other.txt",
            " --find-links x",
            "./x",
            "/x",
            "..",
            "x @ file:x",
            "x.whl",
            "a/b",
            "x.tar.gz",
            "x @ fil\\",
            "${X}",
        ] {
            assert!(!names_package(line), "{line}");
        }
    }

    /// The module can write to each folder of modules, and what it writes must not outlive the build.
    #[test]
    fn a_module_gets_only_folders_of_its_build() {
        let folder = std::env::temp_dir().join(format!("portcullis-python-given-{}", std::process::id()));
        let (work, packages) = (folder.join("work"), folder.join("packages"));
        cache::empty(&work).unwrap();
        fs::create_dir_all(packages.join("idna")).unwrap();
        fs::write(packages.join("idna/__init__.py"), "clean").unwrap();
        let inputs = Inputs {
            modules: vec![work.join("entry")],
            packages: Some(packages.clone()),
            wit: folder.join("wit"),
            world: "plugin",
            work: work.clone(),
        };
        let command = inputs.command(&folder.join("tools"), &folder.join("out")).unwrap();
        let words: Vec<&Path> = command.get_args().map(Path::new).collect();
        let given: Vec<&Path> =
            words.windows(2).filter(|pair| pair[0] == Path::new("--python-path")).map(|pair| pair[1]).collect();
        assert_eq!(given.len(), 2);
        assert!(given.iter().all(|path| path.starts_with(&work)), "{given:?}");
        fs::write(given[1].join("idna/__init__.py"), "poisoned").unwrap();
        assert_eq!(fs::read_to_string(packages.join("idna/__init__.py")).unwrap(), "clean");
        let environment = command.get_envs().find(|(name, _)| *name == "VIRTUAL_ENV").unwrap().1.unwrap();
        let site_packages = Path::new(environment).join(SITE_PACKAGES);
        assert!(site_packages.starts_with(&work) && fs::read_dir(site_packages).unwrap().next().is_none());
        fs::remove_dir_all(folder).unwrap();
    }
}
