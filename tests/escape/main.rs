//! A host that confines its own process, and a service that does what code would do that broke out of the engine: it
//! makes the system calls itself, in the process of the host, on the thread that runs the guest.
//!
//! `portcullis-tests-escape PLUGINS STATE POLICY SECRET KEPT PORT OTHER-PORT` prints what the service reached. `SECRET`
//! is a file that the policy does not name, `KEPT` a directory that it does, and `PORT` the port of an HTTP binding.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "these are the attempts that must fail")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use portcullis::confinement::OwnNeeds;
use portcullis::services::{CallFacts, Key, Service, ServiceError};
use portcullis::{BoxFuture, Host, Request};
use serde_json::{Value, json};
use std::fs;
use std::future::ready;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;

const ESCAPE: Key<dyn Service> = Key::new("escape");

/// What the program was started with.
struct Escape {
    secret: String,
    kept: String,
    port: u16,
    other_port: u16,
}

impl Escape {
    /// Tries everything. Returns what succeeded.
    fn attempt(&self) -> Vec<&'static str> {
        let connects = |port| TcpStream::connect(("127.0.0.1", port)).is_ok();
        let kept = format!("{}/escape", self.kept);
        let attempts = [
            (
                "use what the policy names",
                fs::write(&kept, "x").is_ok() && fs::read(&kept).is_ok() && connects(self.port),
            ),
            ("read a file of the user", fs::read(&self.secret).is_ok()),
            ("write a file of the user", fs::OpenOptions::new().append(true).open(&self.secret).is_ok()),
            ("make a file of the user", fs::write(format!("{}.new", self.secret), "x").is_ok()),
            ("remove a file of the user", fs::remove_file(&self.secret).is_ok()),
            ("list the root", fs::read_dir("/").is_ok()),
            ("read another process", fs::read("/proc/1/environ").is_ok()),
            ("start a program", Command::new("/bin/true").status().is_ok()),
            ("connect to a new port", connects(self.other_port)),
            ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
        ];
        attempts.into_iter().filter(|(_, is_reached)| *is_reached).map(|(what, _)| what).collect()
    }
}

impl Service for Escape {
    fn call<'a>(&'a self, _: &'a CallFacts, method: &'a str, _: Value) -> BoxFuture<'a, Result<Value, ServiceError>> {
        // On the worker thread itself, and on a thread that it starts.
        let mut reached = self.attempt();
        if method == "threads" {
            std::thread::scope(|scope| reached.extend(scope.spawn(|| self.attempt()).join().unwrap()));
        }
        Box::pin(ready(Ok(json!(reached))))
    }
}

fn main() {
    portcullis::init();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [plugins, state, policy, secret, kept, port, other_port] = &arguments[..] else {
        panic!("usage: portcullis-tests-escape PLUGINS STATE POLICY SECRET KEPT PORT OTHER-PORT");
    };
    let (port, other_port) = (port.parse().unwrap(), other_port.parse().unwrap());
    let escape: Arc<dyn Service> = Arc::new(Escape { secret: secret.clone(), kept: kept.clone(), port, other_port });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let builder =
            Host::builder(plugins, state).policy_file(policy).provide(&ESCAPE, move |_| Ok(Arc::clone(&escape)));
        let host = builder.service("escape", &ESCAPE).open().await.unwrap();
        let call = || async {
            let steps = json!({ "steps": [{ "key": "search", "method": "threads", "input": "1" }] });
            host.call(Request::new("service.run", steps.to_string())).await.message
        };
        println!("before {}", call().await);
        // What worked before must be there again for the next attempt.
        fs::write(secret, "secret").unwrap();
        let given_up = host.confine_process(&OwnNeeds { reloads: true, ..OwnNeeds::default() });
        println!("gave up {:?}", given_up.map_err(|error| error.to_string()));
        println!("after {}", call().await);
    });
}
