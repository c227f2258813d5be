//! The methods of the protocol. Methods that are not served answer "method not found". The library's defaults would
//! answer with empty lists.

use crate::options::ListTools;
use crate::server::Server;
use crate::{call, caller::McpCaller, offered, resources, subscriptions, tasks, tools};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ConstString, CustomRequest, CustomResult, ErrorCode, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscriptionFilter, Tool, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::borrow::Cow;

/// Supported protocol versions, the newest last. Older versions have neither Streamable HTTP nor structured content,
/// and no clients use them any more.
const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// The server's instructions to a model.
const INSTRUCTIONS: &str = "Each tool runs in its own sandbox, with only the permissions that the operator granted. \
    A call may be denied, or may need a person's approval. The result then says what to do: follow it. \
    If a result is truncated, it says how to read the rest.";

/// Additional instructions if not all tools are listed.
const SEARCH_INSTRUCTIONS: &str = " Not all tools are listed. Find the others with tools__search and call them with \
    tools__call.";

impl Server {
    fn instructions(&self) -> String {
        match self.inner().options.list_tools {
            ListTools::All => INSTRUCTIONS.to_owned(),
            ListTools::Search => format!("{INSTRUCTIONS}{SEARCH_INSTRUCTIONS}"),
        }
    }
}

/// The methods that are served. If the library does not recognise a request for one of them, its parameters are wrong.
const METHODS: &[&str] = &[
    "initialize",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/call",
    "tools/list",
];

fn is_legacy(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version().is_none_or(|version| version.has_initialize())
}

fn not_found<M: ConstString, T>() -> Result<T, ErrorData> {
    Err(ErrorData::method_not_found::<M>())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_tasks()
            .build();
        let implementation = Implementation::new("portcullis", env!("CARGO_PKG_VERSION")).with_title("Portcullis");
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(self.instructions())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        // The listing comes last, so that it has every plugin whose offer is known.
        let offered = offered::of(self, &cx).await;
        tools::list(&self.listing(), &offered, cursor.as_deref(), is_legacy(&cx))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.listing().definition(name).cloned()
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match tools::Route::of(self, params, &cx, is_legacy(&cx)).await {
            tools::Route::Call(params) => call::call(self, params, cx).await,
            tools::Route::Answered(result) => Ok(CallToolResponse::Complete(result)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list(self, McpCaller::of(self, &cx), cursor.as_deref()).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(self, &cx, &request.uri).await.map(ReadResourceResponse::from)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(subscriptions::accepted(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        subscriptions::listen(self, &context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        subscriptions::follow(self, context);
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::get(self, &request, &cx).await
    }

    async fn update_task(&self, request: UpdateTaskParams, cx: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        tasks::update(self, request, &cx).await
    }

    async fn cancel_task(&self, request: CancelTaskParams, cx: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        tasks::cancel(self, &request, &cx).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        not_found::<ListPromptsRequestMethod, _>()
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        not_found::<CompleteRequestMethod, _>()
    }

    /// Refuses a request that the library did not recognise: an unknown method, or parameters of the wrong form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        cx: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        // The modern era has no handshake, so `initialize` is an unknown method there.
        if METHODS.contains(&method.as_str()) && (method != "initialize" || is_legacy(&cx)) {
            return Err(ErrorData::invalid_params(format!("the parameters of {method} do not match its schema"), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this server does not support this method", None))
    }
}
