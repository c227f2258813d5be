//! What a server offers besides tools: resources, which it lists and which can be read, and prompts.

use crate::answer;
use crate::error::ServerError;
use crate::exchange::OpenExchange;
use crate::limits::ServerLimits;
use crate::pages::{PageCursor, json_bytes};
use crate::traffic::Traffic;
use portcullis_definitions::manifest::Answer;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, PaginatedRequestParams, Prompt, ReadResourceRequest, ReadResourceRequestParams, Resource,
    ResourceTemplate, ServerResult,
};
use rmcp::service::Peer;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What a server can be asked for besides calls of tools.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerOffer {
    /// The list of its resources, and of the patterns of their addresses.
    Resources,
    /// The content of the resource at an address.
    Resource(String),
    /// The list of its prompts.
    Prompts,
    /// A prompt, by its name, with arguments.
    Prompt(String, Map<String, Value>),
}

/// The parts of a connection that such a request needs.
pub(crate) struct OfferContext<'a> {
    pub(crate) peer: &'a Peer<RoleClient>,
    pub(crate) traffic: &'a Arc<Traffic>,
    pub(crate) limits: &'a ServerLimits,
}

impl OfferContext<'_> {
    /// Returns what a server offers, in the form of an answer of a tool.
    pub(crate) async fn get(&self, offer: ServerOffer) -> Result<Answer, ServerError> {
        let bytes_max = self.limits.result_bytes;
        match offer {
            ServerOffer::Resources => {
                let listed = json!({ "resources": self.resources().await?, "templates": self.templates().await? });
                Ok(answer::listed(&listed))
            }
            ServerOffer::Resource(uri) => {
                let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
                match self.ask(ClientRequest::ReadResourceRequest(request)).await? {
                    ServerResult::ReadResourceResult(read) => answer::resource(read.contents, bytes_max),
                    _ => Err(malformed("it is no resource")),
                }
            }
            ServerOffer::Prompts => Ok(answer::listed(&json!({ "prompts": self.prompts().await? }))),
            ServerOffer::Prompt(name, arguments) => {
                let params = GetPromptRequestParams::new(name).with_arguments(arguments);
                let request = GetPromptRequest::new(params);
                match self.ask(ClientRequest::GetPromptRequest(request)).await? {
                    ServerResult::GetPromptResult(prompt) => answer::prompt(prompt.messages, bytes_max),
                    _ => Err(malformed("it is no prompt")),
                }
            }
        }
    }

    async fn resources(&self) -> Result<Vec<Value>, ServerError> {
        let request = |params| ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(params));
        self.list(&mut ListedOffers::new(self.limits), request, |answer| match answer {
            ServerResult::ListResourcesResult(page) => {
                Ok((page.resources.iter().map(resource).collect(), page.next_cursor))
            }
            _ => Err(malformed("it is no list of resources")),
        })
        .await
    }

    /// Lists the patterns of addresses. A server without them does not know the method.
    async fn templates(&self) -> Result<Vec<Value>, ServerError> {
        let request =
            |params| ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::with_param(params));
        let mut listed = ListedOffers::new(self.limits);
        let all = self.list(&mut listed, request, |answer| match answer {
            ServerResult::ListResourceTemplatesResult(page) => {
                Ok((page.resource_templates.iter().map(template).collect(), page.next_cursor))
            }
            _ => Err(malformed("it is no list of templates")),
        });
        match all.await {
            Err(ServerError::Refused { .. }) => Ok(listed.offers),
            all => all,
        }
    }

    async fn prompts(&self) -> Result<Vec<Value>, ServerError> {
        let request = |params| ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(params));
        self.list(&mut ListedOffers::new(self.limits), request, |answer| match answer {
            ServerResult::ListPromptsResult(page) => Ok((page.prompts.iter().map(prompt).collect(), page.next_cursor)),
            _ => Err(malformed("it is no list of prompts")),
        })
        .await
    }

    /// Adds the entries of all pages to a list, and returns them. After an error, those before it are still there.
    async fn list(
        &self,
        listed: &mut ListedOffers<'_>,
        request: impl Fn(PaginatedRequestParams) -> ClientRequest,
        read: impl Fn(ServerResult) -> Result<(Vec<Value>, Option<String>), ServerError>,
    ) -> Result<Vec<Value>, ServerError> {
        let mut cursor = PageCursor::default();
        loop {
            let (entries, next) = read(self.ask(request(cursor.params())).await?)?;
            entries.into_iter().try_for_each(|entry| listed.add(entry))?;
            if !cursor.advance(next, self.limits)? {
                return Ok(std::mem::take(&mut listed.offers));
            }
        }
    }

    async fn ask(&self, request: ClientRequest) -> Result<ServerResult, ServerError> {
        OpenExchange::begin(self.peer, self.traffic, request).await?.answer().await
    }
}

/// What is listed so far.
struct ListedOffers<'a> {
    limits: &'a ServerLimits,
    offers: Vec<Value>,
    bytes: usize,
}

impl<'a> ListedOffers<'a> {
    fn new(limits: &'a ServerLimits) -> Self {
        Self { limits, offers: Vec::new(), bytes: 0 }
    }

    /// Adds an offer without its members that are null.
    fn add(&mut self, mut offer: Value) -> Result<(), ServerError> {
        if let Value::Object(members) = &mut offer {
            members.retain(|_, value| !value.is_null());
        }
        let max = self.limits.tools;
        if self.offers.len() >= max {
            return Err(ServerError::ListTooLong { what: "entries of a list", max });
        }
        self.bytes += json_bytes(&offer);
        let max = self.limits.definitions_bytes.min(self.limits.result_bytes);
        if self.bytes > max {
            return Err(ServerError::ListTooLong { what: "bytes of a list", max });
        }
        self.offers.push(offer);
        Ok(())
    }
}

fn resource(resource: &Resource) -> Value {
    json!({
        "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "media_type": resource.mime_type,
    })
}

fn template(template: &ResourceTemplate) -> Value {
    json!({
        "uri_template": template.uri_template,
        "name": template.name,
        "title": template.title,
        "description": template.description,
        "media_type": template.mime_type,
    })
}

fn prompt(prompt: &Prompt) -> Value {
    let arguments = prompt.arguments.iter().flatten().map(|argument| {
        json!({
            "name": argument.name,
            "description": argument.description,
            "required": argument.required.unwrap_or_default(),
        })
    });
    json!({
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": arguments.collect::<Vec<Value>>(),
    })
}

fn malformed(problem: &str) -> ServerError {
    ServerError::Malformed { problem: problem.to_owned() }
}
