//! What `--state` names: a directory, and a database for a ledger that hosts on many machines share. And the cache
//! from which every host of the program takes code.

use anyhow::{Context as _, bail, ensure};
use portcullis::state::{BucketAddress, OutputsAddress, PostgresAddress, StatePlace};
use portcullis_build::project_file;
use portcullis_cases::KeptCode;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Maximum size of a file with an address, in bytes. An address is a line.
const ADDRESS_BYTES_MAX: u64 = 4096;

/// What one `--state` names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StateOption {
    /// A directory.
    Directory(PathBuf),
    /// The address of a database.
    Database(DatabaseOption),
}

/// Where the address of a database is.
#[derive(Clone, PartialEq, Eq)]
enum DatabaseOption {
    /// In the option itself.
    Literal(String),
    /// In a variable of the environment.
    Variable(String),
    /// In a file.
    File(PathBuf),
}

/// What all `--state`, `--ledger-key` and `--outputs` of a command name.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateOptions {
    /// The directories. More than one is an error.
    pub(crate) directories: Vec<PathBuf>,
    /// The databases. More than one is an error.
    databases: Vec<DatabaseOption>,
    /// The file with the key of a shared ledger.
    key: Option<PathBuf>,
    /// The place of large outputs.
    outputs: Option<PathBuf>,
}

impl StateOptions {
    /// Sorts the values of the options.
    pub(crate) fn of(values: Vec<PathBuf>, key: Option<PathBuf>, outputs: Option<PathBuf>) -> Self {
        let mut options = Self { key, outputs, ..Self::default() };
        for value in values {
            match StateOption::of(value) {
                StateOption::Directory(directory) => options.directories.push(directory),
                StateOption::Database(database) => options.databases.push(database),
            }
        }
        options
    }

    /// Returns the place of a state directory, with the database that the options name, and with the code that other
    /// commands have compiled. `variable` reads a variable of the environment.
    ///
    /// # Errors
    /// The options name several places, or the address of the database cannot be read.
    pub(crate) fn place(
        &self,
        directory: &Path,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> anyhow::Result<StatePlace> {
        let place = KeptCode::folder().into_iter().fold(StatePlace::from(directory), StatePlace::examined_code);
        let place = match &*self.databases {
            [] => place,
            [database] => place.ledger_in(database.address(variable)?),
            _ => bail!("--state names two databases: give one"),
        };
        let place = match &self.outputs {
            Some(_) if self.databases.is_empty() => {
                bail!("--outputs is for hosts that share a database: name it with --state, or leave --outputs out")
            }
            Some(outputs) => place.outputs_in(outputs_address(outputs)?),
            None => place,
        };
        Ok(match &self.key {
            Some(file) => place.ledger_key(file.clone()),
            None => place,
        })
    }

    /// Returns the options of the shared ledger for another command, as option and value.
    pub(crate) fn shared(&self) -> impl Iterator<Item = (&'static str, String)> {
        let databases = self.databases.iter().map(|database| ("--state", database.named()));
        let files = [("--ledger-key", &self.key), ("--outputs", &self.outputs)];
        let named =
            |(option, path): (_, &Option<PathBuf>)| Some((option, absolute(path.as_ref()?).display().to_string()));
        databases.chain(files.into_iter().filter_map(named))
    }
}

impl StateOption {
    /// Reads one value of `--state`.
    fn of(value: PathBuf) -> Self {
        let Some(text) = value.to_str() else { return Self::Directory(value) };
        if PostgresAddress::is_one(text) {
            Self::Database(DatabaseOption::Literal(text.to_owned()))
        } else if let Some(name) = text.strip_prefix("env:") {
            Self::Database(DatabaseOption::Variable(name.to_owned()))
        } else if let Some(path) = text.strip_prefix("file:") {
            Self::Database(DatabaseOption::File(path.into()))
        } else {
            Self::Directory(value)
        }
    }
}

impl DatabaseOption {
    /// Returns the address. `variable` reads a variable of the environment.
    ///
    /// # Errors
    /// It cannot be read, is no address, or shows a password to every user of this machine.
    fn address(&self, variable: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<PostgresAddress> {
        let text = match self {
            Self::Literal(text) => {
                ensure!(
                    !has_password(text),
                    "the address of the database in --state has a password, which every user of this machine can \
                     see: put the address into a variable or a file, and write --state env:NAME or file:PATH"
                );
                text.clone()
            }
            Self::Variable(name) => {
                let value = variable(name).and_then(|value| value.into_string().ok());
                value.with_context(|| format!("--state env:{name}: the variable is not set"))?
            }
            Self::File(path) => read(path).with_context(|| format!("--state file:{}", path.display()))?,
        };
        // The address in a file ends with a line break.
        let text = text.trim();
        ensure!(
            PostgresAddress::is_one(text),
            "--state {}: an address of a database begins with postgres://",
            self.named()
        );
        Ok(PostgresAddress::new(text.to_owned()))
    }

    /// Returns the value of the option, for another command in any directory.
    fn named(&self) -> String {
        match self {
            // `address` refuses such an address, and no message shows it.
            Self::Literal(text) if has_password(text) => "postgres://…".to_owned(),
            Self::Literal(text) => text.clone(),
            Self::Variable(name) => format!("env:{name}"),
            Self::File(path) => format!("file:{}", absolute(path).display()),
        }
    }
}

impl std::fmt::Debug for DatabaseOption {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.named())
    }
}

/// Returns the place that `--outputs` names.
fn outputs_address(named: &Path) -> anyhow::Result<OutputsAddress> {
    match named.to_str().filter(|text| text.contains("://")) {
        None => Ok(OutputsAddress::Directory(named.to_owned())),
        Some(text) => BucketAddress::parse(text)
            .map(OutputsAddress::Bucket)
            .with_context(|| format!("--outputs {text}: write a directory, or s3://BUCKET/PREFIX")),
    }
}

/// Returns a path that is the same in every directory. The address of a bucket already is.
fn absolute(path: &Path) -> PathBuf {
    if path.to_str().is_some_and(|text| text.contains("://")) {
        return path.to_owned();
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns whether an address has a password before its host, or as an option.
fn has_password(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    // From the right, because a password may contain `@`.
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':')) || text.contains("password=")
}

fn read(path: &Path) -> anyhow::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = project_file::open(path)?;
    // Read one byte more than allowed, so that a longer file is refused and not cut.
    file.take(ADDRESS_BYTES_MAX + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= ADDRESS_BYTES_MAX, "the file is larger than {ADDRESS_BYTES_MAX} bytes");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_told_from_a_directory() {
        for (value, named) in [
            ("postgres://u@h/ledger", Some("postgres://u@h/ledger")),
            ("env:LEDGER", Some("env:LEDGER")),
            ("file:/run/secrets/ledger", Some("file:/run/secrets/ledger")),
            ("./env:LEDGER", None),
            ("/var/lib/portcullis", None),
        ] {
            let option = StateOption::of(value.into());
            match (&option, named) {
                (StateOption::Database(database), Some(named)) => assert_eq!(database.named(), named),
                (StateOption::Directory(path), None) => assert_eq!(path, Path::new(value)),
                _ => panic!("{value}: {option:?}"),
            }
        }
    }

    #[test]
    fn an_address_with_a_password_is_refused_and_never_shown() {
        for text in ["postgres://u:secret@h/l", "postgres://h/l?user=u&password=secret"] {
            let option = DatabaseOption::Literal(text.to_owned());
            let error = option.address(|_| None).unwrap_err().to_string();
            assert!(error.contains("env:NAME") && !error.contains("secret"), "{error}");
            assert!(!format!("{option:?}").contains("secret"));
        }
    }
}
