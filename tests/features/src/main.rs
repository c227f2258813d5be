//! An embedder that leaves features of the library out: shows that a host opens without them, and what it refuses.
//!
//! `cargo xtask features` runs it twice with the same folder: with the compiler, which fills the code cache, and then
//! without any feature. It needs two test guests as plugins: `net`, which sends requests, and `state`, which keeps
//! records.

use anyhow::{Context, Result, ensure};
use portcullis::approvals::Scripted;
use portcullis::text::WithCauses;
use portcullis::{Answer, Code, Compiler, Host, HostBuilder, OpenError, Request};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A policy that allows every call and grants nothing.
const ALLOW: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// The same policy with a grant for the network.
const ALLOW_HTTP: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n\
    [plugin.courier]\nhttp.api = { hosts = [\"example.com\"] }\n";

/// The same policy with a store.
const ALLOW_STORE: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n\
    [plugin.state-one]\nstore.notes = { scope = \"plugin\" }\n";

/// A policy that asks about every call.
const ASK: &str = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let paths = (arguments.next(), arguments.next(), arguments.next(), arguments.next());
    let (Some(net), Some(state), Some(folder), None) = paths else {
        anyhow::bail!("usage: portcullis-feature-tests NET STATE FOLDER");
    };
    let plugins = folder.join("plugins");
    install(&net, &plugins, "courier.wasm")?;
    install(&state, &plugins, "state-one.wasm")?;
    if !cfg!(feature = "compiler") {
        a_plugin_that_is_not_in_the_cache_is_refused(&plugins, &folder.join("empty")).await?;
    }
    let state = folder.join("state");
    a_guest_gets_what_it_gets_without_a_grant(&plugins, &state).await?;
    if !cfg!(feature = "http") {
        a_grant_of_the_network_is_refused(&plugins, &state).await?;
    }
    if !cfg!(feature = "sqlite") {
        nothing_can_be_approved(&plugins, &state).await?;
        a_store_is_refused(&plugins, &state).await?;
        a_ledger_of_another_program_is_refused(&plugins, &folder.join("used")).await?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the folders are those of the test")]
fn install(plugin: &Path, plugins: &Path, name: &str) -> Result<()> {
    std::fs::create_dir_all(plugins)?;
    std::fs::copy(plugin, plugins.join(name)).with_context(|| plugin.display().to_string())?;
    Ok(())
}

fn builder(plugins: &Path, state: &Path, policy: &str) -> HostBuilder {
    Host::builder(plugins, state).compiler(Compiler::InProcess).policy_text(policy, plugins)
}

async fn open(plugins: &Path, state: &Path, policy: &str) -> Result<Host, OpenError> {
    builder(plugins, state, policy).open().await
}

/// Lets the guest send a request through `wasi:http/outgoing-handler`.
fn request() -> Request {
    Request::new("courier.send", r#"{"errands":[{"authority":"example.com"}]}"#)
}

async fn a_plugin_that_is_not_in_the_cache_is_refused(plugins: &Path, state: &Path) -> Result<()> {
    let host = open(plugins, state, ALLOW).await?;
    let catalog = host.catalog();
    let refused = catalog.refusal("courier").context("the plugin was loaded without a compiler")?;
    let says = refused.error.to_string();
    ensure!(says.contains("built without the feature `compiler`"), "{says}");
    let reply = host.call(request()).await;
    ensure!(reply.code == Code::PluginRefused, "{}: {}", reply.code, reply.message);
    Ok(())
}

/// The guest imports `wasi:http`. It loads and runs, and its request is refused.
async fn a_guest_gets_what_it_gets_without_a_grant(plugins: &Path, state: &Path) -> Result<()> {
    let host = open(plugins, state, ALLOW).await?;
    let reply = host.call(request()).await;
    ensure!(reply.code == Code::Completed, "{}: {}", reply.code, reply.message);
    ensure!(reply.message.contains("HttpRequestDenied"), "{}", reply.message);
    Ok(())
}

async fn a_grant_of_the_network_is_refused(plugins: &Path, state: &Path) -> Result<()> {
    let says = refusal(open(plugins, state, ALLOW_HTTP).await)?;
    ensure!(says.contains("the grant courier.api") && says.contains("without the feature `http`"), "{says}");
    Ok(())
}

/// An approval could not be kept, so no call runs by one, whatever the approver says.
async fn nothing_can_be_approved(plugins: &Path, state: &Path) -> Result<()> {
    let approver = Arc::new(Scripted::new([Answer::Yes]));
    let host = builder(plugins, state, ASK).approver(approver).open().await?;
    let reply = host.call(request()).await;
    ensure!(reply.code == Code::RecordUnavailable, "{}: {}", reply.code, reply.message);
    ensure!(host.approvals().list().await?.questions.is_empty());
    Ok(())
}

async fn a_store_is_refused(plugins: &Path, state: &Path) -> Result<()> {
    let says = refusal(open(plugins, state, ALLOW_STORE).await)?;
    ensure!(says.contains("the grant state-one.notes") && says.contains("without the feature `sqlite`"), "{says}");
    Ok(())
}

/// The ledger may have revocations that this program could not read.
#[expect(clippy::disallowed_methods, reason = "the folders are those of the test")]
async fn a_ledger_of_another_program_is_refused(plugins: &Path, state: &Path) -> Result<()> {
    drop(open(plugins, state, ALLOW).await?);
    std::fs::write(state.join("ledger.sqlite"), "")?;
    let says = refusal(open(plugins, state, ALLOW).await)?;
    std::fs::remove_dir_all(state)?;
    ensure!(says.contains("without the feature `sqlite`"), "{says}");
    Ok(())
}

fn refusal(opened: Result<Host, OpenError>) -> Result<String> {
    match opened {
        Ok(host) => anyhow::bail!("the host opened, and refused these plugins: {:?}", host.catalog().refused()),
        Err(error) => Ok(WithCauses(&error).to_string()),
    }
}
