//! Compile workers that die, return wrong data or hang: S34 without the minutes that a real bomb takes.

use portcullis::plugins::{CompileError, LoadError, Refusal};
use portcullis::{Code, Compiler, Request};
use portcullis_tests::{Manifest, Site, allow_all, guest, has_exited};
use std::time::Duration;

/// Returns a worker that runs a line of shell instead of compiling.
fn shell(line: &str) -> Compiler {
    Compiler::Program { program: "/bin/sh".into(), arguments: vec!["-c".into(), line.into()] }
}

/// Opens a site with two plugins and this worker. Returns the refusal of the first plugin.
async fn refused(site: &Site, line: &str) -> String {
    site.plugin("other", &guest("good", &Manifest::of("other")));
    let host = site.builder_with(&allow_all(""), shell(line)).open().await.unwrap();
    assert_eq!(host.catalog().refused().len(), 2, "both plugins must be tried");
    assert_eq!(host.call(Request::new("good.run", "{}")).await.code, Code::PluginRefused);
    let catalog = host.catalog();
    let error = &*catalog.refusal("good").unwrap().error;
    assert!(matches!(error, LoadError::Compile(_) | LoadError::Refused(_)), "{error:?}");
    let kind = match error {
        LoadError::Compile(CompileError::Exhausted) => "exhausted",
        LoadError::Compile(CompileError::Worker(_)) => "worker",
        LoadError::Compile(CompileError::Refused(Refusal::Uncompilable(_))) => "uncompilable",
        LoadError::Refused(Refusal::Mismatch(_)) => "mismatch",
        _ => "other",
    };
    format!("{kind}: {error}")
}

#[tokio::test]
async fn s34_a_worker_that_is_killed_quarantines_its_plugin() {
    let says = refused(&Site::new(), "kill -KILL $$").await;
    assert!(says.starts_with("exhausted"), "{says}");
    let says = refused(&Site::new(), "exit 1").await;
    assert!(says.starts_with("exhausted"), "{says}");
}

/// Ctrl-C and a shutdown say nothing about the plugin, so it is tried again.
#[tokio::test]
async fn a_worker_that_is_interrupted_does_not_quarantine_the_plugin() {
    for signal in ["HUP", "INT", "TERM"] {
        let says = refused(&Site::new(), &format!("kill -{signal} $$")).await;
        assert!(says.starts_with("worker"), "{signal}: {says}");
    }
}

/// A worker's message about a component is cut and escaped.
#[tokio::test]
async fn a_workers_error_is_quoted_in_one_short_line() {
    let says = refused(&Site::new(), r"printf '\033[2J\nfield %09999d' 7 >&2; exit 3").await;
    assert!(says.starts_with("uncompilable"), "{says}");
    assert!(says.len() < 4096, "{} bytes", says.len());
    assert!(!says.chars().any(portcullis::text::is_deceptive), "{says:?}");
}

/// Data that is not code of this engine is not run.
#[tokio::test]
async fn a_worker_that_returns_other_data_is_detected() {
    for line in ["cat", "exit 0", "head -c 100000 /dev/zero"] {
        let says = refused(&Site::new(), line).await;
        assert!(says.starts_with("mismatch"), "{line}: {says}");
    }
}

/// A worker that hangs is killed when the future that waits for it is dropped.
#[tokio::test]
async fn s34_a_worker_that_hangs_dies_with_its_host() {
    let site = Site::new();
    let pid_file = site.path("pid");
    let line = format!("echo $$ > {0}.new && mv {0}.new {0} && exec sleep 1000", pid_file.display());
    let opening = site.builder_with(&allow_all(""), shell(&line)).open();
    let started = async {
        while !pid_file.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = opening => panic!("the host opened"),
        () = started => {}
    }
    let process: i32 = std::fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
    let gone = async {
        while !has_exited(process) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone).await.expect("the worker must be killed");
}
