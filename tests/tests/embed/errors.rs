//! Every public error shows its own part and returns its cause as source. So a caller that prints the chain prints
//! nothing twice, and one that prints `WithCauses` prints everything.

use portcullis::approvals::{ApprovalError, LedgerError, TrustError};
use portcullis::audit::AuditError;
use portcullis::outputs::OutputError;
use portcullis::plugins::{
    CompileError, DescriptionError, DescriptionFault, DirectoryError, FileError, LoadError, PlaceholderError,
    WorkerError,
};
use portcullis::policy::{Layer, LayerError, Layers, Policy, Trust};
use portcullis::policy_files::{GrantError, PlaceError, PolicyReadError};
use portcullis::services::InjectError;
use portcullis::text::WithCauses;
use portcullis::{OpenError, ReloadError};
use portcullis_tests::{Site, built_guest};
use std::error::Error;
use std::io;
use std::sync::Arc;

/// The text of the innermost cause.
const CAUSE: &str = "the innermost cause";

fn io() -> io::Error {
    io::Error::other(CAUSE)
}

fn place() -> PlaceError {
    PlaceError::Io { what: "the policy", path: "policy.toml".into(), source: io() }
}

fn grant() -> GrantError {
    let error = DirectoryError::Open { path: "src".into(), source: io() };
    GrantError::Grant { plugin: "files".parse().unwrap(), key: "workspace".parse().unwrap(), error }
}

fn approval() -> ApprovalError {
    ApprovalError::Ledger(LedgerError::Io(io()))
}

fn worker() -> WorkerError {
    WorkerError::UnknownProgram(Arc::new(io()))
}

/// Returns the public errors that have a cause, one for each variant that can have one.
fn with_a_cause() -> Vec<Box<dyn Error>> {
    let sqlite = || rusqlite::Error::InvalidPath(CAUSE.into());
    vec![
        Box::new(AuditError::Io(io())),
        Box::new(AuditError::Form(serde_json::Error::io(io()))),
        Box::new(LedgerError::Io(io())),
        Box::new(LedgerError::from(sqlite())),
        Box::new(approval()),
        Box::new(ApprovalError::Audit(AuditError::Io(io()))),
        Box::new(ApprovalError::Unrecorded(AuditError::Io(io()))),
        Box::new(OutputError::Io(io())),
        Box::new(OutputError::Ledger(LedgerError::Io(io()))),
        Box::new(TrustError::Place(place())),
        Box::new(TrustError::Approvals(approval())),
        Box::new(place()),
        Box::new(PolicyReadError::Place(place())),
        Box::new(PolicyReadError::Approvals(approval())),
        Box::new(grant()),
        Box::new(GrantError::Audit(AuditError::Io(io()))),
        Box::new(GrantError::Ledger(LedgerError::Io(io()))),
        Box::new(FileError::Io(io())),
        Box::new(CompileError::Worker(io())),
        Box::new(CompileError::NoWorker(worker())),
        Box::new(LoadError::File(FileError::Io(io()))),
        Box::new(LoadError::Compile(CompileError::Worker(io()))),
        Box::new(LoadError::Grants(Box::new(grant()))),
        Box::new(LoadError::Audit(AuditError::Io(io()))),
        Box::new(OpenError::Place(place())),
        Box::new(OpenError::Policy(PolicyReadError::Place(place()))),
        Box::new(OpenError::Grants(grant())),
        Box::new(OpenError::Compiler(worker())),
        Box::new(OpenError::Audit(AuditError::Io(io()))),
        Box::new(OpenError::Approvals(approval())),
        Box::new(OpenError::Outputs(OutputError::Io(io()))),
        Box::new(OpenError::Load(LoadError::File(FileError::Io(io())))),
        Box::new(ReloadError::Place(place())),
        Box::new(ReloadError::Audit(AuditError::Io(io()))),
        Box::new(ReloadError::Policy(Box::new(OpenError::Grants(grant())))),
        Box::new(InjectError::Failed { key: "database", error: Arc::new(io()) }),
    ]
}

/// Asserts that no error of a chain shows the text of its cause.
#[track_caller]
fn assert_no_text_twice(error: &(dyn Error + 'static)) {
    let mut level = error;
    while let Some(cause) = level.source() {
        assert!(!level.to_string().contains(&cause.to_string()), "{level:?} shows its cause: {level}");
        level = cause;
    }
}

#[test]
fn an_error_shows_its_own_part_and_its_cause_is_its_source() {
    for error in with_a_cause() {
        assert_no_text_twice(&*error);
        assert!(error.source().is_some(), "{error:?} has no source");
        let shown = WithCauses(&*error).to_string();
        assert_eq!(shown.matches(CAUSE).count(), 1, "{error:?}: {shown}");
        assert!(!error.to_string().contains(CAUSE), "{error:?}: {error}");
    }
}

/// A position, a key, what is wrong and how to fix it are one message.
#[test]
fn an_error_of_a_policy_is_one_message() {
    let cases = [
        "[[rule]]\ntool = 1\n",
        "[[rule]]\ntool = \"a\"\n",
        "[[rule]]\ntool = \"a.b\"\ndecision = \"perhaps\"\n",
        "[[rule]]\ntool = \"a.b\"\ndecision = \"allow\"\nwhen.path = \"[\"\n",
        "[plugin.files]\ndirectory.a = { path = \"src\", access = \"read-only\", hidden = [\"**\"] }\n",
        "limits.time = \"soon\"\n",
        "surprise = 1\n",
        "[",
    ];
    for text in cases {
        let error = Policy::parse(text).unwrap_err();
        assert_no_text_twice(&error);
        assert!(error.to_string().contains(&error.remedy()), "{error}");
        let layers = Layers { built_in: None, user: Some(text), project: None };
        let layer: LayerError = Policy::layered(&layers).unwrap_err();
        assert_eq!(layer.layer, Layer::User);
        assert_no_text_twice(&layer);
        let read = PolicyReadError::Policy { path: "policy.toml".into(), error: Box::new(error.clone()) };
        assert_no_text_twice(&read);
        assert_eq!(WithCauses(&read).to_string(), format!("the policy policy.toml is not valid: {error}"));
    }
    let project = Layers { built_in: None, user: None, project: Some(("[", Trust::Untrusted)) };
    assert_no_text_twice(&Policy::layered(&project).unwrap_err());
}

#[test]
fn a_fault_of_a_description_file_is_one_message() {
    let fault = DescriptionFault::Placeholder(PlaceholderError::Unclosed);
    assert_no_text_twice(&fault);
    assert_no_text_twice(&DescriptionError { file: "a.b.md".to_owned(), fault });
}

/// The roots of a client are a file of the policy, so that only a host can make this error.
#[tokio::test]
async fn a_client_that_cannot_be_created_names_its_grant_and_the_cause() {
    let site = Site::new();
    site.plugin("courier", &built_guest("net"));
    site.warm();
    let policy = "[plugin.courier]\nhttp.api = { hosts = [\"a.test\"], roots = \"missing.pem\" }\n";
    let error = site.builder(policy).open().await.expect_err("the host opened");
    assert_no_text_twice(&error);
    assert_eq!(error.to_string(), "the grant courier.api cannot be used");
    assert!(error.source().is_some_and(|cause| cause.to_string().contains("missing.pem")), "{error:?}");
}
