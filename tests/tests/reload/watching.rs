//! Watching the plugin directory: every way to install a file is noticed, and nothing done to the directory ends the
//! watch.

use crate::reload::desk::{ALLOW, call, file, put, says, until, word};
use portcullis::Host;
use portcullis::plugins::Catalog;
use portcullis::policy::PluginName;
use portcullis_tests::{Manifest, Site};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

/// Returns whether a catalog has exactly these plugins, besides the host's own tools.
fn has(plugins: &[&str]) -> impl Fn(&Catalog) -> bool {
    let plugins: Vec<PluginName> = plugins.iter().map(|name| PluginName::new(name).unwrap()).collect();
    move |catalog| {
        let files = catalog.plugins().filter(|plugin| !plugin.is_standard());
        files.map(|plugin| plugin.name()).eq(&plugins)
    }
}

/// Opens a host that allows every call and watches its directory.
async fn watched(site: &Site) -> (Host, portcullis::Watch) {
    let host = site.open(ALLOW).await;
    let watch = host.watch();
    (host, watch)
}

#[tokio::test]
async fn every_way_to_change_the_directory_is_noticed() {
    let site = Site::new();
    let (host, _watch) = watched(&site).await;
    let mut changes = host.catalog_changes();
    put(&site, "moved", "one");
    until(&mut changes, "a file that was moved into place", has(&["good", "moved"])).await;
    let bytes = says("one", &Manifest::of("written"));
    fs::write(file(&site, "written"), &bytes).unwrap();
    until(&mut changes, "a file that was written", has(&["good", "moved", "written"])).await;
    fs::write(site.path("linked"), says("one", &Manifest::of("linked"))).unwrap();
    fs::hard_link(site.path("linked"), file(&site, "linked")).unwrap();
    until(&mut changes, "a file that was linked", has(&["good", "linked", "moved", "written"])).await;
    fs::remove_file(file(&site, "moved")).unwrap();
    until(&mut changes, "a file that was removed", has(&["good", "linked", "written"])).await;
    fs::rename(file(&site, "linked"), site.path("away")).unwrap();
    until(&mut changes, "a file that was moved away", has(&["good", "written"])).await;
    fs::set_permissions(file(&site, "written"), Permissions::from_mode(0o666)).unwrap();
    until(&mut changes, "a file that was opened to others", |catalog| catalog.refusal("written").is_some()).await;
    fs::set_permissions(file(&site, "written"), Permissions::from_mode(0o644)).unwrap();
    until(&mut changes, "a file that was closed to others", |catalog| catalog.refused().is_empty()).await;
}

/// The tool always answers with an existing version, and in the end with the last one.
#[tokio::test]
async fn a_hundred_rapid_replacements_end_with_the_last_version() {
    let site = Site::new();
    put(&site, "tool", "0");
    let (host, _watch) = watched(&site).await;
    let mut changes = host.catalog_changes();
    let mut newest = 0;
    for version in 1..=100 {
        match version % 2 {
            0 => put(&site, "tool", &version.to_string()),
            _ => fs::write(file(&site, "tool"), says(&version.to_string(), &Manifest::of("tool"))).unwrap(),
        }
        let answers: u32 = word(call(&host, "tool").await).parse().unwrap();
        assert!((newest..=version).contains(&answers), "{answers} after {newest}, of {version}");
        newest = answers;
    }
    // Only the last version has three digits.
    let last = says("100", &Manifest::of("tool"));
    let is_last = |catalog: &Catalog| {
        catalog.plugin("tool").is_some_and(|plugin| plugin.bytes() == last.len() as u64) && catalog.refused().is_empty()
    };
    until(&mut changes, "the last version", is_last).await;
    assert_eq!(word(call(&host, "tool").await), "100");
}

#[tokio::test]
async fn a_directory_that_replaces_the_watched_one_is_followed() {
    let site = Site::new();
    let (host, _watch) = watched(&site).await;
    let mut changes = host.catalog_changes();
    // First next to it, and then in its place.
    fs::write(site.directory("next").join("other.wasm"), says("other", &Manifest::of("other"))).unwrap();
    fs::rename(site.plugins(), site.path("old")).unwrap();
    fs::rename(site.path("next"), site.plugins()).unwrap();
    until(&mut changes, "the other directory", has(&["other"])).await;
    put(&site, "third", "one");
    until(&mut changes, "a file in the other directory", has(&["other", "third"])).await;
    // Remove the directory with all its files, and create it again.
    fs::remove_dir_all(site.plugins()).unwrap();
    until(&mut changes, "nothing", has(&[])).await;
    fs::create_dir(site.plugins()).unwrap();
    put(&site, "back", "again");
    until(&mut changes, "the directory is back", has(&["back"])).await;
    assert_eq!(word(call(&host, "back").await), "again");
}

/// Another host would notice a change later than the stopped watch.
#[tokio::test]
async fn dropping_the_guard_ends_the_notifications() {
    let site = Site::new();
    let (stopped, watch) = watched(&site).await;
    let mut changes = stopped.catalog_changes();
    put(&site, "first", "one");
    until(&mut changes, "what comes while it watches", has(&["first", "good"])).await;
    drop(watch);
    let (watching, _watch) = watched(&site).await;
    let mut changes = watching.catalog_changes();
    put(&site, "second", "one");
    until(&mut changes, "the second", has(&["first", "good", "second"])).await;
    put(&site, "third", "one");
    until(&mut changes, "the third", has(&["first", "good", "second", "third"])).await;
    assert!(has(&["first", "good"])(&stopped.catalog()));
}
