//! `explain` predicts what the call then does, for people and for models, and has no side effects.

use crate::approvals::desk::{left_behind, open};
use crate::approvals::people::{Person, no};
use portcullis::hooks::Hooking;
use portcullis::policy::Unattended;
use portcullis::{Answer, Code, Covers, Hook, HookCall, Hooked, Host, Outlook, Output, Reply, Request};
use portcullis_tests::{Manifest, Site, built_guest_of, guest};
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};

const POLICY: &str = r#"
[defaults]
decision = "allow"
[plugin.purse]
store.spent = { scope = "session" }
[[rule]]
tool = "asked.*"
decision = "ask"
[[rule]]
tool = "no.*"
decision = "deny"
reason = "not here"
"#;

const SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;

/// Refuses and asks as the arguments say, and records what it sees.
#[derive(Default)]
struct Told(Mutex<Vec<bool>>);

impl Hook for Told {
    fn before<'a>(&'a self, call: &'a HookCall<'a>) -> Hooking<'a> {
        if call.tool.plugin.as_str() != "tools" {
            self.0.lock().unwrap().push(call.explained);
        }
        let hooked = match serde_json::from_str::<Value>(call.arguments).unwrap()["hook"].as_str() {
            Some("refuse") => Hooked::refuse("not today"),
            Some("ask") => Hooked::ask("look"),
            _ => Hooked::pass(),
        };
        Box::pin(std::future::ready(hooked))
    }
}

struct Stage {
    site: Site,
    host: Host,
    person: Arc<Person>,
    hook: Arc<Told>,
}

impl Stage {
    async fn new() -> Self {
        Self::of(1_000_000).await
    }

    /// Opens a host that asks about this number of equal calls in a row.
    async fn of(repeats: u32) -> Self {
        let site = Site::new();
        for name in ["asked", "no"] {
            site.plugin(name, &guest("good", &Manifest::of(name)));
        }
        site.plugin("strict", &guest("good", &Manifest::of("strict").tool(|tool| SCHEMA.clone_into(&mut tool.schema))));
        let needs = Manifest::of("needs").directory("work", false).tool(|tool| tool.required = 1);
        site.plugin("needs", &guest("good", &needs));
        site.plugin("reviewed", &guest("review-refuses", &Manifest::of("reviewed")));
        site.plugin("purse", &built_guest_of(portcullis::plugins::Contract::V0_2, "purse"));
        site.plugin("refused", b"no component");
        let (person, hook) = (Person::who_says(Answer::Yes), Arc::new(Told::default()));
        let policy = format!("[approvals]\nrepeats = {repeats}\n{POLICY}");
        let builder = site.builder(&policy).approver(Arc::clone(&person) as _).hook(Arc::clone(&hook) as _);
        Self { host: open(builder).await, site, person, hook }
    }

    /// Returns the files of the ledger and of the audit log.
    fn kept(&self, names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| fs::read(self.site.state().join(name)).unwrap_or_default()).collect()
    }

    fn ledger(&self) -> Vec<Vec<u8>> {
        self.kept(&["ledger.sqlite", "ledger.sqlite-wal"])
    }

    /// Explains a call for a person and for a model, and then makes it. All three must agree.
    async fn agrees(&self, what: &str, request: Request, tool: &str, arguments: &Value) -> Reply {
        self.person.asked();
        self.hook.0.lock().unwrap().clear();
        let (ledger, record) = (self.ledger(), self.kept(&["audit.jsonl", "audit.head"]));
        let explained = self.host.explain(request.clone()).await;
        assert_eq!(self.kept(&["audit.jsonl", "audit.head"]), record, "{what}");
        let explanation = json!({ "tool": tool, "arguments": arguments }).to_string();
        let told = self.host.call(request.clone().asking_for("tools.explain", explanation)).await;
        assert_eq!(told.code, Code::Completed, "{what}: {}", told.message);
        assert_eq!(self.ledger(), ledger, "{what}: the explanation changed the state directory");
        assert_eq!(self.person.asked(), [], "{what}: the explanation asked the approver");
        assert!(self.hook.0.lock().unwrap().iter().all(|explained| *explained), "{what}");

        let outlook = match explained {
            Ok(explained) => explained.outlook,
            Err(reply) => Outlook::Refuse { code: reply.code, message: reply.message },
        };
        let reply = self.host.call(request).await;
        let asked = !self.person.asked().is_empty() || reply.code == Code::ApprovalPending;
        let text = text(&told);
        match outlook {
            Outlook::Run { .. } => {
                assert_eq!((reply.code, asked), (Code::Completed, false), "{what}: {}", reply.message);
                assert_eq!(text, "The call would run now.", "{what}");
            }
            Outlook::Ask { .. } => {
                assert!(asked, "{what}: {}", reply.message);
                assert!(text.contains("would need a person's approval"), "{what}: {text}");
            }
            Outlook::Refuse { code, message } => {
                assert_eq!((code, &message, asked), (reply.code, &reply.message, false), "{what}");
                assert_eq!(text, format!("The call would be refused ({code}). {message}"), "{what}");
            }
        }
        reply
    }

    async fn says(&self, what: &str, tool: &str, arguments: Value) -> Code {
        let request = Request::new(tool, arguments.to_string()).session(what);
        self.agrees(what, request, tool, &arguments).await.code
    }
}

fn text(reply: &Reply) -> &str {
    match &reply.output {
        Some(Output::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_explanation_predicts_the_call() {
    let stage = Stage::new().await;
    for (what, tool, arguments, code) in [
        ("allowed", "good.run", json!({ "a": 1 }), Code::Completed),
        ("denied", "no.run", json!({}), Code::PolicyDenied),
        ("asked about", "asked.run", json!({}), Code::Completed),
        ("no such tool", "good.walk", json!({}), Code::UnknownTool),
        ("no such plugin", "nothing.run", json!({}), Code::UnknownTool),
        ("a refused plugin", "refused.run", json!({}), Code::PluginRefused),
        ("against the schema", "strict.run", json!({ "path": 1 }), Code::InvalidArguments),
        ("by the schema", "strict.run", json!({ "path": "a" }), Code::Completed),
        ("without its grant", "needs.run", json!({}), Code::DependencyNotGranted),
        ("refused by its review", "reviewed.run", json!({}), Code::ReviewRefused),
        ("below the limit of its review", "purse.pay", json!({ "payee": "A", "amount": 100 }), Code::Completed),
        ("above the limit of its review", "purse.pay", json!({ "payee": "A", "amount": 101 }), Code::Completed),
        ("refused by a hook", "good.run", json!({ "hook": "refuse" }), Code::HookRefused),
        ("asked about by a hook", "good.run", json!({ "hook": "ask" }), Code::Completed),
        ("an explanation", "tools.explain", json!({ "tool": "good.run" }), Code::Completed),
    ] {
        assert_eq!(stage.says(what, tool, arguments).await, code, "{what}");
    }
    assert_eq!(stage.host.audit().verify().await.unwrap().fault, None);
}

/// The third call in a row needs approval, however often it is explained before. Repeated explanations are counted
/// separately.
#[tokio::test]
async fn an_explanation_considers_repetitions_and_is_not_one() {
    let stage = Stage::of(3).await;
    let arguments = json!({ "n": 1 });
    let request = || Request::new("good.run", arguments.to_string()).session("row");
    for _ in 0..2 {
        let explained = stage.host.explain(request()).await.unwrap();
        assert_eq!(explained.outlook, Outlook::Run { approvals: Vec::new() });
        assert_eq!(stage.host.call(request()).await.code, Code::Completed);
    }
    assert_eq!(stage.person.asked(), []);
    assert!(matches!(stage.host.explain(request()).await.unwrap().outlook, Outlook::Ask { .. }));
    stage.agrees("row", request(), "good.run", &arguments).await;
    assert_eq!(stage.host.approvals().list_all().await.unwrap().questions.len(), 1);
    for asked in [0, 0, 1] {
        stage.host.call(Request::new("tools.explain", r#"{"tool":"no.run"}"#).session("loop")).await;
        assert_eq!(stage.person.asked().len(), asked);
    }
}

#[tokio::test]
async fn an_explanation_considers_remembered_approvals() {
    let stage = Stage::new().await;
    for (what, answer) in [("session", Answer::Session(Covers::Exact)), ("always", Answer::Always(Covers::Exact))] {
        let arguments = json!({ "what": what });
        stage.person.says(answer);
        assert_eq!(stage.says(what, "asked.run", arguments.clone()).await, Code::Completed);
        assert!(!stage.host.approvals().list().await.unwrap().answers.is_empty());
        stage.person.says(no());
        assert_eq!(stage.says(what, "asked.run", arguments.clone()).await, Code::Completed);
        let other = Request::new("asked.run", arguments.to_string()).session("another");
        let code = if what == "always" { Code::Completed } else { Code::ApprovalDenied };
        assert_eq!(stage.agrees(what, other, "asked.run", &arguments).await.code, code, "{what}");
    }
    let held = stage.host.approvals().list().await.unwrap().answers;
    let explained = stage.host.explain(Request::new("asked.run", r#"{"what":"always"}"#)).await.unwrap();
    let Outlook::Run { approvals } = explained.outlook else { panic!("{explained:?}") };
    assert!(approvals.len() == 1 && held.iter().any(|held| held.id == approvals[0]), "{approvals:?}");
}

#[tokio::test]
async fn an_explanation_considers_requests_left_behind() {
    let stage = Stage::new().await;
    let arguments = json!({ "left": true });
    let pending = || Request::new("asked.run", arguments.to_string()).unattended(Unattended::Pending);
    let question = left_behind(&stage.host, pending()).await;
    assert_eq!(stage.agrees("open", pending(), "asked.run", &arguments).await.code, Code::ApprovalPending);
    let explained = stage.host.explain(pending()).await.unwrap();
    assert!(matches!(&explained.outlook, Outlook::Ask { request: Some(id), .. } if *id == question), "{explained:?}");
    let denied = || pending().unattended(Unattended::Deny);
    assert_eq!(stage.agrees("unattended", denied(), "asked.run", &arguments).await.code, Code::ApprovalDenied);
    stage.host.approvals().answer(&question, &Answer::Yes).await.unwrap();
    assert_eq!(stage.agrees("approved", pending(), "asked.run", &arguments).await.code, Code::Completed);
    assert_eq!(stage.agrees("spent", pending(), "asked.run", &arguments).await.code, Code::ApprovalPending);
}

#[tokio::test]
async fn an_explanation_considers_repeated_denials() {
    let stage = Stage::new().await;
    stage.person.says(no());
    for n in 0..3 {
        assert_eq!(stage.says("tired", "asked.run", json!({ "n": n })).await, Code::ApprovalDenied);
    }
    let arguments = json!({ "n": 3 });
    let request = Request::new("asked.run", arguments.to_string()).session("tired");
    let reply = stage.agrees("tired", request, "asked.run", &arguments).await;
    assert!(reply.message.contains("not asked again"), "{}", reply.message);
}

/// An explanation does not tell a caller more than the call does.
#[tokio::test]
async fn an_explanation_tells_a_model_no_more_than_the_call() {
    let stage = Stage::new().await;
    stage.person.says(Answer::Always(Covers::Exact));
    stage.says("given", "asked.run", json!({ "secret": 1 })).await;
    for (arguments, says) in [(json!({ "secret": 1 }), "run"), (json!({ "secret": 2 }), "need")] {
        let explanation = json!({ "tool": "asked__run", "arguments": arguments }).to_string();
        let told = stage.host.call(Request::new("tools.explain", explanation)).await;
        let text = text(&told);
        assert!(text.contains(says), "{text}");
        for hidden in ["rule", "approvals", "policy", "remembered", "toml"] {
            assert!(!format!("{text}{:?}", told.metadata).contains(hidden), "{text}");
        }
        // The audit log records it like any other call.
        assert_eq!(portcullis_tests::outcome_of(&stage.host, &told.id)["code"], "completed");
    }
}
