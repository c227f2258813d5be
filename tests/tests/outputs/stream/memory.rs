//! The host memory that an output uses: one piece of it, however large it is. The test measures its own process, by the
//! kernel's peak of resident memory.

use portcullis::{Host, LimitKind, Reply, Request};
use portcullis_tests::{Site, allow_all, built_guest, peak_of};
use serde_json::{Value, json};
use std::env;
use std::process::Command;

/// The variable that makes this test the measured process.
const MEASURED: &str = "PORTCULLIS_TEST_MEASURED";

/// Maximum extra memory for a large output, in bytes: the allocator and the audit log need some, which is far less than
/// any of the outputs.
const CAP_BYTES: u64 = 8 << 20;

const MIB: u64 = 1 << 20;

#[test]
fn an_output_uses_the_memory_of_one_piece() {
    if env::var_os(MEASURED).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        return runtime.block_on(measure());
    }
    let name = "outputs::stream::memory::an_output_uses_the_memory_of_one_piece";
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
    // The first call warms up the pool's pages, the threads and the audit log's cache, which are not a cost of an
    // output.
    for _ in 0..3 {
        lines(&host, MIB).await;
    }
    let (small, _) = peak_of(lines(&host, MIB)).await;
    let (large, reply) = peak_of(lines(&host, 50 * MIB)).await;
    assert!(reply.usage.bytes_out >= 50 * MIB, "{}: {}", reply.usage.bytes_out, reply.message);
    assert!(large < small + CAP_BYTES, "50 MiB cost {large} bytes, 1 MiB cost {small}");

    let (endless, reply) = peak_of(call(&host, "endless", &json!({}))).await;
    assert_eq!(reply.code, portcullis::Code::Limit(LimitKind::KeptOutput), "{}", reply.message);
    assert!(endless < small + CAP_BYTES, "an answer without end cost {endless} bytes, 1 MiB cost {small}");

    let (returned, reply) = peak_of(call(&host, "returned", &json!({ "bytes": 50 * MIB }))).await;
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
