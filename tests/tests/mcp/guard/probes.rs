//! The probes: whether the process answers, and whether the server can take calls.

use crate::guard::ask::{Answer, Ask, PATIENCE};
use crate::guard::http::{Serving, site};
use crate::guard::service::{GOOD, SLEEP, Service, anywhere, tokens, under_way};
use portcullis::state::{PostgresAddress, StatePlace};
use portcullis::{Compiler, Host};
use portcullis_mcp::http::{self, HttpOptions};
use portcullis_mcp::{Server, ServerOptions};
use portcullis_tests::{HeldWorker, Manifest, Site, allow_all, guest, slow_to_compile};
use portcullis_tests_postgres::Server as Database;
use rustix::process::Signal;
use std::fs;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Asks a probe as a cluster does, which names the address of the container.
async fn probe(address: SocketAddr, path: &str) -> Answer {
    Ask::new("GET", path).with("Host", "10.1.2.3:8080").send(address).await
}

/// Probes until the server is in this state, because a check of the storage counts for a second.
async fn until_ready_is(address: SocketAddr, status: u16, word: &str) {
    let reached = async {
        loop {
            let answer = probe(address, "/readyz").await;
            if answer.status == status && answer.body == format!("{word}\n") {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("it did not become {word}"));
}

#[tokio::test]
async fn probes_need_no_token_and_say_one_word() {
    let service = Service::open().await;
    for (path, word) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let answer = probe(service.address(), path).await.is(200);
        assert_eq!(answer.body, word);
        assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{answer:?}");
        assert_eq!(answer.header("Connection"), Some("close"), "{answer:?}");
        let post = Ask::new("POST", path).with("Host", "10.1.2.3").body("{}".to_owned());
        post.send(service.address()).await.is(405);
    }
}

/// A page whose name resolves to this machine sends that name. So an address is accepted, and a name is not.
#[tokio::test]
async fn a_probe_may_name_any_address_and_only_the_servers_own_names() {
    let service = Service::with(|options| options.hosts = vec!["tools.example".parse().unwrap()]).await;
    let own = service.address().to_string();
    for path in ["/healthz", "/readyz"] {
        for host in ["10.1.2.3:8080", "10.1.2.3", "[fd00::1]:9", "tools.example", own.as_str()] {
            Ask::new("GET", path).with("Host", host).send(service.address()).await.is(200);
        }
        for host in ["evil.example", "10.1.2.3.evil.example:8080", "localhost:1"] {
            Ask::new("GET", path).with("Host", host).send(service.address()).await.is(403);
        }
        Ask::new("GET", path).send(service.address()).await.is(403);
        let twice = Ask::new("GET", path).with("Host", "10.1.2.3").with("Host", "10.1.2.3");
        twice.send(service.address()).await.is(403);
    }
    // The tools have no such exception.
    service.send(&service.list().having("Host", "10.1.2.3:8080")).await.is(403);
}

#[tokio::test]
async fn a_server_that_drains_says_so_and_answers_new_connections_until_its_calls_end() {
    let service = Service::open().await;
    tokio::spawn(service.call(SLEEP).send_owned(service.address()));
    under_way(&service, 1).await;
    let Service { site, host, running } = service;
    let address = running.address();
    probe(address, "/readyz").await.is(200);
    let stopping = tokio::spawn(running.stop());
    until_ready_is(address, 503, "stopping").await;
    probe(address, "/healthz").await.is(200);
    timeout(PATIENCE, stopping).await.unwrap().unwrap();
    assert_eq!(host.calls_under_way(), 0);
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "it still listens");
    drop(site);
}

#[tokio::test]
async fn a_connection_that_stays_open_after_the_stop_began_does_not_prolong_it() {
    let service = Service::with(|options| {
        options.limits.first_headers_time = Duration::from_secs(3600);
        options.limits.headers_time = Duration::from_secs(3600);
    })
    .await;
    tokio::spawn(service.call(SLEEP).send_owned(service.address()));
    under_way(&service, 1).await;
    let address = service.address();
    let Service { site, running, .. } = service;
    let stopping = tokio::spawn(running.stop());
    until_ready_is(address, 503, "stopping").await;
    let _idle = tokio::net::TcpStream::connect(address).await.unwrap();
    // The call is cancelled after half a second. The longest time for connections would be ten times that.
    timeout(Duration::from_secs(4), stopping).await.expect("the idle connection prolongs the stop").unwrap();
    drop(site);
}

#[tokio::test]
async fn a_server_without_its_storage_is_not_ready_until_it_has_it_again() {
    let service = Service::open().await;
    let (address, state) = (service.address(), service.site.state());
    service.send(&service.call(GOOD)).await.is(200);
    until_ready_is(address, 200, "ready").await;

    // A directory in the place of the file that the check writes: the state directory cannot be written.
    let file = state.join(format!("write-test.{}", std::process::id()));
    fs::create_dir(&file).unwrap();
    until_ready_is(address, 503, "storage").await;
    probe(address, "/healthz").await.is(200);
    fs::remove_dir(&file).unwrap();
    until_ready_is(address, 200, "ready").await;

    let (log, head) = (state.join("audit.jsonl"), state.join("audit.head"));
    let (whole, kept) = (fs::read(&log).unwrap(), fs::read(&head).unwrap());
    fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(whole.len() as u64 / 2).unwrap();
    until_ready_is(address, 503, "storage").await;
    fs::write(&log, &whole).unwrap();
    until_ready_is(address, 200, "ready").await;

    fs::write(&head, "damaged").unwrap();
    until_ready_is(address, 503, "storage").await;
    fs::write(&head, &kept).unwrap();
    until_ready_is(address, 200, "ready").await;

    fs::rename(&log, state.join("elsewhere")).unwrap();
    until_ready_is(address, 503, "storage").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_ledger_cannot_be_reached_is_not_ready_until_it_can() {
    let mut database = Database::start().unwrap();
    database.create("ready").unwrap();
    let site = Site::new();
    let place = StatePlace::from(site.state()).ledger_in(PostgresAddress::new(database.address("ready")));
    let builder = Host::builder(site.plugins(), place).compiler(Compiler::InProcess);
    let host = builder.policy_text(&allow_all(""), site.path("")).open().await.unwrap();
    let server = Server::new(host, ServerOptions::default()).unwrap();
    let running = http::serve(server, HttpOptions::new(anywhere(), tokens())).await.unwrap();
    let address = running.address();
    until_ready_is(address, 200, "ready").await;
    database.stop().unwrap();
    until_ready_is(address, 503, "storage").await;
    probe(address, "/healthz").await.is(200);
    database.start_again().unwrap();
    until_ready_is(address, 200, "ready").await;
}

#[tokio::test]
async fn a_program_is_ready_when_its_plugins_have_loaded_and_later_ones_do_not_change_that() {
    let site = site();
    drop(Serving::start(&site, &["--no-auth"]).await.interrupt().await);
    site.plugin("slow", &slow_to_compile(&Manifest::of("slow")));
    let mut serving = Serving::start(&site, &["--no-auth", "--start-wait", "0"]).await;
    let worker = HeldWorker::of(serving.process());
    assert_eq!(probe(serving.address, "/readyz").await.is(503).body, "loading\n");
    probe(serving.address, "/healthz").await.is(200);
    worker.release();
    serving.says("slow is ready after").await;
    until_ready_is(serving.address, 200, "ready").await;

    site.plugin("slower", &slow_to_compile(&Manifest::of("slower")));
    let worker = HeldWorker::of(serving.process());
    serving.says("compiling slower").await;
    probe(serving.address, "/readyz").await.is(200);
    drop(serving.interrupt().await);
    worker.has_ended();
}

#[tokio::test]
async fn a_program_stays_ready_at_sighup_and_drains_at_sigterm() {
    let site = site();
    site.plugin("sleep-in-execute", &guest("sleep-in-execute", &Manifest::of("sleep-in-execute")));
    let mut serving = Serving::start(&site, &["--no-auth"]).await;
    serving.signal(Signal::HUP);
    serving.says("the policy did not change").await;
    assert_eq!(probe(serving.address, "/readyz").await.is(200).body, "ready\n");

    let (address, call) = (serving.address, serving.ask("", SLEEP));
    let calling = tokio::spawn(async move { call.send(address).await });
    // The call has begun when its arguments are in the audit log.
    let begun = async {
        while !fs::read_to_string(site.state().join("audit.jsonl")).unwrap().contains("sleep-in-execute.run") {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, begun).await.unwrap();
    serving.signal(Signal::TERM);
    until_ready_is(address, 503, "stopping").await;
    let ended = calling.await.unwrap();
    assert!(ended.body.contains("the server is stopping"), "{ended:?}");
    let (status, said) = serving.until_its_end().await;
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("stopping; calls under way: 1") && said.contains("stopped"), "{said}");
}
