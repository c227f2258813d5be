//! The exports of a plugin that the host calls: what each is called with, what it returns, and how the host completes
//! and redacts that. A run is generic over its export, so it can only return what that export returns.

use crate::context::{CallHost, OutputFull};
use crate::contract::LinkedPlugin;
use crate::http::NetworkCall;
use crate::output::OutputContext;
use crate::state::StoreState;
use portcullis_definitions::manifest::{Answer, Generated, Manifest, Preparation, Preview, ToolCaller, Verdict};
use portcullis_policy::Limits;
use std::future::Future;
use std::sync::Arc;
use wasmtime::Store;
use wasmtime::component::Instance;

/// The call of a tool that a plugin executes, reviews or previews.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    /// The tool's name within the plugin.
    pub tool: &'a str,
    /// The arguments, as JSON text.
    pub arguments: &'a str,
}

/// One call of an export.
pub(crate) trait Export: Send {
    /// What the export returns to the host.
    type Returned: Send;

    /// Creates the context of the text answer that the guest writes while it runs. By default there is none.
    fn output(&self, _limits: &Limits, _host: &Arc<dyn CallHost>) -> OutputContext {
        OutputContext::closed()
    }

    /// Calls the export.
    fn call(
        self,
        plugin: &LinkedPlugin,
        store: &mut Store<StoreState>,
    ) -> impl Future<Output = wasmtime::Result<Self::Returned>> + Send;

    /// Completes what the guest wrote while it ran with what it returned.
    fn complete(returned: Self::Returned, _output: &mut OutputContext) -> Result<Self::Returned, OutputFull> {
        Ok(returned)
    }

    /// Removes the host's secrets from what the guest returned.
    fn redact(returned: Self::Returned, call: &NetworkCall) -> Self::Returned;
}

/// Returns two descriptions by one instance.
pub(crate) struct Describe;

/// Executes a call in the instance of an earlier call, or in a new one, which it leaves there.
pub(crate) struct Execute<'a>(pub(crate) ToolCall<'a>, pub(crate) &'a mut Option<Instance>);

/// Reviews a call.
pub(crate) struct Review<'a>(pub(crate) ToolCall<'a>);

/// Computes what a call would change.
pub(crate) struct PreviewChanges<'a>(pub(crate) ToolCall<'a>);

/// Makes tools from the plugin's settings and its directories.
pub(crate) struct Generate;

/// Finds the tools that a caller is not offered whole.
pub(crate) struct Prepare<'a>(pub(crate) &'a ToolCaller);

impl Export for Describe {
    type Returned = (Manifest, Manifest);

    async fn call(self, plugin: &LinkedPlugin, store: &mut Store<StoreState>) -> wasmtime::Result<Self::Returned> {
        plugin.describe(store).await
    }

    fn redact(described: Self::Returned, _call: &NetworkCall) -> Self::Returned {
        // A description is made without handles, before any call, so it contains no secret.
        described
    }
}

impl Export for Execute<'_> {
    type Returned = Answer;

    fn output(&self, limits: &Limits, host: &Arc<dyn CallHost>) -> OutputContext {
        OutputContext::new(limits, Arc::clone(host))
    }

    async fn call(self, plugin: &LinkedPlugin, store: &mut Store<StoreState>) -> wasmtime::Result<Answer> {
        plugin.execute(store, self.1, self.0.tool, self.0.arguments).await
    }

    fn complete(answer: Answer, output: &mut OutputContext) -> Result<Answer, OutputFull> {
        match answer {
            Ok(success) => output.append(success).map(Ok),
            Err(failure) => Ok(Err(failure)),
        }
    }

    fn redact(answer: Answer, call: &NetworkCall) -> Answer {
        call.redact_answer(answer)
    }
}

impl Export for Review<'_> {
    type Returned = Verdict;

    async fn call(self, plugin: &LinkedPlugin, store: &mut Store<StoreState>) -> wasmtime::Result<Verdict> {
        plugin.review(store, self.0.tool, self.0.arguments).await
    }

    fn redact(verdict: Verdict, call: &NetworkCall) -> Verdict {
        call.redact_verdict(verdict)
    }
}

impl Export for PreviewChanges<'_> {
    type Returned = Preview;

    async fn call(self, plugin: &LinkedPlugin, store: &mut Store<StoreState>) -> wasmtime::Result<Preview> {
        plugin.preview(store, self.0.tool, self.0.arguments).await
    }

    fn redact(preview: Preview, call: &NetworkCall) -> Preview {
        call.redact_preview(preview)
    }
}

impl Export for Generate {
    type Returned = Generated;

    async fn call(self, plugin: &LinkedPlugin, store: &mut Store<StoreState>) -> wasmtime::Result<Generated> {
        plugin.generate(store).await
    }

    fn redact(generated: Generated, _call: &NetworkCall) -> Generated {
        // It runs without clients, before any call, so it contains no secret.
        generated
    }
}

impl Export for Prepare<'_> {
    type Returned = Vec<Preparation>;

    async fn call(self, plugin: &LinkedPlugin, store: &mut Store<StoreState>) -> wasmtime::Result<Self::Returned> {
        plugin.prepare(store, self.0).await
    }

    fn redact(prepared: Self::Returned, _call: &NetworkCall) -> Self::Returned {
        // It runs without handles, before any call, so it contains no secret.
        prepared
    }
}
