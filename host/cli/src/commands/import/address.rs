//! The address of an imported server: plain headers stay, and a secret becomes a reference.

use super::variables::{HostVariables, ImportedVariables, has_placeholder};
use crate::clients::ClientAddress;
use crate::secret_words::{is_secret, url_has_secret};
use portcullis::policy::PluginName;
use portcullis_policy_edit::{ServerAddressEdit, ServerSecretEdit};
use std::path::Path;

/// The header that most servers take a token in.
const AUTHORIZATION: &str = "authorization";

/// Makes the address of a server, and adds the variables and the files of its secret.
///
/// # Errors
/// Why it is left out. The reason has no value of the configuration.
pub(super) fn imported(
    server: &PluginName,
    address: &ClientAddress,
    secrets_to: Option<&Path>,
    (used, variables): (&mut HostVariables, &mut ImportedVariables),
) -> Result<ServerAddressEdit, String> {
    if address.is_sse {
        return Err("it has the transport `sse` of the year 2024, which the host does not speak".to_owned());
    }
    if has_placeholder(&address.url) {
        return Err("its address has a placeholder that a policy cannot fill in".to_owned());
    }
    if url_has_secret(&address.url) {
        return Err("its address has a password or a token in it, which a policy must not contain".to_owned());
    }
    let (mut headers, mut secrets) = (Vec::new(), Vec::new());
    for (name, value) in &address.headers {
        let name = name.to_ascii_lowercase();
        let (scheme, credentials) = split(&name, value);
        // The agent fills in a placeholder, so nothing says that the value is harmless.
        if name == AUTHORIZATION || is_secret(&name, value) || has_placeholder(value) {
            let variable = format!("{}_{}", server.as_str(), name).to_ascii_uppercase().replace('-', "_");
            let from = variables.source_of(server, &variable, credentials, (secrets_to, &mut *used))?;
            secrets.push(ServerSecretEdit { header: name, value: format!("{scheme}{{}}"), from });
        } else {
            headers.push((name, value.clone()));
        }
    }
    if secrets.len() > 1 {
        return Err("it sends several secrets, and a policy can give one to a server at an address".to_owned());
    }
    // Without a token of its own, a server may demand a login.
    let logs_in = secrets.is_empty();
    Ok(ServerAddressEdit { url: address.url.clone(), logs_in, headers, secret: secrets.pop() })
}

/// Returns the scheme of an authorization with the space after it, and the credentials.
fn split<'v>(name: &str, value: &'v str) -> (&'v str, &'v str) {
    match value.find(' ').filter(|_| name == AUTHORIZATION) {
        Some(space) => value.split_at(space + 1),
        None => ("", value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, headers: &[(&str, &str)]) -> Result<(ServerAddressEdit, Vec<String>), String> {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let address = ClientAddress { url: url.to_owned(), headers, is_sse: false };
        let (mut used, mut variables) = (HostVariables::new(), ImportedVariables::default());
        let edit = imported(&"git-hub".parse().unwrap(), &address, None, (&mut used, &mut variables))?;
        Ok((edit, variables.to_set))
    }

    #[test]
    fn a_secret_becomes_a_reference_and_other_headers_stay() {
        let secret = |header: &str, value: &str, from: &str| {
            Some(ServerSecretEdit { header: header.to_owned(), value: value.to_owned(), from: from.to_owned() })
        };
        for (header, value, expected) in [
            ("Authorization", "Bearer canary", secret("authorization", "Bearer {}", "env:GIT_HUB_AUTHORIZATION")),
            ("Authorization", "Bearer ${TOKEN}", secret("authorization", "Bearer {}", "env:TOKEN")),
            ("Authorization", "${env:TOKEN}", secret("authorization", "{}", "env:TOKEN")),
            ("X-Api-Key", "canary", secret("x-api-key", "{}", "env:GIT_HUB_X_API_KEY")),
            ("X-Any", "${input:any}", secret("x-any", "{}", "env:GIT_HUB_X_ANY")),
        ] {
            let (edit, to_set) = of("https://a.example/mcp", &[(header, value), ("X-Team", "red")]).unwrap();
            assert_eq!((edit.secret, edit.logs_in), (expected, false), "{value}");
            assert_eq!((edit.headers, to_set.len()), (vec![("x-team".to_owned(), "red".to_owned())], 1), "{value}");
        }
        let (edit, to_set) = of("https://a.example/mcp", &[]).unwrap();
        assert!(edit.logs_in && edit.secret.is_none() && to_set.is_empty());
    }

    #[test]
    fn what_a_policy_cannot_say_is_left_out_without_its_values() {
        for (url, headers) in [
            ("https://ann:canary@a.example/mcp", &[][..]),
            ("https://a.example/mcp?token=canary", &[]),
            ("https://${canary}/mcp", &[]),
            ("https://a.example/mcp", &[("Authorization", "canary"), ("X-Api-Key", "canary")]),
        ] {
            let refused = of(url, headers).unwrap_err();
            assert!(!refused.contains("canary"), "{refused}");
        }
    }
}
