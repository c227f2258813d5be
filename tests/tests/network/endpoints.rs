//! The host's own servers, and other servers on this machine. N36.

use crate::network::lab::{Grant, Lab, answered, denied, to, with};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::json;

/// The host's own console listens on the loopback address. No spelling of that address reaches it.
#[tokio::test]
async fn n36_the_hosts_own_endpoints_are_unreachable() {
    let console = Server::plain(Behaviour::ok());
    let console_v6 = Server::plain_v6(Behaviour::ok());
    let hosts = ["good.test", "localhost", "console.localhost", "a.nip.test"];
    let grant = Grant::to(&hosts, &console).without("addresses");
    let grant = grant.set("ports", &format!("[{}, {}]", console.port(), console_v6.port()));
    let lab = Lab::open(grant).await;
    for name in ["localhost", "console.localhost"] {
        lab.dns.point(name, &["127.0.0.1", "::1"]);
    }
    lab.dns.point("good.test", &["127.0.0.1"]);
    lab.dns.point("a.nip.test", &["::1", "0.0.0.0"]);
    let spellings = [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "console.localhost",
        "good.test",
        "a.nip.test",
        "0.0.0.0",
        "0",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.2",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[0:0:0:0:0:0:0:1]",
    ];
    for name in spellings {
        for server in [&console, &console_v6] {
            let request = with(to(name, server, "/approve/1"), &json!({ "method": "POST", "body": "{}" }));
            denied(&lab.one(request).await);
        }
    }
    console.saw_nothing();
    console_v6.saw_nothing();
}

/// With a grant of the loopback address, the same request succeeds.
#[tokio::test]
async fn n36_a_granted_address_is_reached() {
    let (v4, v6) = (Server::plain(Behaviour::ok()), Server::plain_v6(Behaviour::ok()));
    let grant = Grant::to(&["good.test", "six.test", "127.0.0.1"], &v4);
    let lab = Lab::open(grant.set("ports", &format!("[{}, {}]", v4.port(), v6.port()))).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    lab.dns.point("six.test", &["::1"]);
    answered(&lab.one(to("good.test", &v4, "/")).await, 200);
    answered(&lab.one(to("127.0.0.1", &v4, "/")).await, 200);
    answered(&lab.one(to("six.test", &v6, "/")).await, 200);
}

/// An application can protect its own server from every plugin, whatever the policy grants and however the server is
/// addressed.
#[tokio::test]
async fn n36_an_applications_own_server_is_unreachable() {
    let (own, other) = (Server::plain(Behaviour::ok()), Server::plain(Behaviour::ok()));
    let grant = Grant::to(&["good.test", "127.0.0.1"], &own);
    let lab = Lab::open(grant.set("ports", &format!("[{}, {}]", own.port(), other.port()))).await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    lab.host.keep_unreachable(own.address());
    for name in ["good.test", "127.0.0.1"] {
        denied(&lab.one(to(name, &own, "/approve/1")).await);
        answered(&lab.one(to(name, &other, "/")).await, 200);
    }
    own.saw_nothing();
}
