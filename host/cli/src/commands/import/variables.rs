//! The variables of an imported server: plain values stay, and secrets become references.

use crate::secret_words::{is_secret, names_source};
use portcullis::policy::PluginName;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The variables of a server as the policy gets them.
#[derive(Default)]
pub(super) struct ImportedVariables {
    /// The names, each with a plain value or a source.
    pub(super) written: Vec<(String, String)>,
    /// Variables that have to be set for the host.
    pub(super) to_set: Vec<String>,
    /// Files that have to be written.
    pub(super) files: Vec<SecretFile>,
}

/// A file with a secret.
pub(super) struct SecretFile {
    pub(super) path: PathBuf,
    /// The secret. This type has no `Debug`.
    pub(super) value: String,
}

/// The secrets of all servers by the variable of the host that has them.
pub(super) type HostVariables = BTreeMap<String, String>;

/// Sorts the variables of a server.
pub(super) fn imported(
    server: &PluginName,
    environment: &[(String, String)],
    secrets_to: Option<&Path>,
    used: &mut HostVariables,
) -> Result<ImportedVariables, String> {
    let mut variables = ImportedVariables::default();
    for (name, value) in environment {
        if !is_variable(name) {
            return Err("it sets a variable whose name no policy accepts".to_owned());
        }
        // A policy reads `file:/etc/shadow` as the source of a secret, so such a value cannot stay plain.
        let is_plain = !has_placeholder(value) && !is_secret(name, value) && !names_source(value);
        let written = match is_plain {
            true => value.clone(),
            false => variables.source_of(server, name, value, (secrets_to, &mut *used))?,
        };
        variables.written.push((name.clone(), written));
    }
    Ok(variables)
}

/// Returns whether the agent would fill in a part of a value.
pub(super) fn has_placeholder(value: &str) -> bool {
    value.contains("${") || value.contains("{env:")
}

impl ImportedVariables {
    /// Returns the source of a secret: the variable that it names, a new file, or a variable of the host.
    ///
    /// # Errors
    /// The directory of secrets is not UTF-8.
    pub(super) fn source_of(
        &mut self,
        server: &PluginName,
        name: &str,
        value: &str,
        (secrets_to, used): (Option<&Path>, &mut HostVariables),
    ) -> Result<String, String> {
        match (reference(value), secrets_to) {
            (Some(variable), _) => Ok(self.of_host(variable)),
            (None, Some(directory)) if !has_placeholder(value) => {
                let path = directory.join(format!("{server}.{name}"));
                let source = format!("file:{}", path.to_str().ok_or("the directory of secrets is not UTF-8")?);
                self.files.push(SecretFile { path, value: value.to_owned() });
                Ok(source)
            }
            (None, _) => Ok(self.of_host(host_variable(server, name, value, used))),
        }
    }

    /// Returns the source of a value that a variable of the host has.
    fn of_host(&mut self, variable: String) -> String {
        let source = format!("env:{variable}");
        self.to_set.push(variable);
        source
    }
}

/// Returns the variable of the host for a secret: the same name, unless another server has another secret there.
fn host_variable(server: &PluginName, name: &str, value: &str, used: &mut HostVariables) -> String {
    if used.get(name).is_none_or(|known| known == value) {
        used.insert(name.to_owned(), value.to_owned());
        return name.to_owned();
    }
    let prefix = server.as_str().to_ascii_uppercase().replace('-', "_");
    format!("{prefix}_{name}")
}

/// Returns the variable that a value stands for as a whole: `${NAME}`, `${env:NAME}` or `{env:NAME}`.
fn reference(value: &str) -> Option<String> {
    let inner = value.strip_prefix("${").or_else(|| value.strip_prefix("{env:"))?.strip_suffix('}')?;
    let name = inner.strip_prefix("env:").unwrap_or(inner);
    is_variable(name).then(|| name.to_owned())
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(server: &str, environment: &[(&str, &str)], to: Option<&Path>, used: &mut HostVariables) -> Vec<String> {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let environment: Vec<(String, String)> = environment.iter().map(pair).collect();
        let imported = imported(&server.parse().unwrap(), &environment, to, used);
        imported.ok().unwrap().written.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
    }

    #[test]
    fn secrets_become_references_and_other_values_stay() {
        let mut used = HostVariables::new();
        let variables = [
            ("LANG", "C"),
            ("API_KEY", "canary"),
            ("A", "${B}"),
            ("C", "${env:D}"),
            ("E", "{env:F}"),
            ("G", "x ${input:y}"),
            ("H", "file:/etc/shadow"),
        ];
        let written = of("one", &variables, None, &mut used);
        let expected = ["LANG=C", "API_KEY=env:API_KEY", "A=env:B", "C=env:D", "E=env:F", "G=env:G", "H=env:H"];
        assert_eq!(written, expected);
        // Another secret of the same name needs another variable of the host.
        assert_eq!(of("two-b", &[("API_KEY", "other")], None, &mut used), ["API_KEY=env:TWO_B_API_KEY"]);
        assert_eq!(of("three", &[("API_KEY", "canary")], None, &mut used), ["API_KEY=env:API_KEY"]);
        let files = of("one", &[("API_KEY", "canary")], Some(Path::new("/s")), &mut used);
        assert_eq!(files, ["API_KEY=file:/s/one.API_KEY"]);
        let bad = [("A B".to_owned(), "canary".to_owned())];
        assert!(imported(&"a".parse().unwrap(), &bad, None, &mut used).is_err());
    }
}
