//! The secrets of a call's requests are removed from its output, even if they are written in pieces.

use super::rig::{Rig, Run};
use portcullis_definitions::manifest::Output;
use portcullis_policy::{
    AddressRange, HostPattern, HttpBinding, HttpLimits, Scheme, SecretBinding, SecretSlot, SecretSource, Unnamed,
};
use portcullis_sandbox::Network;
use portcullis_tests::net::{Behaviour, Dns, Server};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tempfile::TempDir;

/// The secret, which only the server may see.
const SECRET: &str = "tok-8c1f0a5e9d7b4326";

/// The replacement of a secret.
const REDACTED: &str = "[redacted by Portcullis]";

/// A server to which the secret is sent.
struct Lab {
    server: Server,
    dns: Dns,
    directory: TempDir,
}

impl Lab {
    fn new() -> Self {
        let (server, dns, directory) = (Server::plain(Behaviour::ok()), Dns::start(), TempDir::new().unwrap());
        dns.point("good.test", &["127.0.0.1"]);
        let token = directory.path().join("token");
        fs::write(&token, SECRET).unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
        Self { server, dns, directory }
    }

    fn binding(&self) -> HttpBinding {
        let host = HostPattern::new("good.test").unwrap();
        HttpBinding {
            schemes: vec![Scheme::Http],
            hosts: vec![host.clone()],
            unnamed: Unnamed::Deny,
            ports: vec![self.server.port()],
            methods: vec!["GET".to_owned()],
            paths: Vec::new(),
            headers: None,
            addresses: vec![AddressRange::new("127.0.0.0/8").unwrap()],
            roots: None,
            secret: Some(SecretBinding {
                host,
                slot: SecretSlot::Header { name: "authorization".to_owned(), value: "Bearer {}".to_owned() },
                from: SecretSource::File("token".to_owned()),
            }),
            narrow: None,
            limits: HttpLimits {
                request_bytes: 1000,
                response_bytes: 1000,
                requests: 10,
                requests_per_minute: 1000,
                time: Duration::from_secs(20),
            },
            server: None,
        }
    }

    /// Writes pieces, and sends a request before one of them.
    async fn run(&self, before: usize, pieces: &[&str], then: &Value) -> Run {
        let network = Network::new(&[self.dns.address()]);
        let rig = Rig::new().client(&network, self.binding(), self.directory.path());
        let pieces: Vec<_> = pieces.iter().map(|piece| piece.as_bytes()).collect();
        let url = format!("http://good.test:{}/", self.server.port());
        let run = rig.run("pieces", &json!({ "pieces": pieces, "url": url, "before": before, "then": then })).await;
        assert!(self.server.seen().heard(SECRET.as_bytes()), "the secret was sent");
        run
    }
}

#[tokio::test]
async fn a_secret_in_one_piece_is_removed_and_counted() {
    let run = Lab::new().run(0, &["before ", &format!("{SECRET} after")], &json!("nothing")).await;
    run.answers(&format!("before {REDACTED} after"));
    assert_eq!(run.ran.traffic.redactions, 1);
}

#[tokio::test]
async fn a_secret_across_two_pieces_is_removed_wherever_it_is_split() {
    let lab = Lab::new();
    for cut in 1..SECRET.len() {
        let (one, other) = SECRET.split_at(cut);
        let run = lab.run(0, &[&format!("before {one}"), &format!("{other} after")], &json!("nothing")).await;
        run.answers(&format!("before {REDACTED} after"));
    }
}

#[tokio::test]
async fn a_secret_across_written_and_returned_text_is_removed() {
    let (one, other) = SECRET.split_at(9);
    let run = Lab::new().run(0, &[one], &json!({ "text": format!("{other} after") })).await;
    run.answers(&format!("{REDACTED} after"));
}

/// A possible start of a secret is held back, and passed on if nothing follows.
#[tokio::test]
async fn the_start_of_a_secret_is_not_a_secret() {
    let lab = Lab::new();
    let begun = &SECRET[..9];
    lab.run(0, &["a", begun], &json!("nothing")).await.answers(&format!("a{begun}"));
    for then in [json!({ "fail": "as told" }), json!("trap")] {
        lab.run(0, &["a", begun], &then).await.had_written(&format!("a{begun}"));
    }
}

/// The plugin may know the secret from an earlier call.
#[tokio::test]
async fn a_secret_is_removed_from_text_that_is_written_before_it_is_sent() {
    let run = Lab::new().run(1, &[SECRET, SECRET], &json!("nothing")).await;
    run.answers(&format!("{REDACTED}{REDACTED}"));
}

/// Without written text, the returned text is searched like every other result.
#[tokio::test]
async fn a_secret_that_is_returned_is_removed() {
    let run = Lab::new().run(0, &[""], &json!({ "text": SECRET })).await;
    let output = &run.success().output;
    assert!(*output == Output::Text(REDACTED.to_owned()) || run.taker.told().text() == REDACTED, "{output:?}");
}
