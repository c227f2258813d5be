//! Description files: a tool's description can be in a file next to its plugin, and is as much a part of the plugin as
//! its bytes.

use crate::reload::desk::{ALLOW, call, file, lines, put, put_bytes, says, until, word};
use portcullis::approvals::Answering;
use portcullis::plugins::{Catalog, Observer};
use portcullis::policy::PluginName;
use portcullis::{Answer, Approver, Code, Covers, Host, Question, Reloaded};
use portcullis_tests::{Manifest, Site, Tool, holds};
use std::env;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum length of a description file in bytes.
const BYTES_MAX: usize = 16 * 1024;

/// The description in every guest's manifest.
const OWN: &str = "Does what its plugin is there for.";

fn description_file(site: &Site, name: &str) -> PathBuf {
    site.plugins().join(format!("{name}.md"))
}

/// Writes a description file atomically.
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

/// Returns the description of a plugin's first tool.
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
async fn a_description_file_replaces_the_description_of_a_tool() {
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
    assert_eq!(definitions.len(), 4, "each text must give another definition");
    assert_eq!(word(call(&host, "tool").await), "one");
    let events: Vec<(String, String)> = lines(&host).into_iter().map(|(event, plugin, _)| (event, plugin)).collect();
    let expected = ["tool", "tool", "tool", "good"].map(|plugin| ("replaced".to_owned(), plugin.to_owned()));
    assert_eq!(events, expected);
}

/// The audit log names the hash of the descriptions, because the hash of the plugin does not cover them.
#[tokio::test]
async fn the_audit_log_names_descriptions_by_their_hash() {
    let site = Site::new();
    let host = site.open(ALLOW).await;
    for text in ["The first text of a tool.", "The second text of a tool."] {
        describe(&site, "good.run", text);
        host.reload().await.unwrap();
    }
    fs::remove_file(description_file(&site, "good.run")).unwrap();
    host.reload().await.unwrap();
    let mut hashes = Vec::new();
    let read = host
        .audit()
        .read(|entry| {
            if entry.document["kind"] == "plugin" {
                assert_eq!(entry.document["sha256"], entry.document["previous_sha256"]);
                hashes.push(entry.document["descriptions_sha256"].as_str().map(str::len));
            }
            Ok(())
        })
        .await;
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
async fn placeholders_are_replaced_with_the_directories_of_host_and_plugin() {
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

/// A directory name can contain any byte except zero. In a description it is escaped completely, on one line.
#[tokio::test]
async fn a_hostile_path_is_escaped() {
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

    // A path that is not UTF-8 is an error, and not replaced with another one.
    let no_text = site.path(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&no_text).unwrap();
    fs::remove_file(&link).unwrap();
    symlink(&no_text, &link).unwrap();
    describe(&site, "tool.run", "Works now in ${workspace}.");
    assert_eq!(host.reload().await.unwrap().refused, ["tool.wasm"]);
    let reason = why(&host, "tool");
    assert!(reason.contains("the path for `${workspace}` is not valid text"), "{reason}");
}

/// Makes the description of `tool.run` invalid, with a part of the expected message.
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
    ("line ends of another system", |site| describe(site, "tool.run", "Reads\r\nit."), "U+000D: remove it"),
    ("a byte order mark", |site| describe(site, "tool.run", "\u{feff}Reads it."), "without a byte order mark"),
    (
        "anybody may write to it",
        |site| {
            describe(site, "tool.run", "Reads it.");
            fs::set_permissions(description_file(site, "tool.run"), Permissions::from_mode(0o646)).unwrap();
        },
        "every user can write to it: remove that permission with `chmod o-w`",
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

/// After each, the old plugin still serves, the refusal names the file, and another reload finds nothing new.
#[tokio::test]
async fn an_invalid_description_leaves_the_old_plugin_serving() {
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
        // Restore the loaded description.
        undescribe(&site);
        describe(&site, "tool.run", "What was there before.");
        assert_eq!(host.reload().await.unwrap().cleared, ["tool.wasm"], "{what}");
        assert!(host.catalog().refused().is_empty(), "{what}");
    }
    describe(&site, "tool.run", "What is there now.");
    assert_eq!(host.reload().await.unwrap(), replaced("tool"));
}

/// The reason for a refusal can also change without a change to the file's bytes.
#[tokio::test]
async fn a_new_reason_is_reported_although_no_byte_has_changed() {
    let site = Site::new();
    describe(&site, "good.run", b"caf\xe9");
    let host = site.open(ALLOW).await;
    assert!(why(&host, "good").contains("it is not UTF-8"));
    fs::set_permissions(description_file(&site, "good.run"), Permissions::from_mode(0o646)).unwrap();
    assert_eq!(host.reload().await.unwrap().refused, ["good.wasm"]);
    assert!(why(&host, "good").contains("every user can write to it"), "{}", why(&host, "good"));
}

#[tokio::test]
async fn an_invalid_description_refuses_only_its_own_plugin_when_the_host_opens() {
    for (what, put_bad, says) in BAD {
        let site = Site::new();
        put(&site, "tool", "one");
        put_bad(&site);
        // The policy names the plugin, and its grant is kept for later.
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

/// A file at the size limit is accepted, and all problems are reported together.
#[tokio::test]
async fn a_file_for_an_unknown_tool_is_reported_with_all_other_problems() {
    let site = Site::new();
    put(&site, "tool", "one");
    describe(&site, "tool.run", "x".repeat(BYTES_MAX));
    let host = site.open(ALLOW).await;
    assert_eq!(said(&host, "tool").len(), BYTES_MAX);
    describe(&site, "tool.ran", "Misspelt.");
    describe(&site, "tool.run", "${HOME}");
    assert_eq!(host.reload().await.unwrap().refused, ["tool.wasm"]);
    let reason = why(&host, "tool");
    let misspelt = "the description file tool.ran.md: the plugin has no such tool, only `run`: name the file";
    assert!(reason.contains(misspelt) && reason.contains("tool.run.md: there is no `${HOME}`"), "{reason}");
    fs::remove_file(description_file(&site, "tool.run")).unwrap();
    assert!(!host.reload().await.unwrap().is_empty());
    assert!(!why(&host, "tool").contains("HOME"));
    fs::remove_file(description_file(&site, "tool.ran")).unwrap();
    assert_eq!(host.reload().await.unwrap(), replaced("tool"));
    assert!(host.catalog().refused().is_empty());
}

#[tokio::test]
async fn a_description_without_its_plugin_is_listed_as_refused() {
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
    assert!(found[0].1.contains("there is no late.wasm next to it: add the plugin, or remove this file"), "{found:?}");
    assert!(found[1].1.contains("reserved for tools of the host itself"), "{found:?}");
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

/// Counts compilations.
#[derive(Default)]
struct Compilations(AtomicUsize);

impl Observer for Compilations {
    fn compiling(&self, _: &PluginName) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn compiled(&self, _: &PluginName) {}
}

/// Compiled code is cached by the plugin's bytes, so the cache must not contain anything from description files.
#[tokio::test]
async fn another_description_compiles_nothing_and_is_not_cached() {
    let site = Site::new();
    describe(&site, "good.run", "The first of all texts.");
    let compilations = Arc::new(Compilations::default());
    let open = || async { site.cold_builder(ALLOW).observer(Arc::clone(&compilations) as _).open().await.unwrap() };
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
        assert!(!holds(&bytes, "third text") && !holds(&bytes, "first of a"));
    }
    assert_eq!(compilations.0.load(Ordering::Relaxed), 0);
}

/// Approves for always, and counts the requests.
#[derive(Default)]
struct Always(AtomicUsize);

impl Approver for Always {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Answer::Always(Covers::Exact)))
    }
}

#[tokio::test]
async fn a_changed_description_ends_the_approvals_of_its_tool() {
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
    describe(&site, "tool.run", "Runs in ${cwd}, and reports nothing.");
    assert_eq!(host.reload().await.unwrap(), replaced("tool"));
    assert_eq!(asked("tool.run").await, 1, "a new description needs a new approval");
    assert_eq!(asked("tool.walk").await, 0, "the other tool has not changed");
    assert_eq!(asked("tool.run").await, 0);
    fs::remove_file(description_file(&site, "tool.run")).unwrap();
    host.reload().await.unwrap();
    assert_eq!(asked("tool.run").await, 1);
}

#[tokio::test]
async fn a_watch_notices_descriptions() {
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
