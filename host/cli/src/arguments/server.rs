//! The arguments of `portcullis server`.

use super::editing::plugin;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Subcommand};
use portcullis::policy::{Access, DependencyKey, PluginName};
use std::ffi::OsStr;

#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Add an MCP server to your policy: a package, a program of this machine, or an address
    ///
    /// Installs the package once, in exactly this version, without running its code. Shows the new section of your
    /// policy, and asks. Then starts the server once, confined by the section, and shows the tools that it lists. Every
    /// call of them needs approval until a rule allows it.
    Add(Box<ServerAddArguments>),
    /// Install the packages that your policy names and that this machine lacks
    Install(ServerInstallArguments),
    /// List the servers of your policy: how each is started, and what it gets
    List(ServerListArguments),
    /// Remove a server from your policy, and its package if no other server uses it
    Remove(ServerRemoveArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ServerAddArguments {
    /// The name of the server, which begins the names of its tools
    #[arg(value_name = "NAME", value_parser = plugin)]
    pub(crate) name: PluginName,
    /// The package in one exact version: npm:NAME@VERSION or pypi:NAME==VERSION
    #[arg(value_name = "PACKAGE", required_unless_present_any = ["command", "url"], conflicts_with = "command")]
    pub(crate) package: Option<String>,
    /// Instead of a package: a program of this machine by its absolute path, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Instead of a package: the address of a server that is reached over HTTP
    #[arg(long, value_name = "URL", conflicts_with_all = ["package", "command", "directory", "host", "variables"])]
    pub(crate) url: Option<String>,
    /// Log in to the address with OAuth; `portcullis login NAME` does it
    #[arg(long, requires = "url", conflicts_with = "token")]
    pub(crate) oauth: bool,
    /// The token for the address: env:VARIABLE of the host, or file:PATH
    #[arg(long, value_name = "SOURCE", requires = "url", value_parser = SecretParser(source))]
    pub(crate) token: Option<String>,
    /// A header of every request to the address. env:VARIABLE and file:PATH are the sources of a secret. Repeat it for
    /// more
    #[arg(long = "header", value_name = "NAME=VALUE", requires = "url", value_parser = SecretParser(variable))]
    pub(crate) headers: Vec<(String, String)>,
    /// A directory that the server gets, relative to the working directory. `:rw` lets it write. Repeat it for more
    #[arg(long, value_name = "KEY=PATH[:rw]", value_parser = directory)]
    pub(crate) directory: Vec<DirectoryArgument>,
    /// A host that the server may connect to [default: no network]. Repeat it for more
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Vec<String>,
    /// A variable of the server. env:OTHER takes the value of a variable of the host, and file:PATH that of a file
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = SecretParser(variable))]
    pub(crate) variables: Vec<(String, String)>,
    /// The program of the package, if it has several
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub(crate) program: Option<String>,
    /// An argument of the package's program. Repeat it for more
    #[arg(long = "argument", value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "command")]
    pub(crate) program_arguments: Vec<String>,
    /// Replace the version of a server's package, after showing what changes
    #[arg(long, conflicts_with_all = ["command", "directory", "host", "variables", "program", "program_arguments", "url"])]
    pub(crate) replace: bool,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The value of `--directory`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryArgument {
    pub(crate) key: DependencyKey,
    pub(crate) path: String,
    pub(crate) access: Access,
}

#[derive(Debug, Args)]
pub(crate) struct ServerInstallArguments {
    /// Only the packages of these servers
    #[arg(value_name = "NAME", value_parser = plugin)]
    pub(crate) names: Vec<PluginName>,
}

#[derive(Debug, Args)]
pub(crate) struct ServerListArguments {
    /// Start each server once, confined, and say whether it lists its tools
    #[arg(long = "try")]
    pub(crate) start: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServerRemoveArguments {
    /// The name of the server
    #[arg(value_name = "NAME", value_parser = plugin)]
    pub(crate) name: PluginName,
    /// Do not ask for confirmation; required without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

fn directory(text: &str) -> Result<DirectoryArgument, String> {
    // The first `=` ends the key, because a path may contain more.
    let (key, path) = text.split_once('=').ok_or("write KEY=PATH, such as work=. or work=.:rw")?;
    let key = DependencyKey::new(key).map_err(|error| format!("{error}: {}", error.remedy()))?;
    let (path, access) = match path.strip_suffix(":rw") {
        Some(path) => (path, Access::ReadWrite),
        None => (path, Access::ReadOnly),
    };
    Ok(DirectoryArgument { key, path: path.to_owned(), access })
}

/// Parses a value that may be a secret. The parser's own errors would repeat it, and logs keep what a command prints.
#[derive(Clone)]
struct SecretParser<T>(fn(&str) -> Result<T, &'static str>);

impl<T: Clone + Send + Sync + 'static> TypedValueParser for SecretParser<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        value.to_str().ok_or("it is not UTF-8").and_then(self.0).map_err(|why| {
            let argument = argument.map(|argument| format!(" for '{argument}'")).unwrap_or_default();
            clap::Error::raw(ErrorKind::ValueValidation, format!("invalid value{argument}: {why}\n")).with_cmd(command)
        })
    }
}

fn source(text: &str) -> Result<String, &'static str> {
    let is_source = text.starts_with("env:") || text.starts_with("file:");
    if is_source { Ok(text.to_owned()) } else { Err("write env:VARIABLE or file:PATH, never the token itself") }
}

fn variable(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as LANG=C.UTF-8 or TOKEN=env:TOKEN")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::program;

    /// A token that a user types in the wrong form must not get into a log.
    #[test]
    fn an_error_about_a_value_that_may_be_a_secret_does_not_repeat_it() {
        let url = ["portcullis", "server", "add", "a", "--url", "https://a.example/mcp"];
        let package = ["portcullis", "server", "add", "a", "npm:a@1.0.0"];
        let rows = [
            (url.as_slice(), "--token", "s3cret", "'--token <SOURCE>': write env:VARIABLE"),
            (url.as_slice(), "--header", "Authorization: Bearer s3cret", "'--header <NAME=VALUE>': write NAME=VALUE"),
            (package.as_slice(), "--env", "s3cret", "'--env <NAME=VALUE>': write NAME=VALUE"),
        ];
        for (command, option, value, why) in rows {
            let error = program().try_get_matches_from(command.iter().chain(&[option, value])).unwrap_err();
            let shown = error.render().to_string();
            assert!(shown.starts_with(&format!("error: invalid value for {why}")), "{shown}");
            assert!(!shown.contains("s3cret") && !format!("{error:?}").contains("s3cret"), "{shown}");
            let value = if option == "--token" { "env:A" } else { "a=env:A" };
            program().try_get_matches_from(command.iter().chain(&[option, value])).unwrap();
        }
    }

    #[test]
    fn a_directory_is_read_only_unless_it_says_otherwise() {
        let read = directory("work=a=b").unwrap();
        assert_eq!((read.key.as_str(), read.path.as_str(), read.access), ("work", "a=b", Access::ReadOnly));
        let write = directory("work=.:rw").unwrap();
        assert_eq!((write.path.as_str(), write.access), (".", Access::ReadWrite));
        assert!(directory("work").is_err() && directory("A B=.").is_err());
    }
}
