//! One call that does everything at once: its own memory is full, and requests, bodies, streams, listings, output, a
//! store's value and two documents are open concurrently.

use crate::hoard::{ENTRIES, Echo, MEASURED, SEARCH, in_children};
use portcullis::services::Service;
use portcullis::{Code, Host, Request};
use portcullis_tests::net::{Behaviour, Server};
use portcullis_tests::{DependencyKind, Manifest, Site, allow_all, component, module, peak_of};
use std::sync::Arc;
use std::{env, fs};

const GUEST: &str = include_str!("../../guests/whole/everything.wat");

/// Length in bytes of a response that the guest begins to read: the default of `response-bytes`.
const BODY_BYTES: usize = 4 << 20;

/// The items of the arguments, and of the document that the guest sends to a service. Each takes about 700 bytes of
/// memory.
const ITEM: &str = r#"{"k":"0123456789abcde"}"#;

/// Number of items, for a text just below the default of `arguments`.
const ITEMS: usize = 43_600;

/// Minimum memory of such a call, in bytes: the guest's 63 MiB, 26 MiB of host memory, 7 MiB of result, and two
/// documents of 25 MiB. A limit that no call approaches would be meaningless.
const LEAST_BYTES: u64 = 146 << 20;

#[test]
fn one_call_of_everything_does_not_exceed_the_footprint() {
    let measured = "hoard::everything::one_call_of_everything_does_not_exceed_the_footprint";
    if env::var_os(MEASURED).is_none() {
        return in_children(measured, &["everything".to_owned()]);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let body = Behaviour::whole(200, &[("content-type", "text/plain")], vec![b'b'; BODY_BYTES]);
        let server = Server::plain(Behaviour::answer(move |_| body.clone()));
        let site = Site::new();
        let host = open(&site, &server).await;
        let list = vec![ITEM; ITEMS].join(",");
        let request = Request::new("everything.run", format!("{{\"list\":[{list}]}}"));
        let (bytes, reply) = peak_of(host.call(request)).await;
        let figure = host.footprint().per_call_bytes;
        println!("everything: {} of {} KiB, {}", bytes / 1024, figure / 1024, reply.code);
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        assert!((LEAST_BYTES..=figure).contains(&bytes), "{bytes} bytes of {figure}");
    });
}

/// Opens a host with the guest, under the default limits.
async fn open(site: &Site, server: &Server) -> Host {
    let folder = site.directory("work");
    fs::write(folder.join("file"), vec![7; 1 << 20]).unwrap();
    for index in 0..ENTRIES {
        fs::write(folder.join(format!("{index:0>200}")), "").unwrap();
    }
    let manifest = Manifest::of("everything")
        .needs(DependencyKind::Directory, "workspace", false)
        .needs(DependencyKind::Store, "notes", false)
        .needs(DependencyKind::Http, "web", false)
        .needs(DependencyKind::Service, "search", false)
        .tool(|tool| tool.required = 15);
    let text = GUEST.replace("PORT.", &server.port().to_string());
    site.plugin("everything", &component(&module(&text, &manifest)));
    let port = server.port();
    let policy = format!(
        "{}[plugin.everything]\ndirectory.workspace = {{ path = \"work\", access = \"read-write\" }}\n\
         store.notes = {{ value-bytes = \"8 MiB\", bytes = \"16 MiB\" }}\n\
         http.web = {{ hosts = [\"127.0.0.1\"], schemes = [\"http\"], ports = [{port}] }}\n\
         service.search = {{ name = \"search\" }}\n",
        allow_all("time = \"60 s\"")
    );
    let echo: Arc<dyn Service> = Arc::new(Echo);
    let builder = site.builder(&policy).provide(&SEARCH, move |_| Ok(Arc::clone(&echo))).service("search", &SEARCH);
    let host = builder.open().await.unwrap();
    // Leave out one-time costs of the first call.
    let good = host.call(Request::new("good.run", "{}")).await;
    assert_eq!(good.code, Code::Completed, "{}", good.message);
    host
}
