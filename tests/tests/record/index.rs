//! The index of a plugin directory: an unchanged file is not read when a host opens, and an index or a file that was
//! tampered with only costs time, or quarantines the plugin.

use crate::record::cache::{cached, counted, events, flip};
use crate::record::desk::entries;
use portcullis::plugins::{Catalog, LoadError};
use portcullis::{Code, Compiler, Host, HostBuilder, Request};
use portcullis_tests::{Manifest, PATIENCE, Site, allow_all, component, eventually_async, guest, module};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes};
use std::io::{BufRead, BufReader, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};
use tokio::time::timeout;

/// How old a file must be to be indexed, with a margin: the host allows for file times in steps of three seconds.
const SETTLED_AFTER: Duration = Duration::from_secs(5);

/// A guest that answers with one word of four letters, so that its versions have the same size.
const SAYS: &str = r#"
(data (i32.const 2048) "WORD")
(func $execute (param i32 i32 i32 i32) (result i32) (call $answer (i32.const 0) (i32.const 2048) (i32.const 4)))
"#;

fn says(name: &str, word: &str) -> Vec<u8> {
    component(&module(&SAYS.replace("WORD", word), &Manifest::of(name)))
}

/// Waits until the files of a directory are so old that a later write must change their identity.
async fn settled(directory: &Path) {
    eventually_async("the files are old enough", || {
        let is_old = |file: fs::DirEntry| {
            let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(file.metadata().unwrap().ctime() as u64);
            SystemTime::now().duration_since(changed).is_ok_and(|age| age >= SETTLED_AFTER)
        };
        fs::read_dir(directory).unwrap().all(|file| is_old(file.unwrap())).then_some(())
    })
    .await;
}

/// Makes a site whose index has its plugins: the good one, and one that says `word`.
async fn indexed(word: &str) -> Site {
    let site = Site::new();
    site.plugin("tool", &says("tool", word));
    drop(open(&site).await);
    assert!(cached(&site, "index").is_empty(), "a file that was written a moment ago must not be indexed");
    settled(&site.plugins()).await;
    drop(open(&site).await);
    assert_eq!(cached(&site, "index").len(), 1);
    site
}

async fn open(site: &Site) -> Host {
    site.cold_builder(&allow_all("")).open().await.unwrap()
}

/// Returns the plugins and refusals of a catalog as text.
fn told(catalog: &Catalog) -> Vec<String> {
    let plugins = catalog.plugins().filter(|plugin| !plugin.is_standard());
    let plugins = plugins.map(|plugin| {
        let tools: Vec<_> = plugin.tools().map(|tool| (tool.name(), tool.description(), tool.sha256())).collect();
        let outline = (plugin.contract(), plugin.imports(), plugin.reviews(), plugin.bytes(), plugin.version());
        format!("{} {:?} {outline:?} {tools:?} {:?}", plugin.name(), plugin.sha256(), plugin.dependencies())
    });
    plugins.chain(catalog.refused().iter().map(|refused| format!("{} {}", refused.file, refused.error))).collect()
}

/// Asserts that the catalog is the one that a host has that reads every file.
async fn assert_same_as_without_index(site: &Site, host: &Host, what: &str) {
    let told_with = told(&host.catalog());
    cached(site, "index").iter().for_each(|index| fs::remove_file(index).unwrap());
    assert_eq!(told_with, told(&open(site).await.catalog()), "{what}");
}

async fn word(host: &Host) -> String {
    let reply = host.call(Request::new("tool.run", "{}")).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    reply.message
}

/// Notices which files of a directory are opened or read.
struct Opened(OwnedFd);

impl Opened {
    fn of(directory: &Path) -> Self {
        let watcher = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&watcher, directory, WatchFlags::OPEN | WatchFlags::ACCESS).unwrap();
        Self(watcher)
    }

    /// Returns the names of the files that were opened or read since the last call.
    fn take(&self) -> BTreeSet<String> {
        let (mut names, mut buffer) = (BTreeSet::new(), [MaybeUninit::uninit(); 4096]);
        let mut reader = Reader::new(&self.0, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => panic!("too many events"),
                Ok(event) => names.extend(event.file_name().map(|name| name.to_str().unwrap().to_owned())),
                Err(Errno::AGAIN) => return names,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[tokio::test]
async fn an_unchanged_file_is_neither_opened_nor_compiled_when_a_host_opens() {
    let site = Site::new();
    site.plugin("tool", &says("tool", "here"));
    // It is refused after it was compiled, and the reason is remembered.
    site.plugin("trapping", &guest("describe-traps", &Manifest::of("trapping")));
    settled(&site.plugins()).await;
    let first = told(&open(&site).await.catalog());
    let opened = Opened::of(&site.plugins());
    let (host, compilations) = counted(site.cold_builder(&allow_all(""))).await;
    assert_eq!(opened.take(), BTreeSet::new(), "a file was opened whose identity is known");
    assert_eq!(told(&host.catalog()), first);
    assert_eq!((host.catalog().refused().len(), compilations.take()), (1, 0));
    assert_eq!(word(&host).await, "here");
    assert_eq!(opened.take(), BTreeSet::new(), "a call needs only the cached code");
    assert!(host.reload().await.unwrap().is_empty());
    drop(host);
    // Without the index, the same host opens the files, so this test would notice.
    fs::remove_file(cached(&site, "index").remove(0)).unwrap();
    let host = open(&site).await;
    assert_eq!(opened.take().len(), 3);
    assert_eq!(told(&host.catalog()), first);
}

#[tokio::test]
async fn a_host_for_one_call_keeps_the_other_files_in_the_index() {
    let site = indexed("here").await;
    site.plugin("late", &says("late", "late"));
    settled(&site.plugins()).await;
    let builder = |site: &Site| site.cold_builder(&allow_all("")).only_for("late.run");
    drop(builder(&site).open().await.unwrap());
    let opened = Opened::of(&site.plugins());
    drop(builder(&site).open().await.unwrap());
    assert_eq!(told(&open(&site).await.catalog()).len(), 3);
    assert_eq!(opened.take(), BTreeSet::new());
}

/// Damages an index.
type IndexTampering = (&'static str, fn(&Path));

const TAMPERINGS: [IndexTampering; 7] = [
    ("the first byte flipped", |index| flip(index, |_| 0)),
    ("a byte of the MAC flipped", |index| flip(index, |_| 20)),
    ("a byte in the middle flipped", |index| flip(index, |length| length / 2)),
    ("the last byte flipped", |index| flip(index, |length| length - 1)),
    ("truncated by a byte", |index| truncate(index, |length| length - 1)),
    ("truncated to its header", |index| truncate(index, |_| 40)),
    ("truncated to nothing", |index| truncate(index, |_| 0)),
];

fn truncate(index: &Path, to: impl Fn(u64) -> u64) {
    let file = File::options().write(true).open(index).unwrap();
    file.set_len(to(file.metadata().unwrap().len())).unwrap();
}

#[tokio::test]
async fn an_index_with_other_bytes_or_a_cut_end_is_not_trusted() {
    let site = indexed("here").await;
    for (what, tamper) in TAMPERINGS {
        let noted = events(&site).len();
        tamper(&cached(&site, "index")[0]);
        let host = open(&site).await;
        assert_eq!(events(&site).len(), noted + 1, "{what}: {:?}", &events(&site)[noted..]);
        assert!(events(&site)[noted].starts_with("cached index not used: "), "{what}");
        assert_eq!(word(&host).await, "here", "{what}");
        drop(open(&site).await);
        assert_eq!(events(&site).len(), noted + 1, "{what}, and made anew");
        assert_same_as_without_index(&site, &host, what).await;
        drop(open(&site).await);
    }
}

/// A second directory of the same state, with a plugin of the same name.
async fn other_directory(site: &Site) -> (PathBuf, HostBuilder) {
    let other = site.directory("other");
    fs::write(other.join("tool.wasm"), says("tool", "more")).unwrap();
    settled(&other).await;
    let builder = || Host::builder(&other, site.state()).compiler(Compiler::InProcess);
    let builder = || builder().policy_text(&allow_all(""), site.path(""));
    let mine = cached(site, "index").remove(0);
    drop(builder().open().await.unwrap());
    let theirs = cached(site, "index").into_iter().find(|index| *index != mine).unwrap();
    (theirs, builder())
}

/// The name of an index is that of its directory. Under the name of another directory's index it is worth nothing.
#[tokio::test]
async fn the_index_of_another_directory_is_not_trusted() {
    let site = indexed("here").await;
    let mine = cached(&site, "index").remove(0);
    let (theirs, other) = other_directory(&site).await;
    let (one, two) = (fs::read(&mine).unwrap(), fs::read(&theirs).unwrap());
    let noted = events(&site).len();
    fs::write(&mine, two).unwrap();
    fs::write(&theirs, one).unwrap();
    let host = open(&site).await;
    assert_eq!(word(&host).await, "here");
    assert_eq!(word(&other.open().await.unwrap()).await, "more");
    assert_eq!(events(&site).len(), noted + 2, "{:?}", &events(&site)[noted..]);
    assert_same_as_without_index(&site, &host, "swapped").await;
}

#[tokio::test]
async fn an_index_under_another_key_is_not_trusted() {
    let site = indexed("here").await;
    let elsewhere = site.path("elsewhere");
    let builder = Host::builder(site.plugins(), &elsewhere).compiler(Compiler::InProcess);
    drop(builder.policy_text(&allow_all(""), site.path("")).open().await.unwrap());
    let mine = cached(&site, "index").remove(0);
    let theirs = elsewhere.join("cache").join(mine.file_name().unwrap());
    assert!(theirs.is_file(), "the name of an index does not depend on the key");
    let noted = events(&site).len();
    fs::copy(theirs, mine).unwrap();
    let host = open(&site).await;
    assert_eq!(events(&site).len(), noted + 1);
    assert_eq!(word(&host).await, "here");
    assert_same_as_without_index(&site, &host, "another key").await;
}

#[tokio::test]
async fn an_older_index_does_not_bring_back_an_older_plugin() {
    let site = indexed("here").await;
    let index = cached(&site, "index").remove(0);
    let older = fs::read(&index).unwrap();
    site.plugin("tool", &says("tool", "next"));
    settled(&site.plugins()).await;
    assert_eq!(word(&open(&site).await).await, "next");
    assert_ne!(fs::read(&index).unwrap(), older);
    fs::write(&index, older).unwrap();
    let host = open(&site).await;
    assert_eq!(word(&host).await, "next");
    assert_same_as_without_index(&site, &host, "an older index").await;
}

/// The file is written in place with as many bytes, and its time is set back. The time of the change tells.
#[tokio::test]
async fn setting_back_the_time_of_a_changed_file_does_not_hide_the_change() {
    let site = indexed("here").await;
    let path = site.plugins().join("tool.wasm");
    let before = fs::metadata(&path).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    (&file).write_all(&says("tool", "next")).unwrap();
    let times = FileTimes::new().set_modified(before.modified().unwrap()).set_accessed(before.accessed().unwrap());
    file.set_times(times).unwrap();
    let after = fs::metadata(&path).unwrap();
    let seen = |file: &fs::Metadata| (file.dev(), file.ino(), file.size(), file.modified().unwrap());
    assert_eq!(seen(&before), seen(&after));
    let host = open(&site).await;
    assert_eq!(word(&host).await, "next");
    assert_same_as_without_index(&site, &host, "the time set back").await;
}

/// Another file of the same size and time takes the place of the indexed one.
#[tokio::test]
async fn another_file_with_the_same_size_and_time_is_read() {
    let site = indexed("here").await;
    let (path, aside) = (site.plugins().join("tool.wasm"), site.path("aside"));
    fs::write(&aside, says("tool", "next")).unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    File::options().write(true).open(&aside).unwrap().set_times(FileTimes::new().set_modified(modified)).unwrap();
    fs::rename(&aside, &path).unwrap();
    let host = open(&site).await;
    assert_eq!(word(&host).await, "next");
    assert_same_as_without_index(&site, &host, "another file").await;
}

/// A program that has mapped a file writes to it again later. The system sets the time of the file only at the first
/// write to a page, until it has written the page to the disk. So the file keeps its identity, and has other bytes.
struct Mapped(Child);

/// The mapping writes each page once, waits for a line, and then writes the bytes of another file.
const MAP: &str = "
import mmap, sys
file = open(sys.argv[1], 'r+b')
pages = mmap.mmap(file.fileno(), 0)
pages[:] = pages[:]
print('mapped', flush=True)
sys.stdin.readline()
pages[:] = open(sys.argv[2], 'rb').read()
print('written', flush=True)
sys.stdin.readline()
";

impl Mapped {
    fn begin(file: &Path, next: &Path) -> Self {
        let mut command = Command::new("python3");
        command.arg("-c").arg(MAP).args([file, next]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut mapped = Self(command.spawn().unwrap());
        assert_eq!(mapped.line(), "mapped\n");
        mapped
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        // Nothing follows the line until the next one is asked for.
        BufReader::new(self.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    }

    fn write(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        assert_eq!(self.line(), "written\n");
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns what the host knows a file by.
fn identity(path: &Path) -> (u64, u64, u64, (i64, i64), (i64, i64)) {
    let file = fs::metadata(path).unwrap();
    let (modified, changed) = ((file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec()));
    (file.dev(), file.ino(), file.size(), modified, changed)
}

/// Makes a site whose index says `here`, and whose file says `next` under the same identity.
async fn forged() -> (Site, Mapped) {
    // The system may write the pages to the disk at any time, and then the next write sets the time.
    for _ in 0..5 {
        let site = Site::new();
        let (path, next) = (site.plugins().join("tool.wasm"), site.path("next"));
        site.plugin("tool", &says("tool", "here"));
        fs::write(&next, says("tool", "next")).unwrap();
        let mut mapped = Mapped::begin(&path, &next);
        settled(&site.plugins()).await;
        drop(open(&site).await);
        let before = identity(&path);
        mapped.write();
        if identity(&path) == before && fs::read(&path).unwrap() == fs::read(&next).unwrap() {
            return (site, mapped);
        }
    }
    panic!("the file never kept its identity");
}

/// Until the file is verified, calls run the code of the hash that the catalog names. Then the plugin is gone, and the
/// message and the audit log say why. Touching the file makes it an ordinary changed file.
#[tokio::test]
async fn a_file_with_a_forged_identity_never_runs_and_is_quarantined() {
    let (site, _mapped) = forged().await;
    let path = site.plugins().join("tool.wasm");
    let host = open(&site).await;
    assert_eq!(word(&host).await, "here");
    let mut changes = host.catalog_changes();
    let gone = |catalog: &std::sync::Arc<Catalog>| catalog.plugin("tool").is_none();
    timeout(PATIENCE, changes.wait_for(gone)).await.expect("the plugin is quarantined").unwrap();
    let catalog = host.catalog();
    let refused = catalog.refusal("tool").unwrap();
    assert!(matches!(*refused.error, LoadError::Altered), "{}", refused.error);
    assert!(catalog.plugin("good").is_some());
    assert_eq!(host.call(Request::new("tool.run", "{}")).await.code, Code::PluginRefused);
    let entries = entries(&site.state());
    let noted = entries.iter().find(|entry| entry.document["event"] == "refused").unwrap();
    assert_eq!(noted.document["plugin"], "tool");
    assert!(noted.document["reason"].as_str().unwrap().contains("tampered"), "{}", noted.document);

    assert!(host.reload().await.unwrap().is_empty(), "a reload must not bring it back");
    assert!(host.catalog().plugin("tool").is_none());
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_times(FileTimes::new().set_modified(SystemTime::now()))
        .unwrap();
    assert_eq!(host.reload().await.unwrap().added.len(), 1);
    assert_eq!(word(&host).await, "next");
}
