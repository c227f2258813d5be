//! Plugins that the application registers while the host runs, and removes again.

use crate::embed::native_desk::{Counter, PLUGIN, call, open, plugin};
use portcullis::events::{CallState, EventKind};
use portcullis::text::WithCauses;
use portcullis::{Code, ComponentPlugin, RegisterError, Request, UnregisterError};
use portcullis_tests::{Manifest, Site, allow_all, assert_verifies, guest};
use serde_json::json;
use std::fs;

fn native() -> portcullis::native::NativePlugin {
    plugin(&Counter::default(), &Counter::default())
}

fn component(name: &str) -> ComponentPlugin {
    ComponentPlugin::from_bytes(name, guest("good", &Manifest::of(name)))
}

/// Returns what the audit log has about a plugin.
async fn entries(host: &portcullis::Host, plugin: &str) -> Vec<String> {
    let mut events = Vec::new();
    let audit = host.audit();
    let read = audit.read(|entry| {
        if entry.document["kind"] == "plugin" && entry.document["plugin"] == plugin {
            events.push(entry.document["event"].as_str().unwrap_or_default().to_owned());
        }
        Ok(())
    });
    read.await.unwrap();
    events
}

#[tokio::test]
async fn a_component_is_registered_called_and_removed() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    let mut changes = host.catalog_changes();
    assert_eq!(host.register(component("notes")).await.unwrap().as_str(), "notes");
    assert!(changes.has_changed().unwrap());
    assert!(changes.borrow_and_update().plugin("notes").is_some_and(|plugin| !plugin.is_native()));
    assert!(host.get("notes.run").unwrap().plugin.is_registered());
    let reply = call(&host, "notes.run", json!({ "a": 1 })).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    host.unregister("notes").await.unwrap();
    assert!(changes.has_changed().unwrap());
    assert_eq!(call(&host, "notes.run", json!({})).await.code, Code::UnknownTool);
    assert_eq!(entries(&host, "notes").await, ["added", "removed"]);
    // The same bytes load again, from the cache.
    host.register(component("notes")).await.unwrap();
    assert_eq!(call(&host, "notes.run", json!({})).await.code, Code::Completed);
    assert_verifies(&host);
}

#[tokio::test]
async fn a_plugin_that_cannot_be_loaded_is_refused_with_its_reason() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    let refused = async |plugin: portcullis::Registration| {
        let error = host.register(plugin).await.unwrap_err();
        assert!(matches!(error, RegisterError::Load { .. }), "{error:?}");
        assert!(std::error::Error::source(&error).is_some());
        WithCauses(&error).to_string()
    };
    let text = refused(ComponentPlugin::from_bytes("notes", *b"no component").into()).await;
    assert!(text.contains("notes"), "{text}");
    let bytes = guest("good", &Manifest::of("other"));
    let text = refused(ComponentPlugin::from_bytes("notes", bytes).into()).await;
    assert!(text.contains("other"), "{text}");
    let named = |name: &str| portcullis::native::NativePlugin::new(name, "1", "A test.");
    for name in ["", "Notes", "a.b", "../x", "output", "done"] {
        refused(named(name).into()).await;
    }
    let text = refused(named("empty").into()).await;
    assert!(text.contains("no tools"), "{text}");
    let echo = || crate::embed::native_desk::echo(&Counter::default());
    let text = refused(named("twice").tool(echo()).tool(echo()).into()).await;
    assert!(text.contains("twice"), "{text}");
    assert_eq!(host.catalog().plugins().filter(|plugin| plugin.is_registered()).count(), 0);
}

/// A rule that no call can match stops a registration, as it stops a plugin of a reload.
#[tokio::test]
async fn a_policy_that_misspells_a_tool_refuses_the_plugin() {
    let site = Site::new();
    let policy = allow_all("") + "[[rule]]\ntool = \"app.ekho\"\ndecision = \"deny\"\n";
    let host = site.open(&policy).await;
    let error = WithCauses(&host.register(native()).await.unwrap_err()).to_string();
    assert!(error.contains("did you mean `app.echo`"), "{error}");
    assert!(host.get("app.echo").is_none());
}

#[tokio::test]
async fn a_name_is_registered_once_and_only_registered_plugins_are_removed() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    host.register(native()).await.unwrap();
    for again in [native().into(), portcullis::Registration::from(component(PLUGIN))] {
        let error = host.register(again).await.unwrap_err();
        assert!(matches!(error, RegisterError::Registered { .. }), "{error:?}");
    }
    assert!(host.get("app.echo").unwrap().plugin.is_native(), "the first one stays");
    for name in ["good", "output", "nothing", "../x"] {
        let error = host.unregister(name).await.unwrap_err();
        assert!(matches!(error, UnregisterError::NotRegistered { .. }), "{error:?}");
    }
    assert!(host.get("good.run").is_some());
}

#[tokio::test]
async fn a_file_that_is_there_first_keeps_its_name() {
    let site = Site::new();
    site.plugin("broken", b"no component");
    let host = site.open(&allow_all("")).await;
    for name in ["good", "broken"] {
        let error = host.register(component(name)).await.unwrap_err();
        assert!(matches!(error, RegisterError::File { .. }), "{error:?}");
    }
    assert!(!host.get("good.run").unwrap().plugin.is_registered());
    fs::remove_file(site.plugins().join("good.wasm")).unwrap();
    host.reload().await.unwrap();
    host.register(component("good")).await.unwrap();
    assert_eq!(call(&host, "good.run", json!({})).await.code, Code::Completed);
}

#[tokio::test]
async fn a_file_that_comes_later_is_refused_until_the_name_is_free() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    host.register(native()).await.unwrap();
    site.plugin(PLUGIN, &guest("good", &Manifest::of(PLUGIN)));
    let reloaded = host.reload().await.unwrap();
    assert_eq!(reloaded.refused, ["app.wasm"]);
    assert!(host.reload().await.unwrap().is_empty(), "the refusal is reported once");
    let refusal = host.catalog().refusal(PLUGIN).unwrap().error.to_string();
    assert!(refusal.contains("the application has registered a plugin of the same name"), "{refusal}");
    assert_eq!(call(&host, "app.echo", json!({ "text": "a" })).await.code, Code::Completed);
    // Removing the file does not remove the plugin.
    fs::remove_file(site.plugins().join("app.wasm")).unwrap();
    assert_eq!(host.reload().await.unwrap().cleared, ["app.wasm"]);
    assert_eq!(call(&host, "app.echo", json!({ "text": "a" })).await.code, Code::Completed);
    site.plugin(PLUGIN, &guest("good", &Manifest::of(PLUGIN)));
    host.reload().await.unwrap();
    host.unregister(PLUGIN).await.unwrap();
    assert!(host.get("app.run").is_none());
    host.reload().await.unwrap();
    assert_eq!(call(&host, "app.run", json!({})).await.code, Code::Completed);
}

#[tokio::test]
async fn registered_plugins_survive_a_reload_and_follow_the_policy() {
    let site = Site::new();
    let policy = site.path("policy.toml");
    let rule = |decision: &str| format!("[[rule]]\ntool = \"*.*\"\ndecision = \"{decision}\"\n");
    fs::write(&policy, rule("allow")).unwrap();
    let builder = portcullis::Host::builder(site.plugins(), site.state());
    let host = builder.compiler(portcullis::Compiler::InProcess).policy_file(&policy).open().await.unwrap();
    host.register(native()).await.unwrap();
    host.register(component("notes")).await.unwrap();
    site.plugin("late", &guest("good", &Manifest::of("late")));
    let reloaded = host.reload().await.unwrap();
    assert_eq!((reloaded.added.len(), reloaded.removed.len()), (1, 0));
    for (tool, arguments) in [("app.echo", json!({ "text": "a" })), ("notes.run", json!({}))] {
        assert_eq!(call(&host, tool, arguments).await.code, Code::Completed, "{tool}");
    }
    fs::write(&policy, rule("deny")).unwrap();
    assert!(host.reload().await.unwrap().policy.is_some());
    for (tool, arguments) in [("app.echo", json!({ "text": "a" })), ("notes.run", json!({}))] {
        assert_eq!(call(&host, tool, arguments).await.code, Code::PolicyDenied, "{tool}");
    }
    fs::write(&policy, rule("allow")).unwrap();
    host.reload().await.unwrap();
    assert_eq!(call(&host, "app.echo", json!({ "text": "a" })).await.code, Code::Completed);
}

/// A call that runs when its plugin is removed finishes.
#[tokio::test]
async fn a_running_call_finishes_after_its_plugin_was_removed() {
    let site = Site::new();
    let (host, ..) = open(&site, &allow_all("time = \"1 s\"")).await;
    let mut events = host.events();
    let running = host.start(Request::new("app.hangs", "{}"));
    while let Some(event) = events.next().await {
        if matches!(event.kind, EventKind::State(CallState::Running)) {
            break;
        }
    }
    host.unregister(PLUGIN).await.unwrap();
    assert_eq!(call(&host, "app.hangs", json!({})).await.code, Code::UnknownTool);
    assert_eq!(running.await.code, Code::Limit(portcullis::LimitKind::Time));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plugins_come_and_go_while_calls_run() {
    let site = Site::new();
    let host = site.builder(&allow_all("")).open().await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for task in 0..4 {
        let host = host.clone();
        calls.spawn(async move {
            let mut codes = Vec::new();
            for number in 0..50 {
                let arguments = json!({ "text": format!("{task} {number}") });
                codes.push(call(&host, "app.echo", arguments).await.code);
            }
            codes
        });
    }
    for _ in 0..20 {
        host.register(native()).await.unwrap();
        tokio::task::yield_now().await;
        host.unregister(PLUGIN).await.unwrap();
    }
    for code in calls.join_all().await.concat() {
        assert!(matches!(code, Code::Completed | Code::UnknownTool), "{code}");
    }
    assert_eq!(host.calls_under_way(), 0);
    assert_verifies(&host);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_registrations_of_a_name_one_succeeds() {
    let site = Site::new();
    let host = site.open(&allow_all("")).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let host = host.clone();
        tasks.spawn(async move { host.register(native()).await.is_ok() });
    }
    assert_eq!(tasks.join_all().await.into_iter().filter(|registered| *registered).count(), 1);
}
