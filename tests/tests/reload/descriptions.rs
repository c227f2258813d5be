//! Description files: what a tool is said to do lies beside its plugin, and is as much a part of it as its bytes.

use crate::desk::{ALLOW, call, file, lines, put, put_bytes, says, until, word};
use portcullis::approvals::Answering;
use portcullis::plugins::{Catalog, Observer};
use portcullis::policy::PluginName;
use portcullis::{Answer, Approver, Code, Covers, Host, Question, Reloaded};
use portcullis_tests::{Manifest, Site, Tool};
use std::env;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a description file may hold, in bytes.
const BYTES_MAX: usize = 16 * 1024;

/// What every guest says of its tool.
const OWN: &str = "Does what its plugin is there for.";

fn description_file(site: &Site, name: &str) -> PathBuf {
    site.plugins().join(format!("{name}.md"))
}

/// Puts a description file into place at once.
fn describe(site: &Site, name: &str, text: impl AsRef<[u8]>) {
    let aside = site.plugins().join(format!(".{name}.new"));
    fs::write(&aside, text).unwrap();
    fs::rename(aside, description_file(site, name)).unwrap();
}

#[track_caller]
fn said_in(catalog: &Catalog, plugin: &str) -> String {
    let found = catalog.plugin(plugin).unwrap_or_else(|| panic!("{:?}", catalog.refused()));
    found.tools().next().unwrap().description().to_owned()
}

/// What the first tool of a plugin says of itself.
#[track_caller]
fn said(host: &Host, plugin: &str) -> String {
    said_in(&host.catalog(), plugin)
}

fn definition(host: &Host, plugin: &str) -> [u8; 32] {
    host.catalog().plugin(plugin).unwrap().tools().next().unwrap().sha256()
}

fn why(host: &Host, plugin: &str) -> String {
    host.catalog().refusal(plugin).map(|refused| refused.error.to_string()).unwrap_or_default()
}

fn replaced(plugin: &str) -> Reloaded {
    Reloaded { replaced: vec![PluginName::new(plugin).unwrap()], ..Reloaded::default() }
}

#[tokio::test]
async fn a_file_beside_a_plugin_says_what_its_tool_does() {
    let site = Site::new();
    put(&site, "tool", "one");
    let long = format!("# What it does\n\n\t{}", "Much. ".repeat(2000));
    describe(&site, "tool.run", format!("\n{long}\n\n"));
    describe(&site, "README", "no business of ours");
    let host = site.open(ALLOW).await;
    assert_eq!(said(&host, "tool"), long.trim_end());
    assert_eq!(said(&host, "good"), OWN);
    assert_eq!(word(call(&host, "tool").await), "one");

    let mut definitions = vec![definition(&host, "tool")];
    let before = host.catalog();
    assert!(host.reload().await.unwrap().is_empty());
    assert!(Arc::ptr_eq(&before, &host.catalog()));
    for text in ["Another text.", "A third text."] {
        describe(&site, "tool.run", text);
        assert_eq!(host.reload().await.unwrap(), replaced("tool"));
        assert_eq!(said(&host, "tool"), text);
        definitions.push(definition(&host, "tool"));
    }
    fs::remove_file(description_file(&site, "tool.run")).unwrap();
    assert_eq!(host.reload().await.unwrap(), replaced("tool"));
    assert_eq!(said(&host, "tool"), OWN);
    definitions.push(definition(&host, "tool"));
    describe(&site, "good.run", "It is good, and says so at length.");
    assert_eq!(host.reload().await.unwrap(), replaced("good"));
    assert!(host.reload().await.unwrap().is_empty());

    definitions.sort_unstable();
    definitions.dedup();
    assert_eq!(definitions.len(), 4, "each text is a definition of its own");
    assert_eq!(word(call(&host, "tool").await), "one");
    let events: Vec<(String, String)> = lines(&host).into_iter().map(|(event, plugin, _)| (event, plugin)).collect();
    let expected = ["tool", "tool", "tool", "good"].map(|plugin| ("replaced".to_owned(), plugin.to_owned()));
    assert_eq!(events, expected);
}

/// The record tells which descriptions a plugin was given, as the bytes alone do not.
#[tokio::test]
async fn the_record_knows_descriptions_by_their_hash() {
    let site = Site::new();
    let host = site.open(ALLOW).await;
    for text in ["The first text of a tool.", "The second text of a tool."] {
        describe(&site, "good.run", text);
        host.reload().await.unwrap();
    }
    fs::remove_file(description_file(&site, "good.run")).unwrap();
    host.reload().await.unwrap();
    let mut hashes = Vec::new();
    let read = host.audit().read(|entry| {
        if entry.document["kind"] == "plugin" {
            assert_eq!(entry.document["sha256"], entry.document["previous_sha256"]);
            hashes.push(entry.document["descriptions_sha256"].as_str().map(str::len));
        }
        Ok(())
    });
    assert_eq!(read.unwrap().fault, None);
    assert_eq!(hashes, [Some(64), Some(64), None]);
}

const BOUND: &str = r#"
[plugin.named]
directory.workspace = { path = "places/of work", access = "read-only" }
directory.other = { path = "places", access = "read-only" }
[plugin.only]
directory.elsewhere = { path = "places", access = "read-only" }
[plugin.several]
directory.one = { path = "places", access = "read-only" }
directory.two = { path = "places", access = "read-only" }
"#;

#[tokio::test]
async fn the_host_fills_in_where_it_is_and_where_the_plugin_works() {
    let site = Site::new();
    let work = fs::canonicalize(site.directory("places/of work")).unwrap();
    let (work, places) = (work.to_str().unwrap(), work.parent().unwrap().to_str().unwrap());
    let here = env::current_dir().unwrap();
    let here = here.to_str().unwrap();
    let with = |name: &str, keys: &[&str]| {
        let manifest = keys.iter().fold(Manifest::of(name), |manifest, key| manifest.directory(key, true));
        put_bytes(&site, name, &says(name, &manifest));
    };
    with("named", &["other", "workspace"]);
    with("only", &["elsewhere"]);
    with("several", &["one", "two"]);
    with("unbound", &["workspace"]);
    with("nothing", &[]);
    let plugins = [("named", work), ("only", places), ("several", here), ("unbound", here), ("nothing", here)];
    for (plugin, _) in plugins {
        describe(&site, &format!("{plugin}.run"), "In ${workspace}, not in ${directory} or ${cwd}; not $${cwd}, $5.");
    }
    let host = site.open(&format!("{ALLOW}{BOUND}")).await;
    let filled =
        |workspace: &str, end: &str| format!("In {workspace}, not in {here} or {here}; not ${{cwd}}, $5.{end}");
    for (plugin, workspace) in plugins {
        assert_eq!(said(&host, plugin), filled(workspace, ""), "{plugin}");
    }
    for (plugin, workspace) in plugins {
        let text = "In ${workspace}, not in ${directory} or ${cwd}; not $${cwd}, $5. Again.";
        describe(&site, &format!("{plugin}.run"), text);
        assert_eq!(host.reload().await.unwrap(), replaced(plugin));
        assert_eq!(said(&host, plugin), filled(workspace, " Again."), "{plugin}");
    }
}

/// A directory may be called anything without a zero byte; what goes into a description shows all of it, on one line.
#[tokio::test]
async fn a_hostile_path_shows_and_does_nothing() {
    let site = Site::new();
    let hostile = site.directory("a\nIgnore ${cwd}\u{202e}\u{1b}[2J\u{e0041}");
    let link = site.path("link");
    symlink(&hostile, &link).unwrap();
    put_bytes(&site, "tool", &says("one", &Manifest::of("tool").directory("workspace", true)));
    describe(&site, "tool.run", "Works in ${workspace}.");
    let policy = format!("{ALLOW}[plugin.tool]\ndirectory.workspace = {{ path = \"link\", access = \"read-only\" }}\n");
    let host = site.open(&policy).await;
    let place = fs::canonicalize(site.path("")).unwrap();
    let shown = "a\\nIgnore ${cwd}\\u{202e}\\u{1b}[2J\\u{e0041}";
    assert_eq!(said(&host, "tool"), format!("Works in {}/{shown}.", place.display()), "{}", why(&host, "tool"));

    // A name that is no text leads nowhere else.
    let no_text = site.path(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&no_text).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(&no_text, &link).unwrap();
    describe(&site, "tool.run", "Works now in ${workspace}.");
    assert_eq!(host.reload().await.unwrap().refused, ["tool.wasm"]);
    let reason = why(&host, "tool");
    assert!(reason.contains("what `${workspace}` stands for cannot be written as text"), "{reason}");
}

/// A way to make the description of `tool.run` a bad one, and what the refusal says of it.
type Bad = (&'static str, fn(&Site), &'static str);

const BAD: [Bad; 17] = [
    ("an unknown placeholder", |site| describe(site, "tool.run", "In ${HOME}."), "there is no `${HOME}`"),
    ("one with blanks", |site| describe(site, "tool.run", "In ${ cwd }."), "there is no `${ cwd }`"),
    (
        "one that hides something",
        |site| describe(site, "tool.run", "In ${a\u{202e}b}."),
        "there is no `${a\\u{202e}b}`",
    ),
    ("no end of one", |site| describe(site, "tool.run", "In ${cwd."), "has no `}` after it"),
    (
        "too long",
        |site| describe(site, "tool.run", "x".repeat(BYTES_MAX + 1)),
        "it is longer than 16384 bytes: shorten it",
    ),
    (
        "too long once it is filled in",
        |site| describe(site, "tool.run", "${cwd}".repeat(BYTES_MAX / 6)),
        "longer than 16384 bytes once it is filled in",
    ),
    ("empty", |site| describe(site, "tool.run", " \n"), "it is empty: write what the tool does"),
    ("no text", |site| describe(site, "tool.run", b"caf\xe9"), "it is not UTF-8"),
    ("a mark of direction", |site| describe(site, "tool.run", "Reads\u{202e} it."), "character U+202E"),
    (
        "a stack of combining marks",
        |site| describe(site, "tool.run", format!("Reads{} it.", "\u{489}".repeat(5))),
        "stacks too many combining marks on one character, U+0489 among them",
    ),
    ("a tag", |site| describe(site, "tool.run", "Reads it.\u{e0041}"), "character U+E0041"),
    ("an escape", |site| describe(site, "tool.run", "Reads it.\u{1b}[2J"), "character U+001B"),
    ("line ends of another system", |site| describe(site, "tool.run", "Reads\r\nit."), "U+000D: take it out"),
    ("a byte order mark", |site| describe(site, "tool.run", "\u{feff}Reads it."), "without a byte order mark"),
    (
        "anybody may write to it",
        |site| {
            describe(site, "tool.run", "Reads it.");
            fs::set_permissions(description_file(site, "tool.run"), Permissions::from_mode(0o646)).unwrap();
        },
        "anybody can write to it: take the right away with `chmod o-w`",
    ),
    (
        "a link",
        |site| {
            fs::write(site.path("elsewhere.md"), "Reads it.").unwrap();
            symlink(site.path("elsewhere.md"), description_file(site, "tool.run")).unwrap();
        },
        "it is not a regular file",
    ),
    ("a directory", |site| fs::create_dir(description_file(site, "tool.run")).unwrap(), "it is not a regular file"),
];

fn undescribe(site: &Site) {
    let path = description_file(site, "tool.run");
    let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
}

/// After each: what was there goes on, the refusal names the file, and a second look finds nothing new.
#[tokio::test]
async fn a_bad_description_leaves_the_old_plugin_serving() {
    let site = Site::new();
    put(&site, "tool", "old");
    describe(&site, "tool.run", "What was there before.");
    let host = site.open(ALLOW).await;
    let before = definition(&host, "tool");
    for (what, put_bad, says) in BAD {
        undescribe(&site);
        put_bad(&site);
        let reloaded = host.reload().await.unwrap();
        let refused = Reloaded { refused: vec!["tool.wasm".to_owned()], ..Reloaded::default() };
        assert_eq!(reloaded, refused, "{what}");
        let reason = why(&host, "tool");
        assert!(reason.starts_with("the description file tool.run.md: ") && reason.contains(says), "{what}: {reason}");
        assert_eq!((said(&host, "tool").as_str(), definition(&host, "tool")), ("What was there before.", before));
        assert_eq!(word(call(&host, "tool").await), "old", "{what}");
        assert!(host.reload().await.unwrap().is_empty(), "{what}");
        let (event, plugin, _) = lines(&host).pop().unwrap();
        assert_eq!((event.as_str(), plugin.as_str()), ("refused", "tool"), "{what}");
        // And back to what is loaded.
        undescribe(&site);
        describe(&site, "tool.run", "What was there before.");
        assert_eq!(host.reload().await.unwrap().cleared, ["tool.wasm"], "{what}");
        assert!(host.catalog().refused().is_empty(), "{what}");
    }
    describe(&site, "tool.run", "What is there now.");
    assert_eq!(host.reload().await.unwrap(), replaced("tool"));
}

/// A file that cannot be read is one that others than its bytes can make another.
#[tokio::test]
async fn another_reason_is_told_though_no_byte_is_another() {
    let site = Site::new();
    describe(&site, "good.run", b"caf\xe9");
    let host = site.open(ALLOW).await;
    assert!(why(&host, "good").contains("it is not UTF-8"));
    fs::set_permissions(description_file(&site, "good.run"), Permissions::from_mode(0o646)).unwrap();
    assert_eq!(host.reload().await.unwrap().refused, ["good.wasm"]);
    assert!(why(&host, "good").contains("anybody can write to it"), "{}", why(&host, "good"));
}

#[tokio::test]
async fn a_bad_description_refuses_its_plugin_and_no_other_when_the_host_opens() {
    for (what, put_bad, says) in BAD {
        let site = Site::new();
        put(&site, "tool", "one");
        put_bad(&site);
        // The policy names it, and its grant waits.
        let host = site.open(&format!("{ALLOW}[plugin.tool]\nlimits.time = \"1 s\"\n")).await;
        let reason = why(&host, "tool");
        assert!(reason.starts_with("the description file tool.run.md: ") && reason.contains(says), "{what}: {reason}");
        assert_eq!(call(&host, "tool").await.code, Code::PluginRefused, "{what}");
        assert_eq!(said(&host, "good"), OWN, "{what}");
        undescribe(&site);
        assert_eq!(host.reload().await.unwrap().added.len(), 1, "{what}");
        assert_eq!(word(call(&host, "tool").await), "one", "{what}");
        assert!(host.catalog().refused().is_empty(), "{what}");
    }
}

/// What is at the limit is taken, and every problem is told at once.
#[tokio::test]
async fn a_file_of_no_tool_is_told_of_with_every_other() {
    let site = Site::new();
    put(&site, "tool", "one");
    describe(&site, "tool.run", "x".repeat(BYTES_MAX));
    let host = site.open(ALLOW).await;
    assert_eq!(said(&host, "tool").len(), BYTES_MAX);
    describe(&site, "tool.ran", "Misspelt.");
    describe(&site, "tool.run", "${HOME}");
    assert_eq!(host.reload().await.unwrap().refused, ["tool.wasm"]);
    let reason = why(&host, "tool");
    let misspelt = "the description file tool.ran.md: the plugin has no such tool, it has `run`: name the file";
    assert!(reason.contains(misspelt) && reason.contains("tool.run.md: there is no `${HOME}`"), "{reason}");
    fs::remove_file(description_file(&site, "tool.run")).unwrap();
    assert!(!host.reload().await.unwrap().is_empty());
    assert!(!why(&host, "tool").contains("HOME"));
    fs::remove_file(description_file(&site, "tool.ran")).unwrap();
    assert_eq!(host.reload().await.unwrap(), replaced("tool"));
    assert!(host.catalog().refused().is_empty());
}

#[tokio::test]
async fn a_file_without_its_plugin_stands_among_the_refused_by_itself() {
    let site = Site::new();
    describe(&site, "late.run", "Comes before its plugin.");
    describe(&site, "output.read", "The host's own tools say themselves what they do.");
    for other in ["README", "late", "Late.run", "late.run.old", ".late.run", "late.", "late..run", "lâte.run"] {
        describe(&site, other, "no business of ours ${HOME}");
    }
    let host = site.open(ALLOW).await;
    let refused = |host: &Host| -> Vec<(String, String)> {
        let catalog = host.catalog();
        catalog.refused().iter().map(|refused| (refused.file.clone(), refused.error.to_string())).collect()
    };
    let found = refused(&host);
    assert_eq!(found.iter().map(|(file, _)| file.as_str()).collect::<Vec<_>>(), ["late.run.md", "output.read.md"]);
    assert!(found[0].1.contains("there is no late.wasm beside it: put it there, or take this file away"), "{found:?}");
    assert!(found[1].1.contains("that of tools of the host itself"), "{found:?}");
    assert!(host.reload().await.unwrap().is_empty());
    put(&site, "late", "one");
    let reloaded = host.reload().await.unwrap();
    assert_eq!((reloaded.added.len(), reloaded.cleared.as_slice()), (1, ["late.run.md".to_owned()].as_slice()));
    assert_eq!(said(&host, "late"), "Comes before its plugin.");
    fs::remove_file(file(&site, "late")).unwrap();
    let reloaded = host.reload().await.unwrap();
    assert_eq!((reloaded.removed.len(), reloaded.refused.as_slice()), (1, ["late.run.md".to_owned()].as_slice()));
    fs::remove_file(description_file(&site, "late.run")).unwrap();
    fs::remove_file(description_file(&site, "output.read")).unwrap();
    assert_eq!(host.reload().await.unwrap().cleared, ["late.run.md", "output.read.md"]);
}

/// Counts what is compiled.
#[derive(Default)]
struct Compilations(AtomicUsize);

impl Observer for Compilations {
    fn compiling(&self, _: &PluginName) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn compiled(&self, _: &PluginName) {}
}

/// What is kept of a plugin is known by its bytes, so nothing of what lies beside them may be in it.
#[tokio::test]
async fn another_description_compiles_nothing_and_is_not_kept() {
    let site = Site::new();
    describe(&site, "good.run", "The first of all texts.");
    let compilations = Arc::new(Compilations::default());
    let open = || async { site.builder(ALLOW).observer(Arc::clone(&compilations) as _).open().await.unwrap() };
    let host = open().await;
    assert_eq!(compilations.0.swap(0, Ordering::Relaxed), 1);
    for text in ["The second text.", "The third text."] {
        describe(&site, "good.run", text);
        host.reload().await.unwrap();
        assert_eq!(said(&host, "good"), text);
        assert_eq!(call(&host, "good").await.code, Code::Completed);
    }
    drop(host);
    fs::remove_file(description_file(&site, "good.run")).unwrap();
    let host = open().await;
    assert_eq!(said(&host, "good"), OWN);
    let kept = fs::read_dir(site.state().join("cache")).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    for bytes in kept {
        assert!(!bytes.windows(10).any(|window| window == b"third text" || window == b"first of a"));
    }
    assert_eq!(compilations.0.load(Ordering::Relaxed), 0);
}

/// Says yes for every session, and counts.
#[derive(Default)]
struct Always(AtomicUsize);

impl Approver for Always {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Answer::Always(Covers::Exact)))
    }
}

#[tokio::test]
async fn what_was_approved_for_a_tool_is_lost_with_its_description() {
    let site = Site::new();
    let mut manifest = Manifest::of("tool");
    manifest.tools.push(Tool::new("walk"));
    put_bytes(&site, "tool", &says("one", &manifest));
    describe(&site, "tool.run", "Runs in ${cwd}.");
    let approver = Arc::new(Always::default());
    let policy = "[approvals]\nrepeats = 1000000\n[defaults]\ndecision = \"ask\"\n";
    let host = site.builder(policy).approver(Arc::clone(&approver) as _).open().await.unwrap();
    let asked = |tool: &'static str| {
        let (host, approver) = (host.clone(), Arc::clone(&approver));
        async move {
            let reply = host.call(portcullis::Request::new(tool, "{}")).await;
            assert_eq!(reply.code, Code::Completed, "{}", reply.message);
            approver.0.swap(0, Ordering::Relaxed)
        }
    };
    assert_eq!((asked("tool.run").await, asked("tool.walk").await), (1, 1));
    assert_eq!((asked("tool.run").await, asked("tool.walk").await), (0, 0));
    describe(&site, "tool.run", "Runs in ${cwd}, and tells nobody.");
    assert_eq!(host.reload().await.unwrap(), replaced("tool"));
    assert_eq!(asked("tool.run").await, 1, "another text is another tool");
    assert_eq!(asked("tool.walk").await, 0, "its neighbour is what it was");
    assert_eq!(asked("tool.run").await, 0);
    fs::remove_file(description_file(&site, "tool.run")).unwrap();
    host.reload().await.unwrap();
    assert_eq!(asked("tool.run").await, 1);
}

#[tokio::test]
async fn a_watch_sees_descriptions() {
    let site = Site::new();
    let host = site.open(ALLOW).await;
    let _watch = host.watch();
    let mut changes = host.catalog_changes();
    let is = |text: &'static str| move |catalog: &Catalog| said_in(catalog, "good") == text;
    describe(&site, "good.run", "A text that was moved into place.");
    until(&mut changes, "a text that was moved", is("A text that was moved into place.")).await;
    fs::write(description_file(&site, "good.run"), "A text that was written.").unwrap();
    until(&mut changes, "a text that was written", is("A text that was written.")).await;
    fs::write(description_file(&site, "good.run"), "In ${HOME}.").unwrap();
    let is_bad = |catalog: &Catalog| catalog.refusal("good").is_some();
    until(&mut changes, "a bad text", is_bad).await;
    assert_eq!(said(&host, "good"), "A text that was written.");
    fs::remove_file(description_file(&site, "good.run")).unwrap();
    until(&mut changes, "no text", |catalog| is(OWN)(catalog) && catalog.refused().is_empty()).await;
}
