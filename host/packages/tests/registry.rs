//! A small registry of npm and PyPI on loopback, which serves what a test gives it.

use data_encoding::{BASE64, HEXLOWER};
use portcullis_packages::InstallOptions;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256, Sha512};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::archive::{TarEntry, tarball, zip};

/// A path that is never answered.
const SILENT: &str = "/silent";

#[derive(Default)]
struct Served {
    files: BTreeMap<String, Vec<u8>>,
    /// The versions of each npm package.
    npm: BTreeMap<String, Map<String, Value>>,
    /// The links of each index page.
    pypi: BTreeMap<String, String>,
    requests: Vec<String>,
}

/// The registry. Its thread ends with the process.
pub(crate) struct Registry {
    address: SocketAddr,
    served: Arc<Mutex<Served>>,
}

impl Registry {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served = Arc::new(Mutex::new(Served::default()));
        let shared = Arc::clone(&served);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || answer(stream, &shared));
            }
        });
        Self { address, served }
    }

    /// Returns the address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns options of an installation that uses this registry.
    pub(crate) fn options(&self) -> InstallOptions {
        self.options_at("")
    }

    /// Returns options of an installation that uses a registry that never answers.
    pub(crate) fn silent_options(&self) -> InstallOptions {
        self.options_at(SILENT)
    }

    fn options_at(&self, path: &str) -> InstallOptions {
        let mut options = InstallOptions::default();
        options.environment = options
            .environment
            .with("npm_config_registry", self.url(&format!("{path}/")))
            .with("npm_config_fetch_retries", "0")
            .with("PIP_INDEX_URL", self.url(&format!("{path}/simple")))
            .with("PIP_RETRIES", "0");
        options
    }

    /// Serves bytes at a path.
    pub(crate) fn file(&self, path: &str, content: &[u8]) {
        self.served.lock().unwrap().files.insert(path.to_owned(), content.to_vec());
    }

    /// Adds a package of npm whose `package.json` has more fields, with more files.
    pub(crate) fn npm(&self, name: &str, fields: &Value, files: &[TarEntry]) {
        let package = package_json(name, fields);
        let text = package.to_string();
        let mut entries = vec![TarEntry::File("package/package.json", text.as_bytes())];
        entries.extend(files.iter().map(|entry| match *entry {
            TarEntry::File(path, content) => TarEntry::File(path, content),
            TarEntry::Symlink(path, target) => TarEntry::Symlink(path, target),
            TarEntry::Hardlink(path, target) => TarEntry::Hardlink(path, target),
        }));
        let tarball = tarball(&entries);
        let integrity = format!("sha512-{}", BASE64.encode(&Sha512::digest(&tarball)));
        self.npm_tarball(name, fields, &tarball, Some(&integrity));
    }

    /// Adds a package of npm with a given tarball and hash.
    pub(crate) fn npm_tarball(&self, name: &str, fields: &Value, tarball: &[u8], integrity: Option<&str>) {
        let mut package = package_json(name, fields);
        let version = package["version"].as_str().unwrap().to_owned();
        let path = format!("/{name}/-/{version}.tgz");
        package["dist"] = json!({ "tarball": self.url(&path) });
        if let Some(integrity) = integrity {
            package["dist"]["integrity"] = json!(integrity);
        }
        self.file(&path, tarball);
        self.served.lock().unwrap().npm.entry(name.to_owned()).or_default().insert(version, package);
    }

    /// Adds a wheel of PyPI with a program that calls `main`.
    pub(crate) fn wheel(&self, name: &str, requires: &[&str], files: &[(&str, &[u8])]) {
        let entry_points = format!("[console_scripts]\n{name} = {name}:main\n");
        let facts = format!("{name}-1.0.0.dist-info/entry_points.txt");
        let mut files = files.to_vec();
        files.push((&facts, entry_points.as_bytes()));
        let content = wheel(name, name, requires, &files);
        self.index_file(name, &format!("{name}-1.0.0-py3-none-any.whl"), &content, None);
    }

    /// Adds a file to the index page of a package, with its own hash or a given one.
    pub(crate) fn index_file(&self, name: &str, file: &str, content: &[u8], sha256: Option<&str>) {
        let path = format!("/files/{file}");
        let own = HEXLOWER.encode(&Sha256::digest(content));
        let link = format!("<a href=\"{path}#sha256={}\">{file}</a>\n", sha256.unwrap_or(&own));
        self.file(&path, content);
        self.served.lock().unwrap().pypi.entry(name.replace('_', "-")).or_default().push_str(&link);
    }

    /// Returns the paths that were requested.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.served.lock().unwrap().requests.clone()
    }

    /// Waits until a path was requested.
    pub(crate) fn wait_for_request(&self, path: &str) {
        while !self.requests().iter().any(|request| request.contains(path)) {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn package_json(name: &str, fields: &Value) -> Value {
    let mut package = json!({ "name": name, "version": "1.0.0" });
    for (field, value) in fields.as_object().unwrap() {
        package[field] = value.clone();
    }
    package
}

/// Returns a wheel. Its `METADATA` can have another name than its files.
pub(crate) fn wheel(name: &str, claimed: &str, requires: &[&str], files: &[(&str, &[u8])]) -> Vec<u8> {
    let facts = |file: &str| format!("{name}-1.0.0.dist-info/{file}");
    let requires: String = requires.iter().map(|requirement| format!("Requires-Dist: {requirement}\n")).collect();
    let metadata = format!("Metadata-Version: 2.1\nName: {claimed}\nVersion: 1.0.0\n{requires}");
    let form = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    let names = [facts("METADATA"), facts("WHEEL"), facts("RECORD")];
    let record: String = names
        .iter()
        .map(String::as_str)
        .chain(files.iter().map(|(path, _)| *path))
        .map(|path| format!("{path},,\n"))
        .collect();
    let mut entries: Vec<(&str, &[u8])> = files.to_vec();
    let contents = [metadata.as_bytes(), form.as_bytes(), record.as_bytes()];
    entries.extend(names.iter().map(String::as_str).zip(contents));
    zip(&entries)
}

fn answer(mut stream: TcpStream, served: &Mutex<Served>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(request)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = request.split(' ').nth(1).unwrap_or_default().replace("%2f", "/").replace("%2F", "/");
    served.lock().unwrap().requests.push(path.clone());
    if path.starts_with(SILENT) {
        thread::sleep(Duration::from_secs(60));
        return;
    }
    let content = content(&served.lock().unwrap(), path.trim_end_matches('/'));
    let (status, kind, body) = match content {
        Some((kind, body)) => ("200 OK", kind, body),
        None => ("404 Not Found", "application/json", b"{}".to_vec()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    // The client may have gone.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

fn content(served: &Served, path: &str) -> Option<(&'static str, Vec<u8>)> {
    if let Some(content) = served.files.get(path) {
        return Some(("application/octet-stream", content.clone()));
    }
    if let Some(versions) = served.npm.get(path.trim_start_matches('/')) {
        let name = path.trim_start_matches('/');
        let latest = versions.keys().next_back()?;
        let document = json!({ "name": name, "dist-tags": { "latest": latest }, "versions": versions });
        return Some(("application/json", document.to_string().into_bytes()));
    }
    let links = served.pypi.get(path.strip_prefix("/simple/")?)?;
    Some(("text/html", format!("<!DOCTYPE html><html><body>{links}</body></html>").into_bytes()))
}
