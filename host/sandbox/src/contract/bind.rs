//! The code that is the same in every version of the contract. The bindings of each version are different types, so a
//! macro generates the code for each. A version's module adds the conversions of its own types.

/// Implements the contract in a folder. The module converts its own `Blob` and `Failure`. After the folder come the
/// kinds of dependencies, and the types of resources that only this version has. Then come the asynchronous functions
/// that only this version has, each as a name and, if it is one of `context`, an item.
macro_rules! bind {
    (
        $wit:literal,
        kinds: { $($kind:ident),* },
        with: { $($with:tt)* }
        $(, $asynchronous:literal => { $($added:tt)* })*
    ) => {
        mod generated {
            #![allow(missing_docs, unreachable_pub, clippy::all, reason = "written by a macro from wit/")]

            wasmtime::component::bindgen!({
                path: $wit,
                world: "portcullis:tool/plugin",
                imports: {
                    "portcullis:tool/context.ask": async | trappable,
                    $($asynchronous: async | trappable,)*
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
                    $($with)*
                },
                require_store_data_send: true,
            });
        }

        use super::{Contract, find};
        use crate::context::{Ask, Progress};
        use crate::handles::Unavailable;
        use crate::http::Client;
        use crate::service::OpenService;
        use crate::state::StoreState;
        use generated::PluginPre;
        use generated::exports::portcullis::tool::handler;
        use generated::portcullis::tool::{context, dependencies, output, types};
        use portcullis_definitions::manifest::{self, Answer, Manifest};
        use portcullis_policy::{Hint, Permission, Permissions};
        use wasmtime::Store;
        use wasmtime::component::{ComponentExportIndex, HasSelf, Instance, InstancePre, Linker, Resource, TypedFunc};
        use wasmtime_wasi::filesystem::Descriptor;
        use wasmtime_wasi::p2::DynOutputStream;
        use wasmtime_wasi_http::RequestOptions;
        use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;
        use wasmtime_wasi_http::p2::types::{HostFutureIncomingResponse, HostOutgoingRequest};

        /// The result of `execute-raw`.
        type Executed = (Result<handler::Success, handler::Failure>,);

        /// A linked plugin of this version.
        pub(super) struct Plugin {
            described: PluginPre<StoreState>,
            execute: ComponentExportIndex,
        }

        impl Plugin {
            /// Checks that the handler has the types of this version.
            pub(super) fn new(instance: InstancePre<StoreState>, contract: Contract) -> wasmtime::Result<Self> {
                find::<(), (handler::Manifest,)>(&instance, contract.handler(), "describe")?;
                let execute = find::<(&str, &str), Executed>(&instance, contract.handler(), "execute-raw")?;
                Ok(Self { described: PluginPre::new(instance)?, execute })
            }

            pub(super) fn instance(&self) -> &InstancePre<StoreState> {
                self.described.instance_pre()
            }

            /// Returns two descriptions by one instance.
            pub(super) async fn describe(
                &self,
                store: &mut Store<StoreState>,
            ) -> wasmtime::Result<(Manifest, Manifest)> {
                let plugin = self.described.instantiate_async(&mut *store).await?;
                let first = plugin.portcullis_tool_handler().call_describe(&mut *store).await?;
                let second = plugin.portcullis_tool_handler().call_describe(&mut *store).await?;
                Ok((first.into(), second.into()))
            }

            pub(super) async fn execute(
                &self,
                store: &mut Store<StoreState>,
                instance: Instance,
                tool: &str,
                arguments: &str,
            ) -> wasmtime::Result<Answer> {
                // The generated bindings would look up every export of the handler, in each call.
                let execute: TypedFunc<(&str, &str), Executed> = instance.get_typed_func(&mut *store, &self.execute)?;
                let (answer,) = execute.call_async(&mut *store, (tool, arguments)).await?;
                Ok(answer.map(Into::into).map_err(Into::into))
            }
        }

        /// Adds the interfaces of this version to a linker.
        pub(super) fn add_to_linker(linker: &mut Linker<StoreState>) -> wasmtime::Result<()> {
            context::add_to_linker::<StoreState, HasSelf<StoreState>>(linker, |state| state)?;
            dependencies::add_to_linker::<StoreState, HasSelf<StoreState>>(linker, |state| state)?;
            output::add_to_linker::<StoreState, HasSelf<StoreState>>(linker, |state| state)
        }

        impl context::Host for StoreState {
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
                let context::Progress { title, metadata, fraction } = update;
                self.report_progress(Progress { title, metadata, fraction });
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
                Ok(self.ask_host(Ask { permission, resource, reason, patterns: Vec::new() }).await)
            }

            $($($added)*)*
        }

        impl dependencies::Host for StoreState {
            fn open_directory(
                &mut self,
                key: String,
            ) -> wasmtime::Result<Result<Resource<Descriptor>, dependencies::Unavailable>> {
                Ok(self.open_directory_of(&key)?.map_err(Into::into))
            }

            fn open_client(
                &mut self,
                key: String,
            ) -> wasmtime::Result<Result<Resource<Client>, dependencies::Unavailable>> {
                Ok(self.open_client_of(&key)?.map_err(Into::into))
            }

            async fn open_service(
                &mut self,
                key: String,
            ) -> wasmtime::Result<Result<Resource<OpenService>, dependencies::Unavailable>> {
                Ok(self.open_service_of(&key).await?.map_err(Into::into))
            }

            fn names_host(
                &mut self,
                key: String,
                url: String,
            ) -> wasmtime::Result<Result<bool, dependencies::Unavailable>> {
                Ok(self.names_host_of(&key, &url).map_err(Into::into))
            }
        }

        impl dependencies::HostClient for StoreState {
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
                // The call has one last refusal, whichever its client was. This only checks the handle.
                let _ = self.table.get(&client)?;
                Ok(self.http.refusal())
            }

            async fn has_secret(&mut self, client: Resource<Client>) -> wasmtime::Result<bool> {
                self.has_secret_of(&client).await
            }

            fn drop(&mut self, client: Resource<Client>) -> wasmtime::Result<()> {
                self.table.delete(client)?;
                Ok(())
            }
        }

        impl dependencies::HostService for StoreState {
            async fn call(
                &mut self,
                service: Resource<OpenService>,
                method: String,
                input: String,
            ) -> wasmtime::Result<Result<String, String>> {
                self.call_service(&service, method, input).await
            }

            fn drop(&mut self, service: Resource<OpenService>) -> wasmtime::Result<()> {
                self.table.delete(service)?;
                Ok(())
            }
        }

        impl output::Host for StoreState {
            fn open_text(&mut self) -> wasmtime::Result<Option<Resource<DynOutputStream>>> {
                self.open_text_output()
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
                Self {
                    key: dependency.key,
                    kind: dependency.kind.into(),
                    optional: dependency.optional,
                    reason: dependency.reason,
                }
            }
        }

        impl From<types::DependencyKind> for manifest::DependencyKind {
            fn from(kind: types::DependencyKind) -> Self {
                match kind {
                    $(types::DependencyKind::$kind => Self::$kind,)*
                }
            }
        }

        super::bind::answers!(types => manifest);
    };
}

/// Implements the conversion of a tool's answer between two modules with the same types. `Blob` converts by itself.
macro_rules! answers {
    ($from:ident => $to:ident) => {
        impl From<$from::Success> for $to::Success {
            fn from(success: $from::Success) -> Self {
                let output = match success.output {
                    $from::Output::Text(text) => $to::Output::Text(text),
                    $from::Output::Json(text) => $to::Output::Json(text),
                    $from::Output::Parts(parts) => $to::Output::Parts(parts.into_iter().map(Into::into).collect()),
                };
                Self { title: success.title, output, metadata: success.metadata }
            }
        }

        impl From<$from::Part> for $to::Part {
            fn from(part: $from::Part) -> Self {
                match part {
                    $from::Part::Text(text) => Self::Text(text),
                    $from::Part::Image(blob) => Self::Image(blob.into()),
                    $from::Part::File(blob) => Self::File(blob.into()),
                }
            }
        }
    };
}

pub(super) use {answers, bind};
