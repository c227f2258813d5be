//! Understands the command line with which an agent starts a server: a launcher of packages, or a program.

use crate::environment::find_program;
use portcullis::text::OneLine;
use portcullis_packages::{PackageKind, PackageSpec};
use std::path::{Path, PathBuf};

/// How a server is started.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Launch {
    /// From a package.
    Package(PackageLaunch),
    /// By a program of the machine with an absolute path, and its arguments.
    Program(Vec<String>),
}

/// A package that a launcher such as `npx` runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PackageLaunch {
    pub(super) kind: PackageKind,
    pub(super) name: String,
    pub(super) version: LaunchVersion,
    /// The program, if the command line names one.
    pub(super) program: Option<String>,
    pub(super) arguments: Vec<String>,
}

/// The version that a launcher runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LaunchVersion {
    /// Exactly this one.
    Exact(PackageSpec),
    /// The newest, or the newest of a range or a tag.
    Newest(Option<String>),
}

/// Programs that cannot run confined, or that would hide what is started.
const UNSUPPORTED: [(&str, &str); 8] = [
    ("docker", "docker runs it outside of the confinement"),
    ("podman", "podman runs it outside of the confinement"),
    ("uv", "`uv` installs a project when it starts; name the program of its environment instead"),
    ("npm", "`npm` runs a script of a project; name the program itself instead"),
    ("sh", "a shell hides what is started; name the program itself instead"),
    ("bash", "a shell hides what is started; name the program itself instead"),
    ("zsh", "a shell hides what is started; name the program itself instead"),
    ("cmd", "it is started through the shell of Windows"),
];

/// Understands a command line. Relative paths start at `directory`.
///
/// # Errors
/// Why it is not supported. The reason has no value of the command line.
pub(super) fn understood(words: &[String], directory: &Path) -> Result<Launch, String> {
    let (program, arguments) = words.split_first().ok_or("its command is empty")?;
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let rest = |count: usize| arguments.get(count..).unwrap_or_default();
    match (name, arguments.first().map(String::as_str)) {
        ("npx" | "bunx" | "pnpx", _) => npx(arguments).map(Launch::Package),
        ("npm", Some("exec" | "x")) | ("pnpm", Some("dlx")) => npx(rest(1)).map(Launch::Package),
        ("uvx", _) => uvx(arguments).map(Launch::Package),
        ("uv", Some("tool")) if arguments.get(1).is_some_and(|word| word == "run") => uvx(rest(2)).map(Launch::Package),
        ("pipx", Some("run")) => uvx(rest(1)).map(Launch::Package),
        _ => match UNSUPPORTED.into_iter().find(|(unsupported, _)| *unsupported == name) {
            Some((_, why)) => Err(why.to_owned()),
            None => self::program(program, arguments, directory).map(Launch::Program),
        },
    }
}

/// Returns the words with the absolute paths of the program and of its script.
fn program(program: &str, arguments: &[String], directory: &Path) -> Result<Vec<String>, String> {
    let found = match program.contains('/') {
        true => Some(absolute(program, directory)).filter(|path| path.is_file()),
        false => find_program(program),
    };
    let found = found.ok_or("its program does not exist on this machine")?;
    let mut words = vec![text(&found)?];
    for argument in arguments {
        let is_script = !argument.starts_with('-') && !argument.contains("://");
        let path = absolute(argument, directory);
        // A relative path means nothing in the view of a confined program.
        words.push(if is_script && argument.contains(['/', '.']) && path.exists() {
            text(&path)?
        } else {
            argument.clone()
        });
    }
    Ok(words)
}

fn absolute(path: &str, directory: &Path) -> PathBuf {
    std::path::absolute(directory.join(path)).unwrap_or_else(|_| directory.join(path))
}

fn text(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| "its path is not UTF-8".to_owned())
}

fn npx(words: &[String]) -> Result<PackageLaunch, String> {
    let flags = ["-y", "--yes", "-q", "--quiet", "--prefer-online", "--prefer-offline", "--silent", "--bun"];
    let LauncherWords { package, program, arguments } = launcher_words(words, &flags, &["-p", "--package"], &[])?;
    // The name of a scope begins with `@` too.
    let separator = package.char_indices().skip(1).find(|(_, character)| *character == '@').map(|(at, _)| at);
    let (name, version) = match separator {
        Some(at) => (&package[..at], package.get(at + 1..)),
        None => (package.as_str(), None),
    };
    package_launch(PackageKind::Npm, name, version, program, arguments)
}

fn uvx(words: &[String]) -> Result<PackageLaunch, String> {
    let flags = ["-q", "--quiet", "--refresh", "--isolated", "--no-cache", "--offline", "--upgrade"];
    let LauncherWords { package, program, arguments } =
        launcher_words(words, &flags, &["--from", "--spec"], &["--python", "-p", "--index-url", "--default-index"])?;
    let (name, version) = match package.split_once("==").or_else(|| package.split_once('@')) {
        Some((name, version)) => (name.trim(), Some(version.trim())),
        None => (package.as_str(), None),
    };
    // uvx calls the newest version `latest`. PyPI has no such version.
    package_launch(PackageKind::Pypi, name, version.filter(|version| *version != "latest"), program, arguments)
}

/// What a launcher starts.
struct LauncherWords<'w> {
    package: String,
    /// The program, if it is named besides the package.
    program: Option<String>,
    arguments: &'w [String],
}

/// Splits the options of a launcher from what it starts. `packages` are the options that name the package, and
/// `skipped` are others with a value.
fn launcher_words<'w>(
    words: &'w [String],
    flags: &[&str],
    packages: &[&str],
    skipped: &[&str],
) -> Result<LauncherWords<'w>, String> {
    let (mut package, mut at) = (None, 0);
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        let (option, value) =
            word.split_once('=').map_or((word.as_str(), None), |(option, value)| (option, Some(value)));
        at += 1;
        if option == "--" {
            break;
        }
        if flags.contains(&option) {
            continue;
        }
        let takes = packages.contains(&option) || skipped.contains(&option);
        // An unknown option may take a value, or change where the package comes from.
        if !takes {
            return Err(format!("the option {} of its launcher is not supported", OneLine(option)));
        }
        let value = value.map(str::to_owned).or_else(|| words.get(at).cloned());
        // Without `=`, the value was the next word.
        at += usize::from(!word.contains('='));
        if packages.contains(&option) {
            package = value;
        }
    }
    let rest = words.get(at..).unwrap_or_default();
    let (first, arguments) = rest.split_first().map_or((None, rest), |(first, rest)| (Some(first.clone()), rest));
    // Without an option, the first word is the package.
    let (package, program) = if package.is_some() { (package, first) } else { (first, None) };
    let package = package.ok_or("it names no package")?;
    Ok(LauncherWords { package, program, arguments })
}

fn package_launch(
    kind: PackageKind,
    name: &str,
    version: Option<&str>,
    program: Option<String>,
    arguments: &[String],
) -> Result<PackageLaunch, String> {
    let spec = |version: &str| PackageSpec::new(kind, name, version);
    // This version is valid in both registries, so an error is about the name.
    if spec("1.0.0").is_err() {
        return Err("its package does not come from the registry, or has extras".to_owned());
    }
    let version = match version {
        None => LaunchVersion::Newest(None),
        Some(version) => match spec(version) {
            Ok(spec) => LaunchVersion::Exact(spec),
            // npm can find the newest version of a range or a tag.
            Err(_) if kind == PackageKind::Npm => LaunchVersion::Newest(Some(version.to_owned())),
            Err(_) => return Err("its version is a range: write one exact version".to_owned()),
        },
    };
    Ok(PackageLaunch { kind, name: name.to_owned(), version, program, arguments: arguments.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn package(line: &str) -> (String, Option<String>, Vec<String>) {
        match understood(&words(line), Path::new("/")) {
            Ok(Launch::Package(PackageLaunch { kind, name, version, program, arguments })) => {
                let version = match version {
                    LaunchVersion::Exact(spec) => spec.to_string(),
                    LaunchVersion::Newest(range) => {
                        format!("{}:{name} newest {}", kind.prefix(), range.unwrap_or_default())
                    }
                };
                (version, program, arguments)
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn launchers_of_packages_are_understood() {
        for (line, version, program, arguments) in [
            ("npx -y @a/b@1.2.3 --x y", "npm:@a/b@1.2.3", None, "--x y"),
            ("/usr/bin/npx --yes b -y", "npm:b newest ", None, "-y"),
            ("npx b@latest", "npm:b newest latest", None, ""),
            ("npx -p @a/b@^1 prog z", "npm:@a/b newest ^1", Some("prog"), "z"),
            ("npx --package=b -- prog", "npm:b newest ", Some("prog"), ""),
            ("npm exec -- b@1.0.0", "npm:b@1.0.0", None, ""),
            ("pnpm dlx b", "npm:b newest ", None, ""),
            ("uvx mcp-server-git --repository /r", "pypi:mcp-server-git newest ", None, "--repository /r"),
            ("uvx a==1.0 x", "pypi:a==1.0", None, "x"),
            ("uvx a@latest", "pypi:a newest ", None, ""),
            ("uvx --python 3.12 --from a==1.0 prog", "pypi:a==1.0", Some("prog"), ""),
            ("uv tool run a", "pypi:a newest ", None, ""),
            ("pipx run a", "pypi:a newest ", None, ""),
        ] {
            let arguments: Vec<String> =
                arguments.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
            assert_eq!(package(line), (version.to_owned(), program.map(str::to_owned), arguments), "{line}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (line, why) in [
            ("npx", "names no package"),
            ("npx --registry=https://canary b", "--registry of its launcher"),
            ("npx github:a/b", "does not come from the registry"),
            ("npx ./b", "does not come from the registry"),
            ("uvx git+https://canary@x/y", "does not come from the registry"),
            ("uvx --with c a", "--with of its launcher"),
            ("uvx a[cli]", "does not come from the registry, or has extras"),
            ("uvx a@>=1", "is a range"),
            ("docker run -e TOKEN=canary x", "outside of the confinement"),
            ("bash -c canary", "a shell hides"),
            ("uv run x", "installs a project"),
            ("npm start", "a script of a project"),
            ("no-such-program-anywhere canary", "does not exist"),
            ("/nowhere/canary", "does not exist"),
        ] {
            let refused = understood(&words(line), Path::new("/")).unwrap_err();
            assert!(refused.contains(why) && !refused.contains("canary"), "{line}: {refused}");
        }
    }

    #[test]
    fn a_program_and_its_script_get_absolute_paths() {
        let found = understood(&words("sleep Cargo.toml --x 5"), Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let Launch::Program(words) = found else { panic!("{found:?}") };
        assert!(words[0].starts_with('/') && words[0].ends_with("/sleep"), "{words:?}");
        assert_eq!(words[1..], [concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "--x", "5"]);
    }
}
