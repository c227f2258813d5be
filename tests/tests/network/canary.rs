//! A secret that is used, echoed, rejected and part of failures. The test then searches everything that was written.
//! X06.

use crate::network::encode::{clean, clean_below, spellings};
use crate::network::lab::{Grant, Plan, to, with};
use portcullis::approvals::Scripted;
use portcullis::{Answer, Request};
use portcullis_tests::net::{Behaviour, Server};
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;

/// A text that does not occur by chance.
const CANARY: &str = "cnry7Qx3vZp9Lm2Kd8Ht5Rw";

#[tokio::test]
async fn x06_no_artefact_holds_the_secret() {
    let echo = Server::plain(Behaviour::answer(|request| Behaviour::whole(200, &[("x-echo", CANARY)], request)));
    let slots = [
        "header = \"authorization\", value = \"Bearer {}\"",
        "basic = \"ann\"",
        "query = \"api_key\"",
        "header = \"x-key\", value = \"{}\"",
    ];
    for slot in slots {
        let secret = format!("{{ host = \"good.test\", {slot}, from = \"file:token\" }}");
        let grant = Grant::to(&["good.test", "other.test"], &echo).set("secret", &secret).set("requests", "5");
        let plan = Plan::new().await.file("token", CANARY).grant("api", grant);
        let policy = plan.policy();
        let builder = plan.site.builder(&policy).approver(Arc::new(Scripted::new([Answer::Yes])));
        let host = builder.open().await.unwrap();
        plan.dns.point("good.test", &["127.0.0.1"]);
        plan.dns.point("other.test", &["127.0.0.1"]);
        let mut events = host.events();
        let request = to("good.test", &echo, "/a?b=c");
        let errands = json!({ "errands": [
            request,
            to("other.test", &echo, "/"),
            with(request.clone(), &json!({ "headers": [["authorization", "mine"], ["x-key", "mine"]] })),
            to("good.test", &echo, "/?api_key=mine"),
            to("evil.test", &echo, "/"),
            with(request.clone(), &json!({ "times": 10 })),
        ] });
        let reply = host.call(Request::new("courier.send", errands.to_string())).await;
        assert!(echo.seen().requests.len() >= 3);
        let mut seen = format!("{reply:?}\n{:?}\n{:?}", host.policy(), host.catalog());
        for plugin in host.catalog().plugins() {
            let _ = write!(seen, "{:?}", host.handles(plugin));
        }
        while let Some(event) = events.try_next() {
            let _ = write!(seen, "{event:?}");
        }
        let explained = host.explain(Request::new("courier.send", errands.to_string())).await;
        let _ = write!(seen, "{explained:?}");
        clean(slot, seen.as_bytes(), CANARY);
        let unwrapped: String = seen.split_whitespace().collect();
        clean(slot, unwrapped.as_bytes(), CANARY);
        drop(host);
        assert!(clean_below(&plan.site.path(""), CANARY) > 5);
        // The server received it.
        let held = spellings(CANARY).iter().any(|spelling| echo.seen().heard(spelling));
        assert!(held || slot.starts_with("basic"), "{:?}", echo.texts());
    }
}
