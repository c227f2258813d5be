//! From a name to an address, and only to that address. N04 to N07, N28, N37.

use crate::network::lab::{Grant, Lab, Plan, answered, denied, failed, is_denied, to, with};
use portcullis_tests::net::{Behaviour, Dns, Server, Zone};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

/// Addresses that are not on the public internet, that embed such an address, or that serve a cloud's metadata.
const SPECIAL: &[&str] = &[
    "0.0.0.0",
    "0.0.0.1",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
];

/// A granted name that resolves to an address that is neither global nor granted.
#[tokio::test]
async fn n04_n05_n28_names_with_special_addresses_are_denied() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["*.special.example"], &server).without("addresses")).await;
    let mut errands = Vec::new();
    for (index, address) in SPECIAL.iter().enumerate() {
        let name = format!("n{index}.special.example");
        lab.dns.point(&name, &[address]);
        errands.push(to(&name, &server, "/latest/meta-data/"));
    }
    for (address, result) in SPECIAL.iter().zip(lab.send(errands).await) {
        assert!(is_denied(&result), "{address} returned {result}");
    }
    server.saw_nothing();
    // Each name was resolved, so it is the address that was denied, not the name.
    assert_eq!(lab.dns.times_v4("n0.special.example"), 1);
    assert_eq!(lab.dns.times_v4("n40.special.example"), 1);
}

/// Well-known names that resolve to the loopback address.
#[tokio::test]
async fn n05_names_that_resolve_to_loopback_are_denied() {
    let server = Server::plain(Behaviour::ok());
    let names = ["localhost", "foo.localhost", "127.0.0.1.nip.test", "localtest.test", "metadata.google.internal"];
    let lab = Lab::open(Grant::to(&names, &server).without("addresses")).await;
    for name in names {
        lab.dns.point(name, &["127.0.0.1", "::1"]);
    }
    for name in names {
        denied(&lab.one(to(name, &server, "/")).await);
        denied(&lab.one(to(&format!("{name}."), &server, "/")).await);
    }
    server.saw_nothing();
}

/// One look-up gives the address for the check and for the connection. The next request has its own look-up.
#[tokio::test]
async fn n06_a_name_that_changes_is_connected_at_the_checked_address() {
    let server = Server::plain(Behaviour::ok());
    let trap = server.beside("127.0.0.2", Behaviour::ok());
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("addresses", "[\"127.0.0.1\"]")).await;
    lab.dns.points("good.test", &[&["127.0.0.1"], &["127.0.0.2"], &["127.0.0.1"], &["127.0.0.2"]]);
    for turn in 0..4 {
        let result = lab.one(to("good.test", &server, "/")).await;
        assert_eq!(lab.dns.times_v4("good.test"), turn + 1, "one look-up to a request");
        if turn % 2 == 0 { answered(&result, 200) } else { denied(&result) }
    }
    assert_eq!(server.connections(), 2);
    trap.saw_nothing();
}

/// A denied address is not tried, even if the answer also contains allowed ones.
#[tokio::test]
async fn n07_denied_addresses_in_a_mixed_answer_are_not_tried() {
    let server = Server::plain(Behaviour::ok());
    let trap = server.beside("127.0.0.2", Behaviour::ok());
    let lab = Lab::open(Grant::to(&["*.mixed.example"], &server).set("addresses", "[\"127.0.0.1\"]")).await;
    let answers: [&[&str]; 6] = [
        &["127.0.0.1", "127.0.0.2"],
        &["127.0.0.2", "127.0.0.1"],
        &["127.0.0.2", "127.0.0.3"],
        &["127.0.0.1", "::1"],
        &["::1", "169.254.169.254", "127.0.0.1"],
        &["127.0.0.2"],
    ];
    for (index, answer) in answers.iter().enumerate() {
        let name = format!("n{index}.mixed.example");
        lab.dns.point(&name, answer);
        let result = lab.one(to(&name, &server, "/")).await;
        if !answer.contains(&"127.0.0.1") || result["status"].is_null() {
            denied(&result);
        }
    }
    trap.saw_nothing();
    lab.dns.point("ok.mixed.example", &["127.0.0.1"]);
    answered(&lab.one(to("ok.mixed.example", &server, "/")).await, 200);
}

/// A failed connection to a checked address causes no other look-up.
#[tokio::test]
async fn n06_a_failed_connection_causes_no_other_look_up() {
    let server = Server::plain(Behaviour::ok());
    let (port, trap) = (server.port(), server.beside("127.0.0.2", Behaviour::ok()));
    let lab = Lab::open(Grant::to(&["good.test"], &server).set("addresses", "[\"127.0.0.1\"]")).await;
    drop(server);
    lab.dns.points("good.test", &[&["127.0.0.1"], &["127.0.0.2"]]);
    let request = json!({ "client": "api", "authority": format!("good.test:{port}"), "path": "/" });
    failed(&lab.one(request).await);
    assert_eq!(lab.dns.times_v4("good.test"), 1);
    trap.saw_nothing();
}

/// A resolver that is silent, or answers with too much, nonsense or loops: the request fails in time, and the host
/// keeps running.
#[tokio::test]
async fn n37_a_bad_resolver_costs_only_time() {
    let server = Server::plain(Behaviour::ok());
    let grant = Grant::to(&["*.bad.example", "good.test"], &server).set("time", "\"1 s\"");
    let lab = Lab::open(grant).await;
    let loopback: IpAddr = Ipv4Addr::LOCALHOST.into();
    let private = Ipv4Addr::new(10, 0, 0, 1);
    let zones = [
        ("hang", Zone::Hang),
        ("none", Zone::None),
        ("fail", Zone::Fail),
        ("garbage", Zone::Garbage),
        ("truncated", Zone::Truncated),
        ("self", Zone::Alias("self.bad.example".to_owned())),
        ("ping", Zone::Alias("pong.bad.example".to_owned())),
        ("pong", Zone::Alias("ping.bad.example".to_owned())),
        ("many", Zone::Many(1000, private)),
        ("empty", Zone::Each(vec![Vec::new()])),
        ("unasked", Zone::Unasked("else.test".to_owned(), loopback)),
    ];
    for (label, zone) in &zones {
        lab.dns.set(&format!("{label}.bad.example"), zone.clone());
    }
    for index in 0..40 {
        let next = format!("chain{}.bad.example", index + 1);
        lab.dns.set(&format!("chain{index}.bad.example"), Zone::Alias(next));
    }
    lab.dns.point("chain40.bad.example", &["127.0.0.1"]);
    lab.dns.point("good.test", &["127.0.0.1"]);
    for label in zones.iter().map(|(label, _)| *label).chain(["chain0"]) {
        let began = Instant::now();
        let result = lab.one(to(&format!("{label}.bad.example"), &server, "/")).await;
        assert!(began.elapsed() < Duration::from_secs(3), "{label} took {:?}", began.elapsed());
        failed(&result);
    }
    server.saw_nothing();
    assert!(lab.dns.asked().len() < 200, "{} questions", lab.dns.asked().len());
    answered(&lab.one(to("good.test", &server, "/")).await, 200);
}

/// A name server that never answers IPv6 queries delays the first request of a call a little, and no other request.
#[tokio::test]
async fn n37_an_unanswered_ipv6_query_costs_a_call_little_time() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["four.test"], &server)).await;
    lab.dns.set("four.test", Zone::OnlyV4(Ipv4Addr::LOCALHOST));
    let began = Instant::now();
    let result = lab.one(with(to("four.test", &server, "/"), &json!({ "times": 5 }))).await;
    assert_eq!(result["counts"], json!({ "200": 5 }), "{result}");
    // One unanswered query takes 2 s, and is sent three times.
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(lab.dns.times_v4("four.test"), 1, "one look-up for the requests of a call");
    answered(&lab.one(to("four.test", &server, "/")).await, 200);
    assert_eq!(lab.dns.times_v4("four.test"), 2, "calls share no addresses");
}

/// Cached addresses are checked at each use, because another client of the call may have a narrower grant.
#[tokio::test]
async fn n06_kept_addresses_are_checked_for_each_client() {
    let server = Server::plain(Behaviour::ok());
    let grant = || Grant::to(&["good.test"], &server);
    let lab = Plan::new().await.grant("api", grant()).grant("other", grant().without("addresses")).open().await;
    lab.dns.point("good.test", &["127.0.0.1"]);
    let other = with(to("good.test", &server, "/"), &json!({ "client": "other" }));
    let results = lab.send(vec![to("good.test", &server, "/"), other]).await;
    answered(&results[0], 200);
    denied(&results[1]);
    assert_eq!((lab.dns.times_v4("good.test"), server.connections()), (1, 1));
}

/// Only a few of a name's many addresses are tried, within the time of one request.
#[tokio::test]
async fn n37_a_name_with_many_granted_addresses_is_tried_a_few_times() {
    let server = Server::plain(Behaviour::Reset);
    let lab = Lab::open(Grant::to(&["many.test"], &server).set("time", "\"1 s\"")).await;
    lab.dns.set("many.test", Zone::Many(1000, Ipv4Addr::new(127, 7, 0, 1)));
    let began = Instant::now();
    failed(&lab.one(to("many.test", &server, "/")).await);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

/// An alias has its target's address, and the request keeps the alias as its host.
#[tokio::test]
async fn n37_the_target_of_an_alias_is_checked() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["*.alias.example"], &server).set("addresses", "[\"127.0.0.1\"]")).await;
    lab.dns.set("good.alias.example", Zone::AliasAt("target.test".to_owned(), Ipv4Addr::LOCALHOST.into()));
    lab.dns.set("bad.alias.example", Zone::AliasAt("target.test".to_owned(), Ipv4Addr::new(127, 0, 0, 2).into()));
    answered(&lab.one(to("good.alias.example", &server, "/")).await, 200);
    denied(&lab.one(to("bad.alias.example", &server, "/")).await);
    assert!(server.texts()[0].contains("host: good.alias.example"), "{:?}", server.texts());
}

/// The hosts file and search lists are ignored.
#[tokio::test]
async fn n05_the_hosts_file_is_ignored() {
    let server = Server::plain(Behaviour::ok());
    let lab = Lab::open(Grant::to(&["ip6-localhost", "ip6-loopback", "good"], &server)).await;
    for name in ["ip6-localhost", "ip6-loopback", "good"] {
        failed(&lab.one(to(name, &server, "/")).await);
    }
    server.saw_nothing();
    assert!(lab.dns.asked().iter().all(|name| !name.contains('.')), "no search list: {:?}", lab.dns.asked());
}

/// A resolver that does not respond is an error. No other resolver is used.
#[tokio::test]
async fn n37_no_other_resolver_is_used() {
    let server = Server::plain(Behaviour::ok());
    let mut plan = Plan::new().await.grant("api", Grant::to(&["good.test"], &server).set("time", "\"1 s\""));
    plan.dns = Dns::start();
    let lab = plan.open().await;
    let dead = with(to("good.test", &server, "/"), &json!({ "times": 1 }));
    drop(lab.dns);
    let reply = lab.host.call(portcullis::Request::new("courier.send", json!({ "errands": [dead] }).to_string())).await;
    let result = crate::network::lab::values(&reply).remove(0);
    failed(&result);
    server.saw_nothing();
}
