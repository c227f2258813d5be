//! Outputs of many hosts in a bucket of an S3-compatible store that others wrote (s3rver). It checks which key signs a
//! request, and not the signature.

use portcullis_tests::{Site, allow_all, built_guest, program};
use portcullis_tests_postgres::{Server, is_installed, query};
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

/// The bucket, and the key that the store accepts.
const BUCKET: &str = "outputs";
const KEY: &str = "S3RVER";

/// The database of the ledger.
const DATABASE: &str = "ledger";

/// Lines of 64 bytes of an output with a part and a half.
const LARGE: u64 = 24 * 1024;

/// How long the store may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// A store, a database, and the hosts that use them.
struct Warehouse {
    site: Site,
    database: Server,
    store: Child,
    port: u16,
}

impl Drop for Warehouse {
    fn drop(&mut self) {
        let _ = self.store.kill();
        let _ = self.store.wait();
    }
}

impl Warehouse {
    fn new() -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let (site, database) = (Site::new(), Server::start().unwrap());
        database.create(DATABASE).unwrap();
        site.plugin("scribe", &built_guest("output"));
        fs::write(site.path("key"), "5a".repeat(32)).unwrap();
        let policy = allow_all("output = \"4096 B\"\ntime = \"60 s\"");
        fs::write(site.path("policy.toml"), policy).unwrap();
        let modules =
            PathBuf::from(env::var_os("PORTCULLIS_TEST_STORE_MODULES").expect("run cargo xtask test clients"));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut store = Command::new(env::var_os("PORTCULLIS_TEST_NODE").unwrap());
        store.arg(modules.join("s3rver/bin/s3rver.js")).arg("--directory").arg(site.directory("store"));
        store.args(["--address", "127.0.0.1", "--port", &port.to_string(), "--configure-bucket", BUCKET, "--silent"]);
        let store = store.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let warehouse = Self { site, database, store, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < PATIENCE, "the store does not start");
            sleep(Duration::from_millis(20));
        }
        Some(warehouse)
    }

    fn command(&self, host: usize, arguments: &[&str]) -> Command {
        let (site, state) = (&self.site, self.site.path(format!("host-{host}")));
        site.compile_for(&state);
        let mut command = Command::new(program());
        command.args(arguments).current_dir(site.path("")).env_clear().env("HOME", site.path("home"));
        command.arg("--plugins").arg(site.plugins()).arg("--policy").arg(site.path("policy.toml"));
        command.arg("--state").arg(state).arg("--state").arg(self.database.address(DATABASE));
        command.arg("--ledger-key").arg(site.path("key")).arg("--outputs").arg(format!("s3://{BUCKET}/team"));
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port)).env("AWS_ALLOW_HTTP", "true");
        command.env("AWS_ACCESS_KEY_ID", KEY).env("AWS_SECRET_ACCESS_KEY", KEY);
        command
    }

    fn call(&self, host: usize, tool: &str, arguments: &Value) -> Output {
        self.command(host, &["--json", "call", tool, &arguments.to_string()]).output().unwrap()
    }

    fn query(&self, statement: &str) -> String {
        query(self.database.port(), DATABASE, statement).unwrap().trim().to_owned()
    }

    /// Returns the files of the store that hold the content of objects.
    fn objects(&self) -> Vec<PathBuf> {
        let mut objects = Vec::new();
        collect(&self.site.path("store").join(BUCKET).join("team"), &mut objects);
        objects
    }
}

fn collect(folder: &Path, objects: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => collect(&path, objects),
            false if path.to_str().unwrap().ends_with("_object") => objects.push(path),
            false => {}
        }
    }
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned()
}

/// One test, because a store and a database are started for it.
#[test]
fn outputs_in_a_bucket_are_read_checked_and_removed_by_every_host() {
    let Some(warehouse) = Warehouse::new() else { return };
    let kept = warehouse.call(1, "scribe.lines", &json!({ "count": LARGE, "bytes": 64 }));
    assert!(kept.status.success(), "{}", text_of(&kept));
    let kept: Value = serde_json::from_slice(&kept.stdout).unwrap();
    let id = kept["reference"]["id"].as_str().unwrap_or_else(|| panic!("{kept}"));
    assert_eq!(warehouse.objects().len(), 1, "the first part is in the database");

    let page = json!({ "reference": id, "offset": 20_000, "limit": 1 });
    let read = warehouse.call(2, "output.read", &page);
    assert!(read.status.success() && text_of(&read).contains("line 20000 "), "{}", text_of(&read));

    let object = warehouse.objects().remove(0);
    let whole = fs::read(&object).unwrap();
    let mut changed = whole.clone();
    changed[0] ^= 1;
    fs::write(&object, changed).unwrap();
    let read = warehouse.call(2, "output.read", &page);
    assert!(!read.status.success() && text_of(&read).contains("was changed by another program"), "{}", text_of(&read));
    fs::write(&object, whole).unwrap();
    assert!(warehouse.call(2, "output.read", &page).status.success());

    // A place that cannot be used is an error at the start.
    let refused = warehouse.command(2, &["list"]).env("AWS_ACCESS_KEY_ID", "unknown").output().unwrap();
    assert!(!refused.status.success() && text_of(&refused).contains("s3://outputs/team"), "{}", text_of(&refused));
    let refused = warehouse.command(2, &["list"]).env_remove("AWS_ALLOW_HTTP").output().unwrap();
    assert!(!refused.status.success() && text_of(&refused).contains("AWS_ALLOW_HTTP"), "{}", text_of(&refused));

    let month = 31_i64 * 24 * 60 * 60 * 1000;
    warehouse.query(&format!("UPDATE portcullis.output SET kept_at = kept_at - {month}"));
    let listed = warehouse.command(2, &["list"]).output().unwrap();
    assert!(listed.status.success(), "{}", text_of(&listed));
    assert_eq!(
        (warehouse.query("SELECT count(*) FROM portcullis.output").as_str(), warehouse.objects()),
        ("0", vec![])
    );
}
