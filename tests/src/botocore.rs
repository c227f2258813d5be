//! A thousand third-party tools: the operations of thirty services, from the package `botocore`.
//!
//! The selection of operations does not depend on any query. A few services are included completely, because many of
//! their operations are similar. One large service gives nearly the maximum number of tools of a plugin. The others
//! give equal numbers, evenly spaced in the order of their names. No code of the package runs; only its descriptions
//! are read.

mod model;
mod prose;
mod shape;

use crate::{Manifest, Site, Tool, guest};
use model::{Model, Operation};
use portcullis::policy::NAME_BYTES;
use std::path::PathBuf;
use std::{env, fs};

/// Total number of tools.
pub const TOOLS: usize = 1000;

/// Maximum length in bytes of a description that the host accepts.
const DESCRIPTION_BYTES_MAX: usize = 4096;

/// The variable with the path of the descriptions. `cargo xtask test` sets it.
const VARIABLE: &str = "PORTCULLIS_TEST_BOTOCORE";

/// Maximum number of operations per service.
fn share(service: &str) -> usize {
    match service {
        "iam" | "kms" | "s3" | "secretsmanager" | "sqs" | "sts" => usize::MAX,
        "ec2" => 224,
        _ => 16,
    }
}

/// Makes a site with one plugin per service, and no other plugin.
pub fn site() -> Site {
    let site = Site::new();
    fs::remove_file(site.plugins().join("good.wasm")).unwrap();
    for manifest in manifests() {
        site.plugin(&manifest.name, &guest("good", &manifest));
    }
    site
}

/// Returns the manifest of each service's plugin, in the order of their names.
pub fn manifests() -> Vec<Manifest> {
    let folder = env::var_os(VARIABLE).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| panic!("{VARIABLE} is not set: run `cargo xtask test`"));
    let services = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut manifests: Vec<_> = services.map(|service| manifest(&Model::read(&service))).collect();
    manifests.sort_by(|one, other| one.name.cmp(&other.name));
    manifests
}

fn manifest(model: &Model) -> Manifest {
    let mut operations = model.operations();
    operations.retain(|operation| snake_case(operation.name).len() <= NAME_BYTES);
    let most = share(&model.service).min(operations.len());
    let taken = (0..most).map(|index| &operations[index * operations.len() / most]);
    Manifest {
        name: model.service.clone(),
        version: model.version.clone(),
        description: prose::plain(model.documentation(), DESCRIPTION_BYTES_MAX),
        tools: taken.map(|operation| tool(model, operation)).collect(),
        dependencies: Vec::new(),
    }
}

fn tool(model: &Model, operation: &Operation<'_>) -> Tool {
    Tool {
        description: prose::plain(operation.documentation, DESCRIPTION_BYTES_MAX),
        schema: shape::schema(model, operation.input).to_string(),
        ..Tool::new(&snake_case(operation.name))
    }
}

/// Converts the name of an operation to a tool name: `ListSAMLProviders` becomes `list_saml_providers`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.char_indices() {
        // A capital starts a word after a small letter, and before one. Between capitals it is part of an abbreviation.
        let before = name[..at].ends_with(|before: char| !before.is_ascii_uppercase());
        let after = name[at + 1..].starts_with(|after: char| after.is_ascii_lowercase());
        if at > 0 && letter.is_ascii_uppercase() && (before || after) {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_start_words() {
        let names =
            [("ListSAMLProviders", "list_saml_providers"), ("ListObjectsV2", "list_objects_v2"), ("Scan", "scan")];
        names.iter().for_each(|(name, snake)| assert_eq!(snake_case(name), *snake));
    }
}
