//! What an answer costs the host in memory: a piece of it, however large it is. Measured in a process of its own, by
//! the kernel's count of the most that was ever resident.

use portcullis::{Host, LimitKind, Reply, Request};
use portcullis_tests::{Site, allow_all, built_guest};
use serde_json::{Value, json};
use std::process::Command;
use std::{env, fs};

/// Says to this test that it is the process that is measured.
const MEASURED: &str = "PORTCULLIS_TEST_MEASURED";

/// How much more a large answer may cost than a small one, in bytes: what allocators and the record take, and far less
/// than any of the answers.
const CAP_BYTES: u64 = 8 << 20;

const MIB: u64 = 1 << 20;

#[test]
fn an_answer_costs_a_piece_of_it_however_large_it_is() {
    if env::var_os(MEASURED).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        return runtime.block_on(measure());
    }
    let name = "outputs::stream::memory::an_answer_costs_a_piece_of_it_however_large_it_is";
    let mut child = Command::new(env::current_exe().unwrap());
    let output = child.args(["--exact", name, "--nocapture"]).env(MEASURED, "1").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("1 passed"), "{}", text(&output.stdout));
}

async fn measure() {
    let site = Site::new();
    site.plugin("scribe", &built_guest("output"));
    let host = site.open(&allow_all("time = \"60 s\"\nmemory = \"256 MiB\"")).await;
    // What the first calls leave behind is no cost of an answer: warm pages of the pool, threads, the record's cache.
    for _ in 0..3 {
        lines(&host, MIB).await;
    }
    let (small, _) = peak(lines(&host, MIB)).await;
    let (large, reply) = peak(lines(&host, 50 * MIB)).await;
    assert!(reply.usage.bytes_out >= 50 * MIB, "{}: {}", reply.usage.bytes_out, reply.message);
    assert!(large < small + CAP_BYTES, "50 MiB cost {large} bytes, 1 MiB cost {small}");

    let (endless, reply) = peak(call(&host, "endless", &json!({}))).await;
    assert_eq!(reply.code, portcullis::Code::Limit(LimitKind::KeptOutput), "{}", reply.message);
    assert!(endless < small + CAP_BYTES, "an answer without end cost {endless} bytes, 1 MiB cost {small}");

    let (returned, reply) = peak(call(&host, "returned", &json!({ "bytes": 50 * MIB }))).await;
    assert_eq!(reply.code, portcullis::Code::Limit(LimitKind::Transfer), "{}", reply.message);
    let guest = reply.usage.run.memory_bytes;
    assert!(guest >= 50 * MIB, "the guest made the whole text: {guest}");
    assert!(returned < small + guest + CAP_BYTES, "50 MiB that were returned cost {returned} bytes beside {guest}");
}

async fn lines(host: &Host, bytes: u64) -> Reply {
    call(host, "lines", &json!({ "count": bytes / 64, "bytes": 64 })).await
}

async fn call(host: &Host, tool: &str, arguments: &Value) -> Reply {
    host.call(Request::new(format!("scribe.{tool}"), arguments.to_string())).await
}

/// By how much a call raises the most that is resident above what is resident now, in bytes.
async fn peak(call: impl Future<Output = Reply>) -> (u64, Reply) {
    // Begins the kernel's count anew.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS:");
    let reply = call.await;
    (status("VmHWM:").saturating_sub(before), reply)
}

/// A number of `/proc/self/status`, in bytes.
fn status(field: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
