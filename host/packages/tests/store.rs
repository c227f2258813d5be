//! The folder of installed packages: concurrent and killed installations, and packages that were changed.

use portcullis_packages::{InstalledPackage, PackageStore};
use serde_json::json;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::archive::TarEntry;
use crate::registry::Registry;
use crate::setup::{Site, assert_says};

/// The variables that make [`install_in_a_process_that_is_killed`] install.
const STORE: &str = "PORTCULLIS_TEST_PACKAGE_STORE";
const REGISTRY: &str = "PORTCULLIS_TEST_PACKAGE_REGISTRY";

const SPEC: &str = "npm:server@1.0.0";

fn registry() -> Registry {
    let registry = Registry::start();
    let lines = TarEntry::File("package/lib/lines.js", b"exports.lines = 1;");
    registry.npm("server", &json!({ "bin": "cli.js" }), &[TarEntry::File("package/cli.js", b""), lines]);
    registry
}

#[test]
fn two_installations_of_one_package_do_not_disturb_each_other() {
    let (site, registry) = (Site::new(), registry());
    let other = PackageStore::open(site.store.path()).unwrap();
    let install = |store: &PackageStore| store.install(&SPEC.parse().unwrap(), &registry.options()).unwrap();
    let (one, two) = thread::scope(|scope| {
        let running = [scope.spawn(|| install(&site.store)), scope.spawn(|| install(&other))];
        let [one, two] = running.map(|thread| thread.join().unwrap());
        (one, two)
    });
    assert_eq!(one.path(), two.path());
    one.verify().unwrap();
    assert_eq!(site.unfinished(), 0);
    assert_eq!(site.store.list().unwrap().len(), 1);

    site.store.remove(&one).unwrap();
    assert!(site.store.list().unwrap().is_empty() && !one.path().exists());
    assert_says(&Site::new().store.remove(&two).unwrap_err(), "not in the folder of packages");
}

/// Makes a folder and its files writable, as an attacker with the user's rights would.
fn unlock(path: &Path) {
    let metadata = fs::symlink_metadata(path).unwrap();
    if metadata.is_dir() {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        fs::read_dir(path).unwrap().for_each(|entry| unlock(&entry.unwrap().path()));
    } else if metadata.is_file() {
        fs::set_permissions(path, Permissions::from_mode(metadata.permissions().mode() | 0o200)).unwrap();
    }
}

/// Changes the folder of the package `server`.
type Change<'a> = &'a dyn Fn(&Path);

/// Copies an installed package into an empty folder.
fn copy(package: &InstalledPackage, folder: &Path) -> InstalledPackage {
    let copied = Command::new("cp").arg("-a").args([package.path(), folder]).status().unwrap();
    assert!(copied.success());
    let copy = folder.join(package.path().file_name().unwrap());
    unlock(&copy);
    InstalledPackage::open(&copy).unwrap()
}

#[test]
fn a_changed_file_is_found() {
    let (site, registry) = (Site::new(), registry());
    let package = site.install(SPEC, &registry).unwrap();
    let changes: [(Change, &str); 8] = [
        (&|server| fs::write(server.join("cli.js"), "x").unwrap(), "`node_modules/server/cli.js` was changed"),
        (&|server| fs::remove_file(server.join("lib/lines.js")).unwrap(), "lib/lines.js` was removed"),
        (&|server| fs::write(server.join("new.js"), "").unwrap(), "`node_modules/server/new.js` was added"),
        (
            &|server| fs::set_permissions(server.join("cli.js"), Permissions::from_mode(0o4755)).unwrap(),
            "set to run with the rights of its owner",
        ),
        (&|server| symlink("/etc", server.join("etc")).unwrap(), "leads to `/etc`, which is no file of the package"),
        (&|server| symlink("lib/../cli.js", server.join("up")).unwrap(), "which is no file of the package"),
        (&|server| fs::hard_link(server.join("cli.js"), server.join("hard")).unwrap(), "is a hard link"),
        (
            &|server| assert!(Command::new("mkfifo").arg(server.join("pipe")).status().unwrap().success()),
            "is neither a file, a directory nor a symbolic link",
        ),
    ];
    for (change, why) in changes {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(&package, folder.path());
        copy.verify().unwrap();
        change(&copy.path().join("node_modules/server"));
        assert_says(&copy.verify().unwrap_err(), why);
    }
}

#[test]
fn a_damaged_package_is_replaced() {
    let (site, registry) = (Site::new(), registry());
    let package = site.install(SPEC, &registry).unwrap();
    unlock(package.path());
    fs::write(package.path().join("node_modules/server/cli.js"), "x").unwrap();
    fs::create_dir_all(package.path().join("node_modules/new/new")).unwrap();
    fs::set_permissions(package.path().join("node_modules/new"), Permissions::from_mode(0o500)).unwrap();
    assert!(package.verify().is_err());
    assert_eq!(site.install(SPEC, &registry).unwrap().path(), package.path());
    package.verify().unwrap();
}

#[test]
fn a_changed_manifest_is_found() {
    let (site, registry) = (Site::new(), registry());
    let package = site.install(SPEC, &registry).unwrap();
    unlock(package.path());
    let manifest = package.path().join("portcullis-package.json");
    let text = fs::read_to_string(&manifest).unwrap();
    for (changed, why) in [
        (text.replace("cli.js", "evil.js"), "does not agree with its own hash"),
        (text.replace("\"format\": 1", "\"format\": 2"), "has the format 2"),
        ("{}".to_owned(), "is not a manifest"),
    ] {
        fs::write(&manifest, changed).unwrap();
        assert_says(&InstalledPackage::open(package.path()).unwrap_err(), why);
    }
    fs::write(&manifest, text).unwrap();
    let moved = package.path().with_file_name("npm-server-1.0.0-00");
    fs::rename(package.path(), &moved).unwrap();
    assert_says(&InstalledPackage::open(&moved).unwrap_err(), "the name of the folder does not agree");
}

#[test]
fn leftovers_of_a_killed_installation_are_removed() {
    let (site, registry) = (Site::new(), registry());
    let mut process = Command::new(std::env::current_exe().unwrap());
    process.args(["--exact", "store::install_in_a_process_that_is_killed"]).stdout(Stdio::null());
    process.env(STORE, site.store.path()).env(REGISTRY, registry.url("/silent/"));
    let mut process = process.spawn().unwrap();
    registry.wait_for_request("server");
    assert_eq!((site.unfinished(), site.store.remove_unfinished().unwrap()), (1, 0), "it still runs");

    process.kill().unwrap();
    process.wait().unwrap();
    // npm ends after the process that started it. Until then it can write into the folder that is removed.
    let deadline = Instant::now() + Duration::from_secs(10);
    while site.unfinished() > 0 {
        assert!(Instant::now() < deadline, "the leftovers stay");
        let _ = site.store.remove_unfinished();
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(site.store.remove_unfinished().unwrap(), 0);
    site.install(SPEC, &registry).unwrap();
}

/// Does nothing unless the test above starts it.
#[test]
fn install_in_a_process_that_is_killed() {
    let (Some(store), Ok(registry)) = (std::env::var_os(STORE), std::env::var(REGISTRY)) else { return };
    let mut options = portcullis_packages::InstallOptions::default();
    options.environment = options.environment.with("npm_config_registry", registry);
    let _ = PackageStore::open(Path::new(&store)).unwrap().install(&SPEC.parse().unwrap(), &options);
}

#[test]
fn a_store_that_others_can_change_is_refused() {
    let site = Site::new();
    fs::set_permissions(site.store.path(), Permissions::from_mode(0o777)).unwrap();
    assert_says(&PackageStore::open(site.store.path()).unwrap_err(), "can be changed by other users");
    let file = site.folder.path().join("file");
    File::create(&file).unwrap();
    assert!(PackageStore::open(&file).is_err());
}
