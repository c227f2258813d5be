//! The cache of compiled code, damaged in many ways: a damaged entry is not used but compiled again, and the audit log
//! reports it. S42, S43, S45.

use crate::record::desk::{entries, text};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use portcullis::plugins::{CodeCache, Engine, EngineConfig, LoadError, Loaded, Observer};
use portcullis::policy::{Limits, PluginName};
use portcullis::{Code, Compiler, Host, HostBuilder, OpenError, Request, open_audit};
use portcullis_sandbox::CodeStore;
use portcullis_tests::{Manifest, Site, allow_all, guest, program};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts compilations.
#[derive(Default)]
pub(crate) struct Compilations(AtomicUsize);

impl Compilations {
    /// Returns the number of compilations since the last call.
    pub(crate) fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl Observer for Compilations {
    fn compiling(&self, _: &PluginName) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn compiled(&self, _: &PluginName) {}
}

/// Removes the indexes of an earlier host, so that a host reads the files and the entries of their plugins.
fn forget_indexes(site: &Site) {
    if site.state().join("cache").is_dir() {
        cached(site, "index").iter().for_each(|index| fs::remove_file(index).unwrap());
    }
}

/// Opens a host without an index, and calls the good plugin. Returns the number of compilations.
async fn open_and_call(site: &Site) -> usize {
    forget_indexes(site);
    let (host, compilations) = counted(site.cold_builder(&allow_all(""))).await;
    let reply = host.call(Request::new("good.run", r#"{"still":"here"}"#)).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, r#"{"still":"here"}"#));
    compilations.take()
}

/// Opens a host, and counts its compilations.
pub(crate) async fn counted(builder: HostBuilder) -> (Host, Arc<Compilations>) {
    let compilations = Arc::new(Compilations::default());
    let host = builder.observer(Arc::clone(&compilations) as _).open().await.unwrap();
    (host, compilations)
}

/// Returns the events about plugins in the audit log.
pub(crate) fn events(site: &Site) -> Vec<String> {
    let entries = entries(&site.state());
    let events = entries.iter().filter(|entry| entry.document["kind"] == "plugin");
    events.map(|entry| text(&entry.document["event"])).collect()
}

/// Returns the cache's files of one kind, sorted.
pub(crate) fn cached(site: &Site, extension: &str) -> Vec<PathBuf> {
    files_of(&site.state(), extension)
}

/// Returns the same for a directory with a cache.
pub(crate) fn files_of(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(directory.join("cache")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

/// The length of the MAC and of the mark of the layout at the end of an entry, in bytes.
const SEAL_BYTES: usize = 40;

/// Damages an entry. The second path is a place for a copy.
pub(crate) type Tampering = (&'static str, fn(&Path, &Path));

pub(crate) const TAMPERINGS: [Tampering; 12] = [
    ("the first byte flipped", |entry, _| flip(entry, |_| 0)),
    ("a byte in the middle flipped", |entry, _| flip(entry, |length| length / 2)),
    ("the last byte of the content flipped", |entry, _| flip(entry, |length| length - SEAL_BYTES - 1)),
    ("a byte of the MAC flipped", |entry, _| flip(entry, |length| length - 20)),
    ("the last byte flipped", |entry, _| flip(entry, |length| length - 1)),
    ("cut by a byte", |entry, _| cut(entry, |length| length - 1)),
    ("cut to the length of its seal", |entry, _| cut(entry, |_| SEAL_BYTES)),
    ("emptied", |entry, _| cut(entry, |_| 0)),
    ("a byte longer", |entry, _| {
        let bytes = fs::read(entry).unwrap();
        fs::write(entry, [bytes.as_slice(), &[0]].concat()).unwrap();
    }),
    ("a link to itself elsewhere", |entry, aside| {
        fs::rename(entry, aside).unwrap();
        symlink(aside, entry).unwrap();
    }),
    ("writable for the group", |entry, _| fs::set_permissions(entry, Permissions::from_mode(0o620)).unwrap()),
    ("writable for everybody", |entry, _| fs::set_permissions(entry, Permissions::from_mode(0o602)).unwrap()),
];

pub(crate) fn flip(entry: &Path, at: impl Fn(usize) -> usize) {
    let mut bytes = fs::read(entry).unwrap();
    let at = at(bytes.len());
    bytes[at] ^= 1;
    fs::write(entry, bytes).unwrap();
}

fn cut(entry: &Path, length: impl Fn(usize) -> usize) {
    let bytes = fs::read(entry).unwrap();
    fs::write(entry, &bytes[..length(bytes.len())]).unwrap();
}

/// After each, the host opens, the call works, the entry is compiled again, the audit log reports it once, and then the
/// cache works as before.
#[tokio::test]
async fn a_damaged_entry_is_not_used() {
    let site = Site::new();
    assert_eq!(open_and_call(&site).await, 1);
    assert_eq!(open_and_call(&site).await, 0, "a cached plugin must not be compiled");
    for (extension, compilations) in [("code", 1), ("manifest", 0)] {
        for (what, tamper) in TAMPERINGS {
            let told = events(&site).len();
            tamper(&cached(&site, extension)[0], &site.path("aside"));
            assert_eq!(open_and_call(&site).await, compilations, "{extension}: {what}");
            assert_eq!(events(&site).len(), told + 1, "{extension}: {what}: {:?}", &events(&site)[told..]);
            assert_eq!(open_and_call(&site).await, 0, "{extension}: {what}, and made anew");
            assert_eq!(events(&site).len(), told + 1, "{extension}: {what}, and made anew");
        }
    }
}

/// Two clients that start a server each at the same time do not compile each plugin twice.
#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_start_together_compile_a_plugin_once() {
    let (site, program) = (Site::new(), program());
    let line = format!("echo >> compilations; exec '{}' portcullis-compile-worker", program.display());
    let compiler = || {
        let line = format!("cd '{}'; {line}", site.path("").display());
        Compiler::Program { program: "/bin/sh".into(), arguments: vec!["-c".into(), line.into()] }
    };
    let start = async || site.builder_with(&allow_all(""), compiler()).open().await.unwrap();
    let (one, other) = tokio::join!(start(), start());
    for host in [one, other] {
        assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    }
    assert_eq!(fs::read_to_string(site.path("compilations")).unwrap().lines().count(), 1);
    assert!(cached(&site, "new").is_empty(), "a turn left its file behind");
}

#[test]
fn a_turn_to_compile_belongs_to_one_store_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let store = || {
        let directory = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        CodeStore::new(directory, &[7; 32], Some([1; 32]))
    };
    let files = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let (one, other, plugin) = (store(), store(), [1; 32]);
    let turn = one.try_turn(&plugin).unwrap().unwrap();
    assert!(other.try_turn(&plugin).unwrap().is_none());
    assert!(other.try_turn(&[2; 32]).unwrap().is_some(), "a turn is about one plugin");
    let [file] = &files()[..] else { panic!("{:?}", files()) };
    drop(turn);
    assert_eq!(files().len(), 0);
    // A process that died leaves its file without a lock.
    fs::write(file, "").unwrap();
    assert!(other.try_turn(&plugin).unwrap().is_some());
    fs::write(file, "").unwrap();
    one.make_room();
    assert_eq!(files().len(), 0);
}

/// Returns the engine of a command that examines a component without a host.
pub(crate) fn engine() -> Engine {
    Engine::new(&EngineConfig { calls: 1, largest: Limits::default(), store_value_bytes: 0 }).unwrap()
}

/// Loads the good plugin without a host, with a cache in a directory of its own. A second load needs no compiler, and a
/// damaged entry is not used.
#[tokio::test]
async fn a_component_that_is_examined_twice_is_compiled_once() {
    let site = Site::new();
    let bytes = guest("good", &Manifest::of("good"));
    let engine = engine();
    let absent = Compiler::Program { program: site.path("none"), arguments: Vec::new() };
    let cache = CodeCache::new(site.path("kept"));
    let kept = cache.directory_of(&bytes);
    let load =
        async |compiler: &Compiler| Loaded::load("good", &bytes, &engine, compiler, Some(&cache)).await.map(drop);
    let is_compiled = |loaded: Result<(), LoadError>| matches!(loaded, Err(LoadError::Compile(_)));

    assert!(is_compiled(load(&absent).await) && !kept.exists(), "nothing is kept of a failure");
    load(&Compiler::InProcess).await.unwrap();
    load(&absent).await.unwrap();
    for (what, tamper) in TAMPERINGS {
        tamper(&files_of(&kept, "code")[0], &site.path("aside"));
        assert!(is_compiled(load(&absent).await), "{what}");
        load(&Compiler::InProcess).await.unwrap();
        load(&absent).await.unwrap_or_else(|error| panic!("{what}, and made anew: {error}"));
    }
    // With another key, nothing in the cache is valid.
    flip(&kept.join("key"), |_| 0);
    assert!(is_compiled(load(&absent).await));
    load(&Compiler::InProcess).await.unwrap();
    fs::set_permissions(&kept, Permissions::from_mode(0o777)).unwrap();
    assert!(is_compiled(load(&absent).await), "others can write to the directory");
}

/// An entry that is not a file cannot be replaced, but does not prevent anything from working.
#[tokio::test]
async fn an_entry_that_is_not_a_file_is_not_used() {
    for pipe in [true, false] {
        let site = Site::new();
        open_and_call(&site).await;
        let entry = cached(&site, "code").remove(0);
        fs::remove_file(&entry).unwrap();
        if pipe {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mknodat(rustix::fs::CWD, &entry, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        } else {
            fs::create_dir(&entry).unwrap();
        }
        assert_eq!(open_and_call(&site).await, 1);
        assert!(!events(&site).is_empty(), "the audit log must report it");
    }
}

/// Makes a site with two plugins that differ only in their name.
fn two() -> Site {
    let site = Site::new();
    site.plugin("twin", &guest("good", &Manifest::of("twin")));
    site
}

/// Two valid entries that are swapped are invalid: an entry is bound to its plugin.
#[tokio::test]
async fn an_entry_of_another_plugin_is_not_used() {
    for extension in ["code", "manifest"] {
        let site = two();
        open_and_call(&site).await;
        let entries = cached(&site, extension);
        let [one, other] = entries.as_slice() else { panic!("{entries:?}") };
        let bytes = (fs::read(one).unwrap(), fs::read(other).unwrap());
        fs::write(one, bytes.1).unwrap();
        fs::write(other, bytes.0).unwrap();
        forget_indexes(&site);
        let host = site.open(&allow_all("")).await;
        for tool in ["good.run", "twin.run"] {
            assert_eq!(host.call(Request::new(tool, "{}")).await.code, Code::Completed);
        }
        assert_eq!(events(&site).len(), 2, "{extension}: {:?}", events(&site));
    }
}

/// A cached description cannot be used as code, or code as a description.
#[tokio::test]
async fn an_entry_of_another_kind_is_not_used() {
    let site = Site::new();
    open_and_call(&site).await;
    fs::copy(&cached(&site, "manifest")[0], &cached(&site, "code")[0]).unwrap();
    assert_eq!(open_and_call(&site).await, 1);
    assert_eq!(events(&site).len(), 1);
}

/// The same plugin, compiled by the same host program with another key.
#[tokio::test]
async fn an_entry_under_another_key_is_not_used() {
    let (site, other) = (Site::new(), Site::new());
    open_and_call(&site).await;
    open_and_call(&other).await;
    for (extension, compilations) in [("code", 1), ("manifest", 0)] {
        let (mine, theirs) = (cached(&site, extension).remove(0), cached(&other, extension).remove(0));
        assert_eq!(mine.file_name(), theirs.file_name(), "the name of an entry does not depend on the key");
        let told = events(&site).len();
        fs::copy(theirs, mine).unwrap();
        assert_eq!(open_and_call(&site).await, compilations, "{extension}");
        assert_eq!(events(&site).len(), told + 1, "{extension}");
    }
}

/// If other users could write entries or read the key, the host does not open.
#[tokio::test]
async fn a_host_does_not_open_a_state_directory_that_is_open_to_others() {
    for (directory, mode) in [("state", 0o750), ("state", 0o701), ("state/cache", 0o770), ("state/cache", 0o702)] {
        let site = Site::new();
        open_and_call(&site).await;
        fs::set_permissions(site.path(directory), Permissions::from_mode(mode)).unwrap();
        let opened = site.builder("").open().await.map(drop);
        assert!(matches!(opened, Err(OpenError::Place(_))), "{directory} {mode:o}");
        assert!(open_audit(&site.state()).await.is_err(), "{directory} {mode:o}");
    }
}

/// Opens a host that has loaded the good plugin from the cache and never used it.
async fn loaded(site: &Site) -> Host {
    open_and_call(site).await;
    site.open(&allow_all("")).await
}

/// S45: the file is replaced after it was loaded, and must be read again because its cached code is lost. The call runs
/// the loaded plugin or fails.
#[tokio::test]
async fn a_plugin_that_is_replaced_before_its_first_use_is_refused() {
    let other = guest("json-echo", &Manifest::of("good"));
    let site = Site::new();
    let host = loaded(&site).await;
    site.plugin("good", &other);
    fs::remove_file(cached(&site, "code").remove(0)).unwrap();
    for _ in 0..2 {
        let reply = host.call(Request::new("good.run", "{}")).await;
        assert_eq!(reply.code, Code::PluginRefused, "{}", reply.message);
        let outcome = portcullis_tests::outcome_of(&host, &reply.id);
        assert!(text(&outcome["detail"]).contains("changed since it was loaded"), "{outcome}");
    }
    site.plugin("good", &guest("good", &Manifest::of("good")));
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed, "the loaded plugin is back");
}

/// While its code is cached, the loaded plugin runs, whatever happens to the file.
#[tokio::test]
async fn a_plugin_that_is_replaced_after_load_runs_as_loaded() {
    let site = Site::new();
    let host = loaded(&site).await;
    site.plugin("good", b"no component at all");
    let reply = host.call(Request::new("good.run", r#"{"a":1}"#)).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, r#"{"a":1}"#));
    fs::remove_file(site.plugins().join("good.wasm")).unwrap();
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
}
