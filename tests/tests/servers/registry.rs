//! A registry of npm on loopback, with packages that are MCP servers.

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The server of each package: it lists what `tools.json` of its package says, and answers calls with its version.
const SERVER: &str = r#"
const tools = require('./tools.json'), version = require('./package.json').version;
require('readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = method === 'initialize'
        ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'notes', version } }
        : method === 'tools/list' ? { tools }
        : { content: [{ type: 'text', text: [version, ...process.argv.slice(2), process.env.MODE ?? ''].join(' ') }] };
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
"#;

#[derive(Default)]
struct Served {
    tarballs: BTreeMap<String, Vec<u8>>,
    versions: BTreeMap<String, Map<String, Value>>,
}

/// The registry. Its thread ends with the process.
pub(crate) struct Registry {
    address: SocketAddr,
    served: Arc<Mutex<Served>>,
}

impl Registry {
    /// Starts a registry without packages.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served = Arc::new(Mutex::new(Served::default()));
        let shared = Arc::clone(&served);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &shared.lock().unwrap());
            }
        });
        Self { address, served }
    }

    /// Returns the address, as npm wants it.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Publishes a server with these tools and dependencies.
    pub(crate) fn publish(&self, name: &str, version: &str, tools: &Value, dependencies: &Value) {
        let package = json!({ "name": name, "version": version, "bin": "server.js", "dependencies": dependencies });
        let tarball = tarball(&[
            ("package/package.json", &package.to_string()),
            ("package/server.js", SERVER),
            ("package/tools.json", &tools.to_string()),
        ]);
        let integrity = format!("sha512-{}", BASE64.encode(&Sha512::digest(&tarball)));
        let path = format!("/{name}/-/{version}.tgz");
        let mut published = package;
        published["dist"] = json!({ "tarball": format!("http://{}{path}", self.address), "integrity": integrity });
        let mut served = self.served.lock().unwrap();
        served.tarballs.insert(path, tarball);
        served.versions.entry(name.to_owned()).or_default().insert(version.to_owned(), published);
    }
}

fn tarball(files: &[(&str, &str)]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    for (path, content) in files {
        let mut header = [0; 512];
        let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
        put(0, path);
        put(100, "0000755\0");
        put(124, &format!("{:011o}\0", content.len()));
        put(136, "00000000000\0");
        put(148, "        ");
        put(156, "0");
        put(257, "ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        gzip.write_all(&header).unwrap();
        gzip.write_all(content.as_bytes()).unwrap();
        gzip.write_all(&vec![0; content.len().next_multiple_of(512) - content.len()]).unwrap();
    }
    gzip.write_all(&[0; 1024]).unwrap();
    gzip.finish().unwrap()
}

fn answer(mut stream: TcpStream, served: &Served) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(request)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = request.split(' ').nth(1).unwrap_or_default().replace("%2f", "/");
    let document = served.versions.get(path.trim_start_matches('/')).map(|versions| {
        let latest = versions.keys().next_back().unwrap();
        let name = path.trim_start_matches('/');
        json!({ "name": name, "dist-tags": { "latest": latest }, "versions": versions }).to_string().into_bytes()
    });
    let (status, body) = match served.tarballs.get(&path).cloned().or(document) {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", b"{}".to_vec()),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    // npm may have gone.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}
