//! Large code is mapped from the cache: hosts share its memory. It is checked like small code, and copied where a file
//! system does not allow to run code.

use crate::record::cache::{cached, counted, events, flip};
use portcullis::{Code, Request};
use portcullis_tests::{Manifest, Ran, Site, allow_all, guest, program, with_fields};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The size of the data in the code, in bytes. Smaller code is copied.
const DATA_BYTES: usize = 2 * 1024 * 1024;

/// Makes a site whose plugin has large code.
fn site() -> Site {
    let site = Site::new();
    let data = "x".repeat(DATA_BYTES);
    let fields = format!("(core module (memory 32) (data (i32.const 0) \"{data}\"))");
    let good = guest("good", &Manifest::of("good"));
    site.plugin("good", &with_fields(&good, &fields));
    site
}

/// Opens a host and calls the plugin. Returns the number of compilations, and whether this process has mapped the entry
/// meanwhile.
async fn open_and_call(site: &Site) -> (usize, bool) {
    let (host, compilations) = counted(site.cold_builder(&allow_all(""))).await;
    let reply = host.call(Request::new("good.run", r#"{"still":"here"}"#)).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, r#"{"still":"here"}"#));
    (compilations.take(), is_mapped(&cached(site, "code")[0]))
}

/// Returns whether this process may run code from a file.
fn is_mapped(entry: &Path) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|line| line.contains(" r-xp ") && line.ends_with(entry.to_str().unwrap()))
}

#[tokio::test]
async fn large_code_is_mapped_from_the_cache() {
    let site = site();
    assert_eq!(open_and_call(&site).await, (1, true), "after it was compiled");
    assert_eq!(open_and_call(&site).await, (0, true), "in a later host");
    assert_eq!(events(&site), Vec::<String>::new());
}

/// It is mapped only while a host uses it.
#[tokio::test]
async fn a_closed_host_maps_nothing() {
    let site = site();
    open_and_call(&site).await;
    assert!(!is_mapped(&cached(&site, "code")[0]));
}

#[tokio::test]
async fn a_damaged_large_entry_is_not_mapped() {
    let site = site();
    open_and_call(&site).await;
    let damages: [fn(&Path); 3] = [
        |entry| flip(entry, |length| length / 2),
        |entry| flip(entry, |length| length - 1),
        |entry| {
            let bytes = fs::read(entry).unwrap();
            // Code that is mapped must not change under a host: put another file in its place.
            fs::remove_file(entry).unwrap();
            fs::write(entry, &bytes[..bytes.len() - 1]).unwrap();
        },
    ];
    for (number, damage) in damages.iter().enumerate() {
        damage(&cached(&site, "code")[0]);
        assert_eq!(open_and_call(&site).await, (1, true), "damage {number}");
        assert_eq!(events(&site).len(), number + 1, "damage {number}: {:?}", events(&site));
    }
}

/// A temporary directory often does not allow to run programs.
#[test]
fn code_on_a_file_system_that_runs_nothing_is_copied() {
    let site = site();
    fs::write(site.path("policy.toml"), allow_all("")).unwrap();
    fs::create_dir(site.path("mounted")).unwrap();
    let script = format!(
        "set -e; mount -t tmpfs -o noexec,mode=0700 tests {root}/mounted; for turn in 1 2; do \
         {program} call good.run '{{\"still\":\"here\"}}' --plugins {root}/plugins --policy {root}/policy.toml \
         --state {root}/mounted/state; done; ls {root}/mounted/state/cache",
        root = site.path(".").display(),
        program = program().display()
    );
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).env("HOME", site.path("."));
    let Ran { out, err, .. } = Ran::from(command.output().unwrap()).ends(0);
    assert_eq!(out.matches(r#"{"still":"here"}"#).count(), 2, "{out} {err}");
    assert!(out.contains(".code"), "{out}");
    assert!(!err.contains("not used"), "{err}");
}
