//! `portcullis:tool@0.1`: the bindings, and what they say in the host's own words.

use crate::context::{Ask, Progress, cut};
use crate::handles::Unavailable;
use crate::http::Client;
use crate::manifest;
use crate::service::OpenService;
use crate::state::State;
use portcullis_policy::{Destination, Hint, HttpBinding, Permission, Permissions};
use std::sync::Arc;
use wasmtime::component::{ComponentType, HasSelf, Lift, Linker, Resource};
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::DynOutputStream;
use wasmtime_wasi_http::RequestOptions;
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;
use wasmtime_wasi_http::p2::types::{HostFutureIncomingResponse, HostOutgoingRequest};

mod generated {
    #![allow(missing_docs, unreachable_pub, clippy::all, reason = "written by a macro from wit/v0.1")]

    wasmtime::component::bindgen!({
        path: "../../wit/v0.1",
        world: "portcullis:tool/plugin",
        imports: {
            "portcullis:tool/context.ask": async | trappable,
            "portcullis:tool/dependencies.open-service": async | trappable,
            "portcullis:tool/dependencies.[method]client.has-secret": async | trappable,
            "portcullis:tool/dependencies.[method]service.call": async | trappable,
            default: trappable,
        },
        exports: { default: async },
        with: {
            "wasi:io": wasmtime_wasi::p2::bindings::io,
            "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
            "wasi:filesystem": wasmtime_wasi::p2::bindings::filesystem,
            "wasi:http": wasmtime_wasi_http::p2::bindings::http,
            "wasi:keyvalue": crate::wasi::keyvalue,
            "wasi:config": crate::wasi::config,
            "wasi:logging": crate::wasi::logging,
            "portcullis:tool/dependencies.client": crate::http::Client,
            "portcullis:tool/dependencies.service": crate::service::OpenService,
        },
        require_store_data_send: true,
    });
}

use generated::exports::portcullis::tool::handler;
use generated::portcullis::tool::{context, dependencies, output, types};

pub(crate) use generated::PluginPre;

/// The export that lets a plugin review its calls.
pub(crate) const REVIEWER: &str = "portcullis:tool/reviewer@0.1.0";

/// Adds the interfaces of this version to a linker.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    context::add_to_linker::<State, HasSelf<State>>(linker, |state| state)?;
    dependencies::add_to_linker::<State, HasSelf<State>>(linker, |state| state)?;
    output::add_to_linker::<State, HasSelf<State>>(linker, |state| state)
}

impl context::Host for State {
    fn current(&mut self) -> wasmtime::Result<context::Call> {
        let call = &self.call;
        Ok(context::Call {
            id: call.id.to_string(),
            session: call.session.to_string(),
            message: call.message.as_deref().map(str::to_owned),
            agent: call.agent.as_deref().map(str::to_owned),
        })
    }

    fn report(&mut self, update: context::Progress) -> wasmtime::Result<()> {
        if self.reports_left > 0 {
            self.reports_left -= 1;
            // Redacted first: a secret that is cut in two is not found.
            let text = |text: String| cut(self.http.redact(text));
            self.call.host.report(Progress {
                title: update.title.map(text),
                metadata: update.metadata.map(text),
                fraction: update.fraction.filter(|fraction| (0.0..=1.0).contains(fraction)),
            });
        }
        Ok(())
    }

    fn is_cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(self.clock.is_cancelled())
    }

    async fn ask(
        &mut self,
        permission: String,
        resource: String,
        reason: String,
    ) -> wasmtime::Result<Result<(), String>> {
        let text = |text: String| cut(self.http.redact(text));
        let ask = Ask { permission: text(permission), resource: text(resource), reason: text(reason) };
        let pause = self.clock.pause(self.call.approval_time);
        let answer = self.call.host.ask(ask).await;
        drop(pause);
        Ok(answer)
    }
}

impl dependencies::Host for State {
    fn open_directory(
        &mut self,
        key: String,
    ) -> wasmtime::Result<Result<Resource<Descriptor>, dependencies::Unavailable>> {
        match self.handles.directory(&key) {
            Ok(directory) => Ok(Ok(self.table.push(directory.descriptor())?)),
            Err(unavailable) => Ok(Err(unavailable.into())),
        }
    }

    fn open_client(&mut self, key: String) -> wasmtime::Result<Result<Resource<Client>, dependencies::Unavailable>> {
        match self.handles.client(&key) {
            Ok(client) => Ok(Ok(self.table.push(client.clone())?)),
            Err(unavailable) => Ok(Err(unavailable.into())),
        }
    }

    async fn open_service(
        &mut self,
        key: String,
    ) -> wasmtime::Result<Result<Resource<OpenService>, dependencies::Unavailable>> {
        let service = match self.handles.service(&key) {
            Ok(service) => OpenService(Arc::clone(service)),
            Err(unavailable) => return Ok(Err(unavailable.into())),
        };
        match service.0.open().await {
            Ok(()) => Ok(Ok(self.table.push(service)?)),
            Err(_) => Ok(Err(dependencies::Unavailable::Failed)),
        }
    }

    fn names_host(&mut self, key: String, url: String) -> wasmtime::Result<Result<bool, dependencies::Unavailable>> {
        let named = |binding: &HttpBinding| Destination::from_url(&url).is_ok_and(|url| binding.names(&url));
        Ok(self.handles.http_binding(&key).map(named).map_err(Into::into))
    }
}

impl dependencies::HostClient for State {
    fn send(
        &mut self,
        client: Resource<Client>,
        request: Resource<HostOutgoingRequest>,
        options: Option<Resource<RequestOptions>>,
    ) -> wasmtime::Result<Result<Resource<HostFutureIncomingResponse>, ErrorCode>> {
        let client = self.table.get(&client)?.clone();
        self.send(Some(client), request, options)
    }

    fn refusal(&mut self, client: Resource<Client>) -> wasmtime::Result<Option<String>> {
        let _ = self.table.get(&client)?;
        Ok(self.http.refusal())
    }

    async fn has_secret(&mut self, client: Resource<Client>) -> wasmtime::Result<bool> {
        let client = self.table.get(&client)?.clone();
        Ok(client.has_secret().await)
    }

    fn drop(&mut self, client: Resource<Client>) -> wasmtime::Result<()> {
        self.table.delete(client)?;
        Ok(())
    }
}

impl dependencies::HostService for State {
    async fn call(
        &mut self,
        service: Resource<OpenService>,
        method: String,
        input: String,
    ) -> wasmtime::Result<Result<String, String>> {
        let service = Arc::clone(&self.table.get(&service)?.0);
        Ok(service.call(method, input).await)
    }

    fn drop(&mut self, service: Resource<OpenService>) -> wasmtime::Result<()> {
        self.table.delete(service)?;
        Ok(())
    }
}

impl output::Host for State {
    fn open_text(&mut self) -> wasmtime::Result<Option<Resource<DynOutputStream>>> {
        let stream = self.output.open_text(|| self.http.call());
        Ok(stream.map(|stream| self.table.push(stream)).transpose()?)
    }
}

impl From<Unavailable> for dependencies::Unavailable {
    fn from(unavailable: Unavailable) -> Self {
        match unavailable {
            Unavailable::UnknownKey => Self::UnknownKey,
            Unavailable::NotGranted => Self::NotGranted,
            Unavailable::WrongKind => Self::WrongKind,
            Unavailable::Failed => Self::Failed,
        }
    }
}

/// `verdict`, written out because `reviewer` is an export that a plugin may leave away.
#[derive(ComponentType, Lift)]
#[component(variant)]
pub(crate) enum Verdict {
    #[component(name = "clear")]
    Clear,
    #[component(name = "ask")]
    Ask(String),
    #[component(name = "refuse")]
    Refuse(String),
}

impl From<Verdict> for manifest::Verdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Clear => Self::Clear,
            Verdict::Ask(reason) => Self::Ask(reason),
            Verdict::Refuse(reason) => Self::Refuse(reason),
        }
    }
}

impl From<handler::Manifest> for manifest::Manifest {
    fn from(manifest: handler::Manifest) -> Self {
        Self {
            name: manifest.name,
            version: manifest.version,
            description: manifest.description,
            tools: manifest.tools.into_iter().map(Into::into).collect(),
            dependencies: manifest.dependencies.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<types::Definition> for manifest::Definition {
    fn from(definition: types::Definition) -> Self {
        Self {
            name: definition.name,
            title: definition.title,
            description: definition.description,
            schema: definition.schema,
            output_schema: definition.output_schema,
            required: permissions(definition.required),
            optional: permissions(definition.optional),
            hints: hints(definition.hints),
        }
    }
}

fn permissions(flags: types::Permissions) -> Permissions {
    const NAMES: [(types::Permissions, Permission); 4] = [
        (types::Permissions::READ, Permission::Read),
        (types::Permissions::WRITE, Permission::Write),
        (types::Permissions::EXECUTE, Permission::Execute),
        (types::Permissions::NETWORK, Permission::Network),
    ];
    NAMES.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, permission)| *permission).collect()
}

fn hints(flags: types::Hints) -> Vec<Hint> {
    const NAMES: [(types::Hints, Hint); 5] = [
        (types::Hints::READ_ONLY, Hint::ReadOnly),
        (types::Hints::DESTRUCTIVE, Hint::Destructive),
        (types::Hints::IDEMPOTENT, Hint::Idempotent),
        (types::Hints::OPEN_WORLD, Hint::OpenWorld),
        (types::Hints::SEQUENTIAL, Hint::Sequential),
    ];
    NAMES.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, hint)| *hint).collect()
}

impl From<types::Dependency> for manifest::Dependency {
    fn from(dependency: types::Dependency) -> Self {
        let kind = match dependency.kind {
            types::DependencyKind::Directory => manifest::DependencyKind::Directory,
            types::DependencyKind::Http => manifest::DependencyKind::Http,
            types::DependencyKind::Store => manifest::DependencyKind::Store,
            types::DependencyKind::Service => manifest::DependencyKind::Service,
        };
        Self { key: dependency.key, kind, optional: dependency.optional, reason: dependency.reason }
    }
}

impl From<types::Success> for manifest::Success {
    fn from(success: types::Success) -> Self {
        let output = match success.output {
            types::Output::Text(text) => manifest::Output::Text(text),
            types::Output::Json(json) => manifest::Output::Json(json),
            types::Output::Parts(parts) => manifest::Output::Parts(parts.into_iter().map(Into::into).collect()),
        };
        Self { title: success.title, output, metadata: success.metadata }
    }
}

impl From<types::Part> for manifest::Part {
    fn from(part: types::Part) -> Self {
        match part {
            types::Part::Text(text) => Self::Text(text),
            types::Part::Image(blob) => Self::Image(blob.into()),
            types::Part::File(blob) => Self::File(blob.into()),
        }
    }
}

impl From<types::Blob> for manifest::Blob {
    fn from(blob: types::Blob) -> Self {
        Self { media_type: blob.media_type, data: blob.data }
    }
}

impl From<types::Failure> for manifest::Failure {
    fn from(failure: types::Failure) -> Self {
        match failure {
            types::Failure::InvalidArguments(text) => Self::InvalidArguments(text),
            types::Failure::Denied(text) => Self::Denied(text),
            types::Failure::Unavailable(text) => Self::Unavailable(text),
            types::Failure::Cancelled => Self::Cancelled,
            types::Failure::Failed(text) => Self::Failed(text),
        }
    }
}
