//! From what a model answered to calls: each parsed, matched, held to the authoritative schema, and with its origin.

mod arguments;
mod cursor;
mod envelope;
mod ids;
mod mend;
mod near;

use crate::definitions::{Defined, Definitions};
use crate::format::Format;
use arguments::Given;
use envelope::Asked;
use mend::Effort;
use portcullis::plugins::{EXPLAIN_TOOL, Tool};
use portcullis::provenance::Provenance;
use portcullis::{Caller, Code, Host, Request};
use std::borrow::Cow;
use std::sync::Arc;

/// Why a provider's answer has no calls that could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HydrateError {
    /// It is larger than any answer of a model.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// It is no JSON, or not a message of this format.
    #[error("the answer is no message of the format {format}: {why}")]
    Form {
        /// The format.
        format: Format,
        /// What is wrong, in words.
        why: String,
    },
    /// It asks for more calls than a batch takes.
    #[error("the answer asks for {0} calls at once")]
    TooMany(usize),
}

/// The calls of one answer of a model, in its order. None where it asked for none.
#[derive(Clone, Debug)]
pub struct Hydrated {
    /// The format that it came in, and that results go back in.
    pub format: Format,
    /// The calls.
    pub calls: Vec<HydratedCall>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct HydratedCall {
    /// The tool's full name; what the model wrote, where no tool that it was offered has such a name.
    pub tool: String,
    /// The arguments as the host gets them: as they came, or as they became.
    pub arguments: String,
    /// Where they come from, and what was done to them.
    pub provenance: Arc<Provenance>,
    /// The definition that they were held to, by its SHA-256.
    pub definition: Option<[u8; 32]>,
    /// Why it must not be made, for the model, where that is known already. The host says so too, and records it.
    pub refused: Option<(Code, String)>,
}

impl Definitions {
    /// The calls that an answer asks for: the whole response of the provider, or the message in it, or the list of its
    /// parts alone, as JSON text.
    ///
    /// A call that is wrong is one of them: the host refuses and records it, and the model learns what to mend. An
    /// answer with several choices is an error: which one counts is not for a reader to say.
    ///
    /// # Errors
    /// The text is no message of this format, too large, or asks for more calls than a batch takes.
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

    /// One call, which is refused where it has a flaw.
    fn call(
        &self,
        format: Format,
        asked: Asked<'_>,
        flaw: Option<String>,
        host: &Host,
        effort: &mut Effort,
    ) -> HydratedCall {
        let name = asked.name.map(Cow::into_owned).unwrap_or_default();
        let defined = self.find(&name).or_else(|| self.find_full(&name));
        let refused = match (flaw, defined) {
            (Some(why), _) => Some((Code::CallerRefused, why)),
            (None, None) => Some((Code::UnknownTool, near::message(self, &name))),
            (None, Some(_)) => None,
        };
        let tool = defined.map(|defined| &*defined.offer.tool);
        let given = Given { format, arguments: asked.arguments, may_be_mended: refused.is_none() };
        let held = arguments::hold(given, tool, host, effort);
        let refused = refused.or_else(|| self.unoffered(tool, &held.arguments));
        HydratedCall {
            tool: defined.map_or(&name, |defined| &defined.full_name).clone(),
            definition: tool.map(Tool::sha256),
            arguments: held.arguments,
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
        }
    }

    /// Why a call must not be made that wants another one explained. A model cannot call a tool that it was not
    /// offered, so it learns nothing about one.
    fn unoffered(&self, tool: Option<&Tool>, arguments: &str) -> Option<(Code, String)> {
        let _ = tool.filter(|tool| tool.name().to_string() == EXPLAIN_TOOL)?;
        let arguments = portcullis::parse_json(arguments).ok()?;
        let name = arguments.get("tool")?.as_str()?;
        let known = self.find(name).or_else(|| self.find_full(name));
        known.is_none().then(|| (Code::UnknownTool, near::message(self, name)))
    }

    /// The tool whose full name it is: no portable name has a point in it.
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
            match &call.refused {
                Some((code, why)) => request.refused(*code, why),
                None => request,
            }
        };
        self.calls.iter().map(request).collect()
    }
}
