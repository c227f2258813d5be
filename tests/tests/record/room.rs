//! Space in the state directory: files of dead processes are removed when a host opens, and the cache has a size limit.

use crate::record::cache::cached;
use portcullis::{Code, Host, Request};
use portcullis_tests::{Manifest, Site, allow_all, guest};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The cache's size limit in `docs/limits.md`.
const CACHE_BYTES: u64 = 1 << 30;

/// More than the number of entries that this process has written before, and fewer than its limit on open files.
const WRITERS: usize = 600;

/// Creates a file without a lock, as a killed process leaves it.
fn leave(path: &Path) -> PathBuf {
    fs::write(path, b"left").unwrap();
    path.to_owned()
}

/// Creates a file with a lock, as a running process holds it. Dropping the result releases the lock.
fn hold(path: &Path) -> File {
    let file = File::create(path).unwrap();
    flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    file
}

#[tokio::test]
async fn files_of_dead_processes_are_removed_when_a_host_opens() {
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
    assert!(owner.exists() && writer.exists(), "files of running processes must be kept");
    assert!(mine.iter().chain([&foreign, &entry]).all(|file| file.exists()), "{mine:?}");
    drop(held);
    drop(site.open(&allow_all("")).await);
    assert!(!owner.exists() && !writer.exists());
    assert_eq!(first.call(Request::new("good.run", "{}")).await.code, Code::Completed);
}

/// Two containers that share a state directory can have processes with the same ID.
#[tokio::test]
async fn a_file_of_a_running_process_with_the_same_id_is_kept() {
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
    assert!(held.iter().all(|file| file.metadata().unwrap().len() == 1), "the file of another process was changed");
    assert_eq!(fs::metadata(&cached(&second, "code")[0]).unwrap().len(), fs::metadata(&entry).unwrap().len());
}

/// Creates an entry of a size that was last used this long ago.
fn entry(site: &Site, digit: &str, bytes: u64, hours: u64) -> PathBuf {
    let path = site.state().join("cache").join(format!("{}.code", digit.repeat(64)));
    let file = File::create(&path).unwrap();
    // The file is sparse, and counts with its length.
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
async fn the_cache_stays_below_its_limit_by_removing_the_least_recently_used() {
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
async fn code_of_a_running_host_stays_in_the_cache() {
    let site = Site::new();
    drop(site.open(&allow_all("")).await);
    let host = site.open(&allow_all("")).await;
    let mine = cached(&site, "code").remove(0);
    let full = || entry(&site, "a", CACHE_BYTES, 1);
    used(&mine, 1000);
    full();
    drop(opened_without_good(&site).await);
    assert!(mine.exists(), "the entry is in use by a host that has not run it yet");
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    drop(host);
    used(&mine, 1000);
    full();
    drop(opened_without_good(&site).await);
    assert!(!mine.exists(), "the entry is not in use any more");
}

/// Opens another host of the same state directory, which does not load the plugin.
async fn opened_without_good(site: &Site) -> Host {
    let elsewhere = site.directory("elsewhere");
    let builder = Host::builder(elsewhere, site.state()).compiler(portcullis::Compiler::InProcess);
    builder.policy_text(&allow_all(""), site.path("")).open().await.unwrap()
}

/// An entry that is used is kept, however old it is.
#[tokio::test]
async fn using_an_entry_renews_it() {
    let site = Site::new();
    drop(site.open(&allow_all("")).await);
    let mine = cached(&site, "code").remove(0);
    used(&mine, 1000);
    let other = entry(&site, "a", CACHE_BYTES, 500);
    drop(site.open(&allow_all("")).await);
    assert!(mine.exists() && !other.exists());
}
