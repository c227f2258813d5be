//! What a server offers besides tools: resources, which it lists and which can be read, and prompts.

use crate::answer;
use crate::error::ServerError;
use crate::exchange::OpenExchange;
use crate::limits::ServerLimits;
use crate::pages::PageCursor;
use crate::traffic::Traffic;
use portcullis_definitions::manifest::Answer;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams, ServerResult,
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
        let (mut cursor, mut listed) = (PageCursor::default(), ListedOffers::new(self.limits));
        loop {
            let request = ListResourcesRequest::with_param(page(&mut cursor));
            let ServerResult::ListResourcesResult(page) =
                self.ask(ClientRequest::ListResourcesRequest(request)).await?
            else {
                return Err(malformed("it is no list of resources"));
            };
            for resource in page.resources {
                listed.add(json!({
                    "uri": resource.uri,
                    "name": resource.name,
                    "title": resource.title,
                    "description": resource.description,
                    "media_type": resource.mime_type,
                }))?;
            }
            if !cursor.advance(page.next_cursor, self.limits)? {
                return Ok(listed.offers);
            }
        }
    }

    /// Lists the patterns of addresses. A server without them does not know the method.
    async fn templates(&self) -> Result<Vec<Value>, ServerError> {
        let (mut cursor, mut listed) = (PageCursor::default(), ListedOffers::new(self.limits));
        loop {
            let request = ListResourceTemplatesRequest::with_param(page(&mut cursor));
            let page = match self.ask(ClientRequest::ListResourceTemplatesRequest(request)).await {
                Ok(ServerResult::ListResourceTemplatesResult(page)) => page,
                Ok(_) => return Err(malformed("it is no list of templates")),
                Err(ServerError::Refused { .. }) => return Ok(listed.offers),
                Err(error) => return Err(error),
            };
            for template in page.resource_templates {
                listed.add(json!({
                    "uri_template": template.uri_template,
                    "name": template.name,
                    "title": template.title,
                    "description": template.description,
                    "media_type": template.mime_type,
                }))?;
            }
            if !cursor.advance(page.next_cursor, self.limits)? {
                return Ok(listed.offers);
            }
        }
    }

    async fn prompts(&self) -> Result<Vec<Value>, ServerError> {
        let (mut cursor, mut listed) = (PageCursor::default(), ListedOffers::new(self.limits));
        loop {
            let request = ListPromptsRequest::with_param(page(&mut cursor));
            let ServerResult::ListPromptsResult(page) = self.ask(ClientRequest::ListPromptsRequest(request)).await?
            else {
                return Err(malformed("it is no list of prompts"));
            };
            for prompt in page.prompts {
                let arguments = prompt.arguments.unwrap_or_default().into_iter().map(|argument| {
                    json!({
                        "name": argument.name,
                        "description": argument.description,
                        "required": argument.required.unwrap_or_default(),
                    })
                });
                listed.add(json!({
                    "name": prompt.name,
                    "title": prompt.title,
                    "description": prompt.description,
                    "arguments": arguments.collect::<Vec<Value>>(),
                }))?;
            }
            if !cursor.advance(page.next_cursor, self.limits)? {
                return Ok(listed.offers);
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
        self.bytes += offer.to_string().len();
        let max = self.limits.definitions_bytes.min(self.limits.result_bytes);
        if self.bytes > max {
            return Err(ServerError::ListTooLong { what: "bytes of a list", max });
        }
        self.offers.push(offer);
        Ok(())
    }
}

fn page(cursor: &mut PageCursor) -> PaginatedRequestParams {
    PaginatedRequestParams::default().with_cursor(cursor.take())
}

fn malformed(problem: &str) -> ServerError {
    ServerError::Malformed { problem: problem.to_owned() }
}
