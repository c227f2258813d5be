//! A host with a shop, and model responses in each provider's format.

use portcullis::approvals::Answering;
use portcullis::{Answer, Approver, Batch, Caller, Host, Question, Reply};
use portcullis_providers::{Definitions, Format, HydrateError, HydratedCall};
use portcullis_tests::{BlockOn, Manifest, Site, Tool, guest};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The schema of an order.
const ORDER: &str = r##"{
  "type": "object",
  "properties": {
    "item": { "enum": ["apple", "pear", "Quince"] },
    "count": { "type": "integer", "minimum": 1 },
    "note": { "type": "string" },
    "gift": { "type": "boolean" },
    "any": { "type": ["string", "null"] },
    "tags": { "type": "array", "items": { "type": "string" } },
    "to": { "$ref": "#/$defs/address" },
    "lines": { "type": "array", "items": { "$ref": "#/$defs/line" } },
    "pay": { "anyOf": [{ "$ref": "#/$defs/card" }, { "$ref": "#/$defs/cash" }] }
  },
  "required": ["item", "count"],
  "additionalProperties": false,
  "$defs": {
    "address": {
      "type": "object",
      "properties": { "street": { "type": "string" }, "floor": { "type": "number" } },
      "required": ["street"], "additionalProperties": false
    },
    "line": {
      "type": "object",
      "properties": { "sku": { "type": "string" }, "discount": { "type": "number" } },
      "required": ["sku"], "additionalProperties": false
    },
    "card": {
      "type": "object",
      "properties": { "kind": { "const": "card" }, "number": { "type": "string" }, "name": { "type": "string" } },
      "required": ["kind", "number"], "additionalProperties": false
    },
    "cash": {
      "type": "object",
      "properties": { "kind": { "const": "cash" }, "change": { "type": "number" } },
      "required": ["kind"], "additionalProperties": false
    }
  }
}"##;

/// Allows everything.
pub(crate) const ALLOW: &str = "[approvals]\nrepeats = 1000000\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";

/// An approver with an answer that a test sets, which records the requests.
pub(crate) struct Person {
    pub(crate) answer: Mutex<Answer>,
    asked: Mutex<Vec<Question>>,
}

impl Person {
    /// Returns the requests since the last call.
    pub(crate) fn asked(&self) -> Vec<Question> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// Sets the answer.
    pub(crate) fn says(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }
}

impl Approver for Person {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        self.asked.lock().unwrap().push(question.clone());
        Box::pin(std::future::ready(self.answer.lock().unwrap().clone()))
    }
}

/// A host with the shop, and the definitions that its models see.
pub(crate) struct Desk {
    pub(crate) site: Site,
    pub(crate) host: Host,
    pub(crate) person: Arc<Person>,
    pub(crate) offered: Definitions,
}

/// Builds the plugin of the shop, with this schema for its orders.
pub(crate) fn shop(order: &str) -> Manifest {
    let mut shop = Manifest::of("shop");
    let tool = |name: &str, schema: &str| Tool { schema: schema.to_owned(), ..Tool::new(name) };
    shop.tools = vec![tool("order", order), tool("list", r#"{"type":"object","additionalProperties":false}"#)];
    shop
}

impl Desk {
    /// Opens a host that allows everything, with these additional policy lines.
    pub(crate) async fn open(policy: &str) -> Self {
        Self::open_with(policy, &[]).await
    }

    /// Does the same with additional plugins, whose tools are offered too.
    pub(crate) async fn open_with(policy: &str, more: &[Manifest]) -> Self {
        let site = Site::new();
        for manifest in more {
            site.plugin(&manifest.name, &guest("good", manifest));
        }
        let shop = shop(ORDER);
        site.plugin("shop", &guest("good", &shop));
        site.plugin("loose", &guest("good", &Manifest::of("loose").tool(|tool| tool.schema = String::new())));
        site.plugin("secret", &guest("good", &Manifest::of("secret")));
        let person = Arc::new(Person { answer: Mutex::new(Answer::No { note: None }), asked: Mutex::default() });
        let approver: Arc<dyn Approver> = Arc::clone(&person) as _;
        let host = site.builder(&format!("{ALLOW}{policy}")).approver(approver).open().await.unwrap();
        let catalog = host.catalog();
        let offers =
            catalog.offers().filter(|offer| !["good", "secret", "output"].contains(&offer.plugin.name().as_str()));
        let offered = Definitions::of(offers).unwrap();
        Self { site, host, person, offered }
    }

    pub(crate) fn try_hydrate(&self, format: Format, answer: &str) -> Result<Vec<HydratedCall>, HydrateError> {
        self.offered.hydrate(format, answer, &self.host).map(|hydrated| hydrated.calls)
    }

    /// Returns the calls of a response.
    pub(crate) fn calls(&self, format: Format, answer: &Value) -> Vec<HydratedCall> {
        self.try_hydrate(format, &answer.to_string()).unwrap_or_else(|error| panic!("{error}\n{answer:#}"))
    }

    /// Returns the only call of a response.
    pub(crate) fn call(&self, format: Format, name: &str, arguments: &Value) -> HydratedCall {
        let mut calls = self.calls(format, &message(format, &[("call_1", name, arguments)]));
        assert_eq!(calls.len(), 1, "{format}");
        calls.remove(0)
    }

    /// Returns the calls of a response, and the host's replies.
    pub(crate) async fn run(&self, format: Format, answer: &str) -> (Vec<HydratedCall>, Vec<Reply>) {
        let hydrated = self.offered.hydrate(format, answer, &self.host).unwrap();
        let requests = hydrated.requests(&Caller::new());
        (hydrated.calls, self.host.batch(Batch::new(requests)).await)
    }

    /// Returns the only call of a chat response, and the host's reply.
    pub(crate) async fn chat(&self, name: &str, arguments: &str) -> (HydratedCall, Reply) {
        let answer = message(Format::OpenAiChat, &[("call_1", name, &Value::from(arguments))]);
        let (mut calls, mut replies) = self.run(Format::OpenAiChat, &answer.to_string()).await;
        assert_eq!((calls.len(), replies.len()), (1, 1));
        (calls.remove(0), replies.remove(0))
    }

    /// Returns the first audit entry of a call.
    pub(crate) fn recorded(&self, reply: &Reply) -> Value {
        let mut found = Value::Null;
        let read = self
            .host
            .audit()
            .read(|entry| {
                if entry.document["call"] == reply.id.as_str() && found.is_null() {
                    found = entry.document;
                }
                Ok(())
            })
            .block_on();
        assert_eq!(read.unwrap().fault, None);
        found
    }
}

/// Builds a model's message with calls: ID, name and arguments. Arguments that are a text are used unchanged.
pub(crate) fn message(format: Format, calls: &[(&str, &str, &Value)]) -> Value {
    let written = |arguments: &Value| match arguments {
        Value::String(text) => Value::from(text.as_str()),
        other => Value::from(other.to_string()),
    };
    let functions = |as_text: bool| -> Vec<Value> {
        let call = |(id, name, arguments): &(&str, &str, &Value)| {
            let arguments = if as_text { written(arguments) } else { (*arguments).clone() };
            json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
        };
        calls.iter().map(call).collect()
    };
    match format {
        Format::OpenAiChat | Format::OpenAiChatStrict | Format::Mistral => {
            json!({ "role": "assistant", "content": null, "tool_calls": functions(true) })
        }
        Format::Ollama => json!({ "role": "assistant", "content": "", "tool_calls": functions(false) }),
        Format::OpenAiResponses | Format::OpenAiResponsesStrict => calls
            .iter()
            .map(|(id, name, arguments)| {
                json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
                    "arguments": written(arguments), "status": "completed" })
            })
            .collect(),
        Format::Anthropic | Format::AnthropicStrict => {
            let blocks = calls
                .iter()
                .map(|(id, name, arguments)| json!({ "type": "tool_use", "id": id, "name": name, "input": arguments }));
            json!({ "role": "assistant", "content": blocks.collect::<Vec<_>>() })
        }
        Format::Gemini | Format::GeminiOpenApi => {
            let parts = calls
                .iter()
                .map(|(id, name, arguments)| json!({ "functionCall": { "id": id, "name": name, "args": arguments } }));
            json!({ "role": "model", "parts": parts.collect::<Vec<_>>() })
        }
        Format::LangChain => {
            let calls = calls
                .iter()
                .map(|(id, name, arguments)| json!({ "name": name, "args": arguments, "id": id, "type": "tool_call" }));
            json!({ "type": "ai", "content": "", "tool_calls": calls.collect::<Vec<_>>(), "invalid_tool_calls": [] })
        }
    }
}
