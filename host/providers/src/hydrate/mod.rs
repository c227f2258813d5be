//! Converts the answer of a model to calls. Each is parsed, matched to a tool, validated against the authoritative
//! schema, and keeps its origin.

mod arguments;
mod batch;
mod cursor;
mod envelope;
mod error;
mod ids;
mod mend;
mod near;

use crate::definitions::{Defined, Definitions};
use crate::format::Format;
use arguments::Given;
use envelope::RequestedCall;
pub use error::HydrateError;
use mend::Effort;
use portcullis::plugins::{EXPLAIN_TOOL, Tool};
use portcullis::provenance::Provenance;
use portcullis::{BatchedCall, Caller, Code, Host, Request};
use std::borrow::Cow;
use std::sync::Arc;

/// The calls of one answer of a model, in order. It is empty if the model requested none.
#[derive(Clone, Debug)]
pub struct Hydrated {
    /// The format of the answer and of its results.
    pub format: Format,
    /// The calls.
    pub calls: Vec<HydratedCall>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct HydratedCall {
    /// The tool's full name, or the name that the model wrote if no offered tool has it.
    pub tool: String,
    /// The arguments for the host: as the model wrote them, or repaired. Those of a batch have the full names of tools.
    pub arguments: String,
    /// Their origin, and what was done to them.
    pub provenance: Arc<Provenance>,
    /// The SHA-256 of the definition that they were validated against.
    pub definition: Option<[u8; 32]>,
    /// Why it must not run, for the model, if that is already known. The host refuses it for this reason and records
    /// it.
    pub refused: Option<(Code, String)>,
    /// What the model knows of the calls in this one, if it is a call of `tools.batch`.
    pub batched: Option<Vec<BatchedCall>>,
}

impl Definitions {
    /// Parses the calls of an answer: the whole response of the provider, the message in it, or only the list of its
    /// parts, as JSON text.
    ///
    /// A wrong call is included. The host refuses and records it, and the model learns how to correct it. An answer
    /// with several choices is an error, because this function cannot decide which one counts.
    ///
    /// # Errors
    /// The text is not a message in this format, is too large, or requests more calls than a batch permits.
    pub fn hydrate(&self, format: Format, answer: &str, host: &Host) -> Result<Hydrated, HydrateError> {
        let message = envelope::read(format, answer)?;
        let mut effort = Effort::new();
        let shared = ids::shared(&message.calls);
        let calls = message.calls.into_iter().enumerate();
        let calls = calls.map(|(at, asked)| {
            let flaw =
                asked.flaw.map(str::to_owned).or_else(|| ids::flaw(format, asked.id.as_deref(), shared.contains(&at)));
            self.call(format, asked, flaw, host, &mut effort)
        });
        Ok(Hydrated { format, calls: calls.collect() })
    }

    /// Creates one call. It is refused if it has a flaw.
    fn call(
        &self,
        format: Format,
        asked: RequestedCall<'_>,
        flaw: Option<String>,
        host: &Host,
        effort: &mut Effort,
    ) -> HydratedCall {
        let name = asked.name.map(Cow::into_owned).unwrap_or_default();
        let defined = self.known(&name);
        let refused = match (flaw, defined) {
            (Some(why), _) => Some((Code::CallerRefused, why)),
            (None, None) => Some((Code::UnknownTool, near::message(self, &name))),
            (None, Some(_)) => None,
        };
        let tool = defined.map(|defined| &*defined.offer.tool);
        // Without a tool or with a flaw, the host refuses the call whatever its arguments are. So do not repair them.
        let given = Given { format, arguments: asked.arguments, may_be_mended: refused.is_none() };
        let held = arguments::hold(given, tool, host, effort);
        let refused = refused.or_else(|| self.unoffered(tool, &held.arguments));
        let (arguments, batched) = self.name_batched(tool, held.arguments);
        HydratedCall {
            tool: defined.map_or(&name, |defined| &defined.full_name).clone(),
            definition: tool.map(Tool::sha256),
            arguments,
            provenance: Arc::new(Provenance {
                format: format.as_str(),
                id: asked.id.map(Cow::into_owned),
                name,
                raw: held.raw,
                parsed: held.parsed,
                validation: held.validation,
                nulls: held.nulls,
                repairs: held.repairs,
                attempted: held.attempted,
            }),
            refused,
            batched,
        }
    }

    /// Refuses a call that asks to explain a tool that was not offered. A model cannot call such a tool, so it learns
    /// nothing about it.
    fn unoffered(&self, tool: Option<&Tool>, arguments: &str) -> Option<(Code, String)> {
        let _ = tool.filter(|tool| tool.name().to_string() == EXPLAIN_TOOL)?;
        let arguments = arguments::parse(arguments)?;
        let name = arguments.get("tool")?.as_str()?;
        self.known(name).is_none().then(|| (Code::UnknownTool, near::message(self, name)))
    }

    /// Returns the tool that a model may name in this way: by the name that it was given, or by the full name.
    fn known(&self, name: &str) -> Option<&Defined> {
        self.find(name).or_else(|| self.find_full(name))
    }

    /// Returns the tool with this full name. Portable names contain no dot.
    fn find_full(&self, name: &str) -> Option<&Defined> {
        if !name.contains('.') {
            return None;
        }
        self.tools().iter().find(|defined| defined.full_name == name)
    }
}

impl Hydrated {
    /// Makes the requests of a caller for these calls, in their order.
    pub fn requests(&self, caller: &Caller) -> Vec<Request> {
        let request = |call: &HydratedCall| {
            let mut request = caller.request(&*call.tool, &*call.arguments);
            request = request.provenance(Arc::clone(&call.provenance));
            if let Some(sha256) = call.definition {
                request = request.of_definition(sha256);
            }
            if let Some(batched) = &call.batched {
                request = request.batched(batched.clone());
            }
            match &call.refused {
                Some((code, why)) => request.refused(*code, why),
                None => request,
            }
        };
        self.calls.iter().map(request).collect()
    }
}
