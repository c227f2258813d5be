//! Directories that no policy can grant: F07, F30.

use crate::filesystem::lab::{Grant, Lab};
use portcullis::policy_files::GrantError;
use portcullis::{Code, Compiler, Host, OpenError, Request};
use portcullis_tests::{Site, allow_all, built_guest};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Opens a host that grants write access to this path, relative to the site.
async fn granted(site: &Site, path: &str) -> Result<Host, OpenError> {
    let directory = format!("{{ path = \"{path}\", access = \"read-write\" }}");
    let plugin = format!("[plugin.probe]\ndirectory.workspace = {directory}\n");
    site.builder(&format!("{}{plugin}", allow_all(""))).open().await
}

fn site() -> Site {
    let site = Site::new();
    site.plugin("probe", &built_guest("probe"));
    site.directory("work");
    site
}

#[tokio::test]
async fn f07_directories_of_the_system_cannot_be_granted() {
    let site = site();
    symlink("/proc/self", site.path("innocent")).unwrap();
    symlink("/dev", site.path("work/deep")).unwrap();
    for path in
        ["/", "/proc", "/proc/self", "/proc/self/root", "/sys", "/dev", "/dev/..", "/run", "innocent", "work/deep"]
    {
        match granted(&site, path).await {
            Err(OpenError::Grants(GrantError::Grant { .. } | GrantError::Covers { .. })) => {}
            Err(error) => panic!("{path}: {error}"),
            Ok(_) => panic!("{path} was granted"),
        }
    }
}

#[tokio::test]
async fn a_path_that_is_not_a_directory_cannot_be_granted() {
    let site = site();
    fs::write(site.path("file"), "").unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, site.path("pipe"), fifo, mode, 0).unwrap();
    for path in ["file", "pipe", "nothing", "work/../nothing"] {
        let Err(error) = granted(&site, path).await else { panic!("{path} was granted") };
        assert!(matches!(error, OpenError::Grants(GrantError::Grant { .. })), "{path}: {error}");
    }
}

/// Under any name, and also their parents and subdirectories.
#[tokio::test]
async fn f30_the_hosts_own_directories_cannot_be_granted() {
    let site = site();
    assert!(granted(&site, "work").await.is_ok());
    site.directory("plugins/inside");
    site.directory("state/inside");
    for (link, target) in [("to-plugins", "plugins"), ("to-state", "state/cache"), ("work/to-all", "../..")] {
        symlink(target, site.path(link)).unwrap();
    }
    for path in [
        ".",
        "..",
        "plugins",
        "plugins/",
        "./work/../plugins",
        "plugins/inside",
        "state",
        "state/cache",
        "state/inside",
        "to-plugins",
        "to-state",
        "work/..",
        "work/to-all",
        "/tmp",
    ] {
        match granted(&site, path).await {
            Err(OpenError::Grants(GrantError::Covers { .. })) => {}
            // The site's temporary directory may itself contain, or be inside, a directory that the system reserves.
            Err(OpenError::Grants(GrantError::Grant { .. })) if Path::new(path).is_absolute() => {}
            Err(error) => panic!("{path}: {error}"),
            Ok(_) => assert!(path == "/tmp" && !site.path("").starts_with("/tmp"), "{path} was granted"),
        }
    }
}

/// What a plugin cannot change may be granted.
#[tokio::test]
async fn the_plugin_directory_can_be_granted_read_only() {
    let site = site();
    for path in ["plugins", "to-plugins"] {
        let _ = symlink("plugins", site.path("to-plugins"));
        let plugin = format!("[plugin.probe]\ndirectory.workspace = {{ path = \"{path}\" }}\n");
        site.open(&format!("{}{plugin}", allow_all(""))).await;
    }
}

#[tokio::test]
async fn f30_the_directory_of_the_policy_can_be_granted_only_if_the_policy_stays_as_it_is() {
    let site = site();
    for (folder, path, rights, granted) in [
        ("policies", "policies", "writable = [\"portcullis.toml\"]", false),
        ("policies", ".", "", false),
        ("policies", "policies/beside", "", true),
        ("work/policies", "work", "", false),
        ("policies", "linked", "writable = [\"portcullis.toml\"]", false),
        // The default masks protect it in the granted directory itself.
        ("policies", "policies", "", true),
        ("policies", "policies", "writable = [\"portcullis.toml\"], hidden = [\"/portcullis.toml\"]", true),
        ("work/policies", "work", "read-only = [\"policies/**\"]", true),
    ] {
        let policy = site.directory(folder).join("portcullis.toml");
        site.directory("policies/beside");
        let _ = symlink("policies", site.path("linked"));
        let path = site.path(path);
        let rights = if rights.is_empty() { String::new() } else { format!(", {rights}") };
        let directory = format!("{{ path = {path:?}, access = \"read-write\"{rights} }}");
        let line = format!("[plugin.probe]\ndirectory.workspace = {directory}\n");
        fs::write(&policy, line).unwrap();
        let builder = Host::builder(site.plugins(), site.state()).compiler(Compiler::InProcess).calls(1);
        match builder.policy_file(&policy).open().await {
            Ok(_) => assert!(granted, "{} was granted", path.display()),
            Err(OpenError::Grants(GrantError::Covers { .. } | GrantError::Unmasked { .. })) => {
                assert!(!granted, "{} was not granted", path.display())
            }
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
}

/// Without a grant, a tool that needs the directory cannot be called, and a tool that does not need it gets no
/// directory.
#[tokio::test]
async fn without_a_grant_there_is_no_directory() {
    let site = site();
    let host = site.open(&allow_all("")).await;
    for tool in ["probe.run", "probe.look"] {
        let reply = host.call(Request::new(tool, r#"{"steps":[]}"#)).await;
        assert_eq!(reply.code, Code::DependencyNotGranted, "{}", reply.message);
    }
    let lab = Lab::open(Grant::ReadWrite, "").await;
    lab.refuses(vec![
        json!({"op": "stat", "on": "other"}),
        json!({"op": "std-list", "path": "/other"}),
        json!({"op": "std-list", "path": "/"}),
    ])
    .await;
}
