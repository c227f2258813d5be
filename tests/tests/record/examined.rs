//! Code that commands without a host have compiled: a host takes it, if it is as it was written, and no grant may
//! contain it.

use crate::record::cache::{TAMPERINGS, counted, engine, files_of};
use portcullis::plugins::{CodeCache, Loaded};
use portcullis::policy_files::GrantError;
use portcullis::state::StatePlace;
use portcullis::{Code, Compiler, Host, HostBuilder, OpenError, Request};
use portcullis_tests::{Manifest, Ran, Site, allow_all, built_guest, guest};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Returns the cache of examined code in a site.
fn cache_in(site: &Site) -> PathBuf {
    site.path("examined")
}

/// Examines the good plugin, and returns the directory of its code.
async fn examine(site: &Site) -> PathBuf {
    let bytes = guest("good", &Manifest::of("good"));
    let cache = CodeCache::new(cache_in(site));
    Loaded::load("good", &bytes, &engine(), &Compiler::InProcess, Some(&cache)).await.unwrap();
    cache.directory_of(&bytes)
}

/// Returns the builder of a host with a state directory of this name.
fn builder(site: &Site, state: &str, policy: &str) -> HostBuilder {
    builder_with(site, state, cache_in(site), policy)
}

/// Returns the same with another cache of examined code.
fn builder_with(site: &Site, state: &str, cache: PathBuf, policy: &str) -> HostBuilder {
    let place = StatePlace::from(site.path(state)).examined_code(cache);
    Host::builder(site.plugins(), place).compiler(Compiler::InProcess).policy_text(policy, site.path(""))
}

/// Opens a host and calls the good plugin. Returns the number of compilations.
async fn open_and_call(builder: HostBuilder) -> usize {
    let (host, compilations) = counted(builder).await;
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    compilations.take()
}

#[tokio::test]
async fn a_host_takes_the_code_of_an_examined_plugin() {
    let site = Site::new();
    let allowed = allow_all("");
    assert_eq!(open_and_call(builder(&site, "before", &allowed)).await, 1);
    assert!(!cache_in(&site).exists(), "a host adds nothing");

    examine(&site).await;
    assert_eq!(open_and_call(builder(&site, "after", &allowed)).await, 0);
    // It has kept the code.
    fs::remove_dir_all(cache_in(&site)).unwrap();
    assert_eq!(files_of(&site.path("after"), "code").len(), 1);
    assert_eq!(open_and_call(builder(&site, "after", &allowed)).await, 0);
}

#[tokio::test]
async fn a_host_takes_no_damaged_code() {
    let site = Site::new();
    let allowed = allow_all("");
    for (number, (what, tamper)) in TAMPERINGS.iter().enumerate() {
        let entry = examine(&site).await;
        tamper(&files_of(&entry, "code")[0], &site.path("aside"));
        let state = format!("state-{number}");
        assert_eq!(open_and_call(builder(&site, &state, &allowed)).await, 1, "{what}");
        fs::remove_dir_all(&entry).unwrap();
    }
    let entry = examine(&site).await;
    fs::set_permissions(&entry, Permissions::from_mode(0o770)).unwrap();
    assert_eq!(open_and_call(builder(&site, "exposed", &allowed)).await, 1, "others could change it");
}

/// Opens a host with this cache of examined code. It grants a directory of the site.
async fn granted(site: &Site, cache: PathBuf, path: &str, access: &str) -> Result<(), OpenError> {
    let directory = format!("{{ path = \"{path}\", access = \"{access}\" }}");
    let policy = format!("{}[plugin.probe]\ndirectory.workspace = {directory}\n", allow_all(""));
    builder_with(site, "state", cache, &policy).open().await.map(drop)
}

#[tokio::test]
async fn no_grant_contains_examined_code() {
    let site = Site::new();
    site.plugin("probe", &built_guest("probe"));
    site.directory("work");
    let refused = async |cache: PathBuf, path: &str| {
        for access in ["read-only", "read-write"] {
            let error = granted(&site, cache.clone(), path, access).await.expect_err(path);
            let is_named = error.to_string().contains("your cache of compiled code");
            let covers = matches!(error, OpenError::Grants(GrantError::Covers { .. }));
            assert!(covers && is_named, "{path} {access}: {error}");
        }
    };
    // It is somewhere else, so that the site's own directories do not explain a refusal.
    let place = site.directory("home/cache");
    symlink(place.join("code"), cache_in(&site)).unwrap();
    let dangling = granted(&site, cache_in(&site), "home", "read-write").await;
    assert!(dangling.is_err(), "what the link would lead to does not exist");
    fs::remove_file(cache_in(&site)).unwrap();
    symlink(&place, cache_in(&site)).unwrap();
    symlink("home", site.path("to-home")).unwrap();
    site.directory("home/cache/inside");
    for path in ["home", "home/cache", "home/cache/inside", "to-home", "examined"] {
        refused(cache_in(&site), path).await;
    }
    granted(&site, cache_in(&site), "work", "read-write").await.unwrap();

    // One that does not exist yet.
    let later = site.path("work/later/code");
    refused(later.clone(), "work").await;
    granted(&site, later, "home", "read-only").await.unwrap();
}

/// The program names the cache of its user to every host.
#[test]
fn the_program_grants_no_plugin_the_users_cache() {
    let site = Site::new();
    site.plugin("probe", &built_guest("probe"));
    let run = |arguments: &[&str]| -> Ran {
        let mut command = site.command(arguments);
        command.env("XDG_CACHE_HOME", site.directory("cache")).output().unwrap().into()
    };
    let grant = |path: &Path| {
        let directory = format!("directory.workspace = {{ path = \"{}\" }}\n", path.display());
        fs::write(site.path("policy.toml"), format!("{}[plugin.probe]\n{directory}", allow_all(""))).unwrap();
    };
    grant(&site.path("cache"));
    let refused = run(&["list"]);
    assert!(refused.err.contains("your cache of compiled code"), "{refused:?}");
    grant(&site.directory("work"));
    run(&["list"]).ends(0);
}
