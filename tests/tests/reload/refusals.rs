//! Bad files: the old plugin keeps serving, the refusal is reported, and a refused file is not compiled again without a
//! reason.

use crate::reload::desk::{ALLOW, call, file, lines, put, put_bytes, says, word};
use portcullis::Host;
use portcullis::plugins::Observer;
use portcullis::policy::PluginName;
use portcullis::text::WithCauses;
use portcullis_tests::{Manifest, Site, guest};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Installs a file that is not a plugin.
type Bad = (&'static str, fn(&Site));

const BAD: [Bad; 9] = [
    ("no component", |site| put_bytes(site, "tool", b"no component")),
    ("nothing", |site| put_bytes(site, "tool", b"")),
    ("half of one", |site| {
        let whole = says("half", &Manifest::of("tool"));
        put_bytes(site, "tool", &whole[..whole.len() / 2]);
    }),
    ("another's name", |site| put_bytes(site, "tool", &says("other", &Manifest::of("another")))),
    ("traps when it describes itself", |site| {
        put_bytes(site, "tool", &guest("describe-traps", &Manifest::of("tool")));
    }),
    ("a schema that is none", |site| {
        let manifest = Manifest::of("tool").tool(|tool| tool.schema = "{".to_owned());
        put_bytes(site, "tool", &says("schema", &manifest));
    }),
    ("anybody may write to it", |site| {
        put(site, "tool", "exposed");
        fs::set_permissions(file(site, "tool"), Permissions::from_mode(0o646)).unwrap();
    }),
    ("a link", |site| {
        fs::write(site.path("elsewhere.wasm"), says("linked", &Manifest::of("tool"))).unwrap();
        fs::remove_file(file(site, "tool")).unwrap();
        symlink(site.path("elsewhere.wasm"), file(site, "tool")).unwrap();
    }),
    ("a directory", |site| {
        fs::remove_file(file(site, "tool")).unwrap();
        fs::create_dir(file(site, "tool")).unwrap();
    }),
];

/// After each, the old plugin serves, the refusal is reported, and another reload finds nothing new.
#[tokio::test]
async fn a_bad_file_leaves_the_old_plugin_serving() {
    let site = Site::new();
    put(&site, "tool", "old");
    let host = site.open(ALLOW).await;
    for (what, put_bad) in BAD {
        put_bad(&site);
        let reloaded = host.reload().await.unwrap();
        assert_eq!(reloaded.refused, ["tool.wasm"], "{what}");
        assert!(reloaded.replaced.is_empty() && reloaded.removed.is_empty(), "{what}: {reloaded:?}");
        assert_eq!(word(call(&host, "tool").await), "old", "{what}");
        let refusal = host.catalog().refusal("tool").map(|refused| refused.error.to_string());
        assert!(refusal.is_some_and(|reason| !reason.is_empty()), "{what}");
        assert!(host.reload().await.unwrap().is_empty(), "{what}");
        let (event, plugin, _) = lines(&host).pop().unwrap();
        assert_eq!((event.as_str(), plugin.as_str()), ("refused", "tool"), "{what}");
        // Restore the loaded file.
        let _ = fs::remove_dir(file(&site, "tool"));
        put(&site, "tool", "old");
        assert_eq!(host.reload().await.unwrap().cleared, ["tool.wasm"], "{what}");
        assert!(host.catalog().refused().is_empty(), "{what}");
    }
    put(&site, "tool", "new");
    host.reload().await.unwrap();
    assert_eq!(word(call(&host, "tool").await), "new");
}

/// A file is noticed while it is being written, and loads when it is complete.
#[tokio::test]
async fn a_half_written_file_is_loaded_when_it_is_complete() {
    let site = Site::new();
    put(&site, "tool", "old");
    let host = site.open(ALLOW).await;
    for name in ["tool", "fresh"] {
        let whole = says("new", &Manifest::of(name));
        fs::write(file(&site, name), &whole[..whole.len() / 2]).unwrap();
        assert_eq!(host.reload().await.unwrap().refused, [format!("{name}.wasm")]);
        // The file has its final size, but its second half is missing.
        let mut holed = whole.clone();
        holed[whole.len() / 2..].fill(0);
        fs::write(file(&site, name), &holed).unwrap();
        host.reload().await.unwrap();
        assert!(host.catalog().refusal(name).is_some());
        fs::write(file(&site, name), &whole).unwrap();
        let reloaded = host.reload().await.unwrap();
        assert_eq!(reloaded.added.len() + reloaded.replaced.len(), 1, "{reloaded:?}");
        assert!(host.catalog().refused().is_empty());
        assert_eq!(word(call(&host, name).await), "new");
    }
}

/// Panics when the plugin `panics` is compiled, as long as it is set.
struct PanickingObserver(AtomicBool);

impl Observer for PanickingObserver {
    fn compiling(&self, plugin: &PluginName) {
        assert!(plugin.as_str() != "panics" || !self.0.load(Ordering::Relaxed), "no such luck");
    }

    fn compiled(&self, _: &PluginName) {}
}

#[tokio::test]
async fn a_file_whose_loading_panics_is_refused_alone_and_tried_again() {
    let site = Site::new();
    put(&site, "tool", "old");
    put(&site, "panics", "new");
    let observer = Arc::new(PanickingObserver(AtomicBool::new(true)));
    let host = site.cold_builder(ALLOW).observer(Arc::clone(&observer) as _).open().await.unwrap();
    assert_eq!(word(call(&host, "tool").await), "old");
    let why = || host.catalog().refusal("panics").map(|refused| WithCauses(&*refused.error).to_string());
    assert!(why().is_some_and(|why| why.contains("it panicked: no such luck")), "{:?}", why());
    assert!(host.reload().await.unwrap().is_empty());
    assert!(why().is_some());
    observer.0.store(false, Ordering::Relaxed);
    host.reload().await.unwrap();
    assert_eq!(word(call(&host, "panics").await), "new");
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

async fn counted(site: &Site) -> (Host, Arc<Compilations>) {
    let compilations = Arc::new(Compilations::default());
    let host = site.cold_builder(ALLOW).observer(Arc::clone(&compilations) as _).open().await.unwrap();
    compilations.0.store(0, Ordering::Relaxed);
    (host, compilations)
}

/// A component that compiles, but needs more than the limits allow, so that it is refused.
fn unfit(name: &str) -> Vec<u8> {
    guest("many-memories", &Manifest::of(name))
}

#[tokio::test]
async fn a_bad_file_is_compiled_once_and_again_after_a_touch() {
    let site = Site::new();
    put_bytes(&site, "refused", &unfit("refused"));
    put(&site, "tool", "old");
    let (host, compilations) = counted(&site).await;
    let compiled = || compilations.0.swap(0, Ordering::Relaxed);
    for _ in 0..3 {
        assert!(host.reload().await.unwrap().is_empty());
    }
    assert_eq!(compiled(), 0, "a plugin that was refused when the host opened must not be tried again");
    put_bytes(&site, "tool", &unfit("tool"));
    assert_eq!(host.reload().await.unwrap().refused, ["tool.wasm"]);
    assert_eq!(compiled(), 1);
    for _ in 0..3 {
        assert!(host.reload().await.unwrap().is_empty());
    }
    assert_eq!(compiled(), 0);
    put_bytes(&site, "tool", &unfit("tool"));
    assert!(host.reload().await.unwrap().is_empty());
    assert_eq!(compiled(), 1, "touching a file must try it again");
    assert_eq!(word(call(&host, "tool").await), "old");
    assert_eq!(lines(&host).len(), 1);
}

/// Removing a refused file also removes its plugin.
#[tokio::test]
async fn a_removed_bad_file_is_no_longer_refused() {
    let site = Site::new();
    put(&site, "tool", "old");
    put_bytes(&site, "never", b"no component");
    let host = site.open(ALLOW).await;
    assert_eq!(host.catalog().refused().len(), 1);
    put_bytes(&site, "tool", b"no component");
    host.reload().await.unwrap();
    assert_eq!(host.catalog().refused().len(), 2);
    for name in ["tool", "never"] {
        fs::remove_file(file(&site, name)).unwrap();
    }
    let reloaded = host.reload().await.unwrap();
    assert_eq!((reloaded.removed.len(), reloaded.cleared.as_slice()), (1, ["never.wasm".to_owned()].as_slice()));
    assert!(host.catalog().refused().is_empty());
    assert!(host.catalog().plugin("tool").is_none());
}
