//! What a process takes from itself.

use crate::lab::Scratch;
use std::process::Command;

#[test]
fn a_process_that_only_computes_reaches_no_file_socket_program_or_process() {
    let scratch = Scratch::new();
    let file = scratch.path().join("file");
    std::fs::write(&file, "kept").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_portcullis-confine-broker"))
        .args(["--only-compute", file.to_str().unwrap(), &port])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "computed 2997000\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn a_process_that_runs_restricts_all_of_its_threads() {
    let scratch = Scratch::new();
    let (kept, secret) = (scratch.path().join("kept"), scratch.path().join("secret"));
    std::fs::create_dir(&kept).unwrap();
    std::fs::write(&secret, "secret").unwrap();
    let listeners = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = listeners.each_ref().map(|listener| listener.local_addr().unwrap().port().to_string());
    let output = Command::new(env!("CARGO_BIN_EXE_portcullis-confine-broker"))
        .args(["--restrict", kept.to_str().unwrap(), secret.to_str().unwrap(), &ports[0], &ports[1]])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let wanted = ["early-0", "early-1", "early-2", "late", "main"].map(|thread| format!("{thread} works: true"));
    assert_eq!(lines, wanted);
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
}
