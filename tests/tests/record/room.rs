//! Room in the state directory: what dead processes leave is removed when a host opens, and the cache has a bound.

use crate::cache::cached;
use portcullis::{Code, Host, Request};
use portcullis_tests::{Manifest, Site, allow_all, guest};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The bound of the cache that `docs/limits.md` names.
const CACHE_BYTES: u64 = 1 << 30;

/// More than this process has written entries before, and fewer than the files that it may open.
const WRITERS: usize = 600;

/// Creates a file without a lock, as a killed process leaves it.
fn leave(path: &Path) -> PathBuf {
    fs::write(path, b"left").unwrap();
    path.to_owned()
}

/// Creates a file with a lock, as a running process holds it. Dropping the result ends the lock.
fn hold(path: &Path) -> File {
    let file = File::create(path).unwrap();
    flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    file
}

#[tokio::test]
async fn what_dead_processes_left_is_removed_at_open() {
    let site = Site::new();
    let first = site.open(&allow_all("")).await;
    let owners = site.state().join("owners");
    let mine: Vec<PathBuf> = fs::read_dir(&owners).unwrap().map(|entry| entry.unwrap().path()).collect();
    let entry = cached(&site, "code").remove(0);
    let unfinished = |writer: u32| entry.with_extension(format!("code.1.{writer}.new"));
    let left = [leave(&owners.join("a".repeat(32))), leave(&unfinished(0))];
    let (owner, writer) = (owners.join("b".repeat(32)), unfinished(1));
    let held = [hold(&owner), hold(&writer)];
    let foreign = leave(&site.state().join("cache/notes.txt"));
    drop(site.open(&allow_all("")).await);
    assert!(left.iter().all(|file| !file.exists()), "{left:?}");
    assert!(owner.exists() && writer.exists(), "their processes run");
    assert!(mine.iter().chain([&foreign, &entry]).all(|file| file.exists()), "{mine:?}");
    drop(held);
    drop(site.open(&allow_all("")).await);
    assert!(!owner.exists() && !writer.exists());
    assert_eq!(first.call(Request::new("good.run", "{}")).await.code, Code::Completed);
}

/// Two containers on one state directory can have processes of one number.
#[tokio::test]
async fn a_file_that_a_process_of_the_same_number_writes_is_left_alone() {
    let (first, second) = (Site::new(), Site::new());
    drop(first.open(&allow_all("")).await);
    let entry = cached(&first, "code").remove(0);
    drop(opened_without_good(&second).await);
    let unfinished = |writer: usize| {
        let name = format!("{}.{}.{writer}.new", entry.file_name().unwrap().display(), std::process::id());
        second.state().join("cache").join(name)
    };
    let held: Vec<File> = (0..WRITERS).map(|writer| hold(&unfinished(writer))).collect();
    held.iter().for_each(|file| file.set_len(1).unwrap());
    drop(second.open(&allow_all("")).await);
    assert!(held.iter().all(|file| file.metadata().unwrap().len() == 1), "another writer's file was changed");
    assert_eq!(fs::metadata(&cached(&second, "code")[0]).unwrap().len(), fs::metadata(&entry).unwrap().len());
}

/// An entry of a size that was used so long ago.
fn entry(site: &Site, digit: &str, bytes: u64, hours: u64) -> PathBuf {
    let path = site.state().join("cache").join(format!("{}.code", digit.repeat(64)));
    let file = File::create(&path).unwrap();
    // It has no blocks on the disk, and counts as what it says.
    file.set_len(bytes).unwrap();
    used(&path, hours);
    path
}

fn used(path: &Path, hours: u64) {
    let used = SystemTime::now() - Duration::from_secs(hours * 60 * 60);
    File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_modified(used)).unwrap();
}

async fn opened_with_other(site: &Site) -> Host {
    site.plugin("other", &guest("good", &Manifest::of("other")));
    site.open(&allow_all("")).await
}

#[tokio::test]
async fn the_cache_keeps_below_its_bound_by_removing_what_was_not_used_for_longest() {
    let site = Site::new();
    drop(site.open(&allow_all("")).await);
    let (oldest, middle, newest) = (
        entry(&site, "a", CACHE_BYTES / 2, 30),
        entry(&site, "b", CACHE_BYTES / 2, 20),
        entry(&site, "c", CACHE_BYTES / 4, 10),
    );
    drop(opened_with_other(&site).await);
    assert!(!oldest.exists() && middle.exists() && newest.exists());
    let total: u64 =
        fs::read_dir(site.state().join("cache")).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!(total <= CACHE_BYTES, "{total}");
}

#[tokio::test]
async fn code_that_a_live_host_uses_stays_in_the_cache() {
    let site = Site::new();
    drop(site.open(&allow_all("")).await);
    let host = site.open(&allow_all("")).await;
    let mine = cached(&site, "code").remove(0);
    let full = || entry(&site, "a", CACHE_BYTES, 1);
    used(&mine, 1000);
    full();
    drop(opened_without_good(&site).await);
    assert!(mine.exists(), "a host that has not yet run it uses it");
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    drop(host);
    used(&mine, 1000);
    full();
    drop(opened_without_good(&site).await);
    assert!(!mine.exists(), "no host uses it any more");
}

/// Another host of the same state, which does not load the plugin.
async fn opened_without_good(site: &Site) -> Host {
    let elsewhere = site.directory("elsewhere");
    let builder = Host::builder(elsewhere, site.state(), portcullis::Compiler::InProcess);
    builder.policy_text(&allow_all(""), site.path("")).open().await.unwrap()
}

/// What is used often is not what goes, however long ago it was written.
#[tokio::test]
async fn an_entry_that_is_used_again_is_as_good_as_new() {
    let site = Site::new();
    drop(site.open(&allow_all("")).await);
    let mine = cached(&site, "code").remove(0);
    used(&mine, 1000);
    let other = entry(&site, "a", CACHE_BYTES, 500);
    drop(site.open(&allow_all("")).await);
    assert!(mine.exists() && !other.exists());
}
