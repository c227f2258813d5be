//! Remembered refusals: a file that cannot be loaded is compiled once, and not at every start and every call.

use crate::record::cache::{cached, counted, engine, events, flip};
use portcullis::plugins::forget_refusal;
use portcullis::{Code, Compiler, Host, Request};
use portcullis_tests::{Manifest, Site, allow_all, guest};
use std::fs;
use std::thread::available_parallelism;

/// A component that compiles, but has more memories than allowed.
fn unfit() -> Vec<u8> {
    guest("many-memories", &Manifest::of("unfit"))
}

/// Makes a site with the good plugin, which is compiled, and a bad one, which has never been compiled.
async fn with_bad_file() -> Site {
    let site = Site::new();
    drop(site.open(&allow_all("")).await);
    site.plugin("unfit", &unfit());
    site
}

/// Returns a compiler that runs a line of shell for every plugin.
fn shell(line: &str) -> Compiler {
    Compiler::Program { program: "/bin/sh".into(), arguments: vec!["-c".into(), line.into()] }
}

fn refusal(host: &Host, plugin: &str) -> String {
    host.catalog().refusal(plugin).expect("the plugin is refused").error.to_string()
}

#[tokio::test]
async fn a_bad_file_is_compiled_once_across_starts_until_it_is_touched() {
    let site = with_bad_file().await;
    let (host, compilations) = counted(site.cold_builder(&allow_all(""))).await;
    let reason = refusal(&host, "unfit");
    assert_eq!(compilations.take(), 1);
    for _ in 0..2 {
        let (host, compilations) = counted(site.cold_builder(&allow_all(""))).await;
        assert_eq!(compilations.take(), 0, "the refusal must be remembered");
        assert_eq!(refusal(&host, "unfit"), reason);
        assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    }
    site.plugin("unfit", &unfit());
    let (host, compilations) = counted(site.cold_builder(&allow_all(""))).await;
    assert_eq!(compilations.take(), 1, "touching a file must try it again");
    assert_eq!(refusal(&host, "unfit"), reason);
}

#[tokio::test]
async fn a_file_that_was_refused_under_other_limits_is_tried_again() {
    let site = with_bad_file().await;
    counted(site.cold_builder(&allow_all(""))).await;
    let wider = allow_all("memories = 9");
    assert_eq!(counted(site.cold_builder(&wider)).await.1.take(), 1);
    assert_eq!(counted(site.cold_builder(&wider)).await.1.take(), 0);
}

/// A refusal is sealed like a cache entry, so that no one can block a plugin by writing a file there.
#[tokio::test]
async fn a_modified_refusal_is_not_used() {
    let site = with_bad_file().await;
    counted(site.cold_builder(&allow_all(""))).await;
    flip(&cached(&site, "refusal")[0], |length| length - 1);
    assert_eq!(counted(site.cold_builder(&allow_all(""))).await.1.take(), 1);
    assert_eq!(events(&site).len(), 1, "the audit log says so: {:?}", events(&site));
    assert_eq!(counted(site.cold_builder(&allow_all(""))).await.1.take(), 0);
}

/// The machine may have been too busy to compile a plugin. A successful `check` forgets the refusal immediately.
#[tokio::test]
async fn a_refusal_that_is_forgotten_is_tried_again() {
    let site = Site::new();
    let tried = site.path("tried");
    let line = format!("echo once >> {}; exit 1", tried.display());
    let tries = || fs::read_to_string(&tried).unwrap_or_default().lines().count();
    for _ in 0..2 {
        let host = site.builder_with(&allow_all(""), shell(&line)).open().await.unwrap();
        assert!(refusal(&host, "good").contains("compiling it took more than"), "{}", refusal(&host, "good"));
        assert_eq!(tries(), 1, "a timeout must not be repeated immediately");
    }
    forget_refusal(&site.state(), &guest("good", &Manifest::of("good")), &engine()).await.unwrap();
    drop(site.builder_with(&allow_all(""), shell(&line)).open().await.unwrap());
    assert_eq!(tries(), 2);
}

/// A worker that cannot run says nothing about the plugin.
#[tokio::test]
async fn a_fault_of_the_machine_is_not_remembered() {
    for end in ["exit 4", "kill -TERM $$"] {
        let site = Site::new();
        let host = site.builder_with(&allow_all(""), shell(end)).open().await.unwrap();
        assert!(refusal(&host, "good").contains("the compile worker cannot be run"), "{}", refusal(&host, "good"));
        assert!(cached(&site, "refusal").is_empty(), "{end}");
        let reply = site.open(&allow_all("")).await.call(Request::new("good.run", "{}")).await;
        assert_eq!(reply.code, Code::Completed, "{end}");
    }
}

/// Each worker exits when one worker per core has started, or after a minute.
#[tokio::test]
async fn plugins_are_compiled_in_parallel() {
    let site = Site::new();
    site.plugin("other", &guest("good", &Manifest::of("other")));
    let begun = site.directory("begun");
    let cores = available_parallelism().map_or(1, usize::from).min(2);
    let line = format!(
        "touch {0}/$$; for i in $(seq 600); do [ $(ls {0} | wc -l) -ge {cores} ] && exit 3; sleep 0.1; done; exit 1",
        begun.display()
    );
    let host = site.builder_with(&allow_all(""), shell(&line)).open().await.unwrap();
    for plugin in ["good", "other"] {
        assert!(refusal(&host, plugin).contains("could not be compiled"), "{}", refusal(&host, plugin));
    }
}

/// A host that is opened for one call is not delayed by other plugins, but knows that they are installed.
#[tokio::test]
async fn a_host_for_one_call_loads_only_what_the_call_needs() {
    let policy = format!("{}\n[plugin.unfit]\nconfig.a = \"b\"\n", allow_all(""));
    let site = with_bad_file().await;
    site.plugin("other", &guest("good", &Manifest::of("other")));
    let (host, compilations) = counted(site.cold_builder(&policy).only_for("good.run")).await;
    assert_eq!(compilations.take(), 0);
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::Completed);
    assert!(host.catalog().refused().is_empty() && host.catalog().plugin("other").is_none());
    assert_eq!(host.policy_warnings(), [], "the plugin that the policy names is installed");
    let reply = host.call(Request::new("other.run", "{}")).await;
    assert_eq!((reply.code, reply.message.contains("opened without it")), (Code::UnknownTool, true), "{reply:?}");
    host.reload().await.unwrap();
    assert_eq!(host.call(Request::new("other.run", "{}")).await.code, Code::Completed);
}

/// A misspelt deny rule that names several plugins is detected even by a host for a call of one of them.
#[tokio::test]
async fn a_rule_that_names_several_plugins_is_checked_for_one_call() {
    let site = Site::new();
    site.plugin("other", &guest("good", &Manifest::of("other")));
    let rule = |tool: &str| format!("{}[[rule]]\ntool = \"{tool}\"\ndecision = \"deny\"\n", allow_all(""));
    let opened = site.builder(&rule("{good,other}.misspelt")).only_for("good.run").open().await.map(drop);
    assert!(opened.is_err_and(|error| error.to_string().contains("cannot match any call")));
    drop(site.builder(&rule("{good,other}.run")).only_for("good.run").open().await.unwrap());
    // A rule about another plugin has no effect on this call.
    drop(site.builder(&rule("other.misspelt")).only_for("good.run").open().await.unwrap());
}
