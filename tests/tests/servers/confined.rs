//! The program of a server reaches what the policy binds, and nothing else.

use crate::servers::desk::{ALLOW, Desk, call};
use portcullis::Code;
use portcullis_tests::{eventually_async, outcomes};
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

#[tokio::test]
async fn a_server_sees_its_directories_and_no_other_file_of_the_user() {
    let desk = Desk::new(&["read", "write"]);
    let secret = desk.site.path("secret.txt");
    fs::write(&secret, "canary-of-a-file").unwrap();
    fs::write(desk.site.path("work/note.txt"), "a note").unwrap();
    let host = desk.allowing().await;
    let read = async |path: &Path| call(&host, "read", json!({ "path": path })).await;
    assert_eq!(read(&desk.site.path("work/note.txt")).await.message, "a note");
    for hidden in [&*secret, &desk.site.state().join("key"), Path::new("/root/.bashrc"), Path::new("/etc/shadow")] {
        let reply = read(hidden).await;
        assert_eq!(reply.code, Code::ToolFailed, "{}: {:?}", hidden.display(), reply.message);
        assert!(!reply.message.contains("canary"), "{}", reply.message);
    }
    // At most, this is a file of the private `/tmp`.
    let _ = call(&host, "write", json!({ "path": desk.site.path("planted"), "text": "x" })).await;
    assert!(!desk.site.path("planted").exists());
    let reply = call(&host, "write", json!({ "path": desk.site.path("work/kept"), "text": "x" })).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    assert_eq!(fs::read_to_string(desk.site.path("work/kept")).unwrap(), "x");
}

#[tokio::test]
async fn a_read_only_directory_cannot_be_changed() {
    let desk = Desk::new(&["write"]);
    // The program starts in the first directory, which has the list of its tools.
    fs::create_dir(desk.site.path("zoo")).unwrap();
    let host = desk.open("directory.zoo = { path = \"zoo\" }", ALLOW).await;
    let reply = call(&host, "write", json!({ "path": desk.site.path("zoo/planted"), "text": "x" })).await;
    assert_eq!((reply.code, desk.site.path("zoo/planted").exists()), (Code::ToolFailed, false));
}

#[tokio::test]
async fn a_server_gets_only_the_environment_of_the_policy_and_no_secret_comes_back() {
    let desk = Desk::new(&["environment"]);
    fs::write(desk.site.path("token"), "canary-of-a-server-token\n").unwrap();
    let host = desk.open("environment = { LANG = \"C.UTF-8\", TOKEN = \"file:token\" }", ALLOW).await;
    let reply = call(&host, "environment", json!({})).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let names: Vec<&str> = reply.message.lines().filter_map(|line| line.split('=').next()).collect();
    assert!(names.contains(&"LANG") && names.contains(&"TOKEN") && !names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    assert!(!reply.message.contains("canary-of-a-server-token"), "{}", reply.message);
    let log = outcomes(&host).iter().map(ToString::to_string).collect::<String>();
    assert!(!log.contains("canary-of-a-server-token"), "{log}");
}

/// Serves one answer for each connection. Returns the address.
fn web() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    address.to_string()
}

#[tokio::test]
async fn a_server_reaches_the_hosts_of_its_network_and_its_requests_are_recorded() {
    let desk = Desk::new(&["connect"]);
    let (granted, other) = (web(), web());
    let port = granted.rsplit(':').next().unwrap();
    let network = format!(
        "network = {{ hosts = [\"127.0.0.1\"], ports = [{port}], schemes = [\"http\"], methods = [\"GET\"], \
         addresses = [\"127.0.0.1/32\"] }}"
    );
    let host = desk.open(&network, ALLOW).await;
    let reply = call(&host, "connect", json!({ "address": granted })).await;
    assert_eq!((reply.code, reply.message.as_str()), (Code::Completed, "HTTP/1.1 200 OK"));
    let reply = call(&host, "connect", json!({ "address": other })).await;
    assert!(reply.message.contains("403"), "{}", reply.message);
    let text = outcomes(&host).iter().map(ToString::to_string).collect::<String>();
    assert!(text.contains(&format!("http://{granted}/")), "{text}");
}

#[tokio::test]
async fn a_server_without_network_reaches_nothing() {
    let desk = Desk::new(&["connect"]);
    let address = web();
    let host = desk.allowing().await;
    let reply = call(&host, "connect", json!({ "address": address })).await;
    assert!(!reply.message.contains("200 OK"), "{}", reply.message);
}

#[tokio::test]
async fn everything_that_a_server_has_started_ends_with_the_host() {
    let desk = Desk::new(&["fork", "process"]);
    let host = desk.allowing().await;
    assert_eq!(call(&host, "fork", json!({})).await.code, Code::Completed);
    let work = desk.site.path("work");
    assert!(!processes_in(&work).is_empty());
    drop(host);
    eventually_async("the processes end", || processes_in(&work).is_empty().then_some(())).await;
}

/// Returns the processes whose working directory this is.
fn processes_in(directory: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let inside = processes.filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == directory));
    inside.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
