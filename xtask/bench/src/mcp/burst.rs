//! Many simultaneous calls over HTTP, each on its own connection.

use super::pipe::META;
use crate::rounds::{Block, Row, row, summarize};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Barrier;

/// Concurrent calls.
const CALLS: usize = 200;

/// Bursts. An odd number, so that there is a median. Together with the single calls, the bursts stay below the server's
/// rate limit for one client.
const BURSTS: usize = 5;

/// Timeout of one call: the longest time that a call may wait for a run slot and run.
const PATIENCE: Duration = Duration::from_secs(60);

/// An HTTP server, killed on drop.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn begin(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let said: serde_json::Value = serde_json::from_str(&line).with_context(|| format!("not JSON: {line:?}"))?;
        let url = said["url"].as_str().context("no address")?;
        let address = url.trim_start_matches("http://").split('/').next().context("no address")?.to_owned();
        Ok(Self { child, address })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures concurrent calls of the JSON tool against one call at a time.
pub(super) fn measure(command: Command, arguments: &str) -> Result<Row> {
    let server = Server::begin(command)?;
    let request = Arc::<str>::from(request(&server.address, arguments));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut alone, mut together, mut failures, mut slowest) = (Vec::new(), Vec::new(), 0, Duration::ZERO);
    for _ in 0..BURSTS {
        let (block, failed, _) = runtime.block_on(one_by_one(&server.address, &request))?;
        ensure!(failed == 0, "{failed} single calls failed");
        alone.push(block);
        let (block, failed, longest) = runtime.block_on(burst(&server.address, &request))?;
        together.push(block);
        failures += failed;
        slowest = slowest.max(longest);
    }
    let name = format!("{CALLS} concurrent calls over HTTP / one at a time");
    Ok(row(name, &alone, &together).with_failures(failures).with_slowest(slowest))
}

async fn one_by_one(address: &str, request: &str) -> Result<(Block, usize, Duration)> {
    let mut times = Vec::new();
    for _ in 0..CALLS / 10 {
        times.push(timed(address, request).await);
    }
    summary(times)
}

async fn burst(address: &str, request: &Arc<str>) -> Result<(Block, usize, Duration)> {
    let barrier = Arc::new(Barrier::new(CALLS));
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let (address, request, barrier) = (address.to_owned(), Arc::clone(request), Arc::clone(&barrier));
            tokio::spawn(async move {
                barrier.wait().await;
                timed(&address, &request).await
            })
        })
        .collect();
    let mut times = Vec::new();
    for call in calls {
        times.push(call.await?);
    }
    summary(times)
}

/// Returns a summary of the successful calls, the number of failed calls, and the slowest time.
fn summary(times: Vec<Option<Duration>>) -> Result<(Block, usize, Duration)> {
    let failed = times.iter().filter(|time| time.is_none()).count();
    let times: Vec<_> = times.into_iter().flatten().collect();
    let slowest = *times.iter().max().context("every call failed")?;
    Ok((summarize(&times), failed, slowest))
}

/// Times one call, from its connection to the end of its response. Returns `None` if the call fails.
async fn timed(address: &str, request: &str) -> Option<Duration> {
    let began = Instant::now();
    let answer = tokio::time::timeout(PATIENCE, exchange(address, request)).await.ok()?.ok()?;
    let good = answer.starts_with("HTTP/1.1 200") && answer.contains("3 orders, 2 kinds");
    good.then(|| began.elapsed())
}

async fn exchange(address: &str, request: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

fn request(address: &str, arguments: &str) -> String {
    let tool = "json__summarize";
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
         \"params\":{{\"name\":\"{tool}\",\"arguments\":{arguments}{META}}}}}"
    );
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
