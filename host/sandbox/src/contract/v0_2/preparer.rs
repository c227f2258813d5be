//! The interface `preparer`. Its types are written by hand, because it is an optional export.

use portcullis_definitions::manifest::{self, ToolCaller};
use wasmtime::component::{ComponentType, Lift, Lower};

/// The result of `prepare`.
pub(in crate::contract) type Prepared = (Vec<Preparation>,);

/// `caller`.
#[derive(Clone, ComponentType, Lower)]
#[component(record)]
pub(in crate::contract) struct Caller {
    session: String,
    principal: String,
    client: Option<String>,
    model: Option<String>,
    automated: bool,
}

impl From<&ToolCaller> for Caller {
    fn from(caller: &ToolCaller) -> Self {
        let ToolCaller { session, principal, client, model, automated } = caller.clone();
        Self { session, principal, client, model, automated }
    }
}

/// `preparation`.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(in crate::contract) struct Preparation {
    tool: String,
    availability: Availability,
}

/// `availability`.
#[derive(ComponentType, Lift)]
#[component(variant)]
pub(in crate::contract) enum Availability {
    #[component(name = "hidden")]
    Hidden(String),
    #[component(name = "narrowed")]
    Narrowed(Narrowing),
}

/// `narrowing`.
#[derive(ComponentType, Lift)]
#[component(record)]
pub(in crate::contract) struct Narrowing {
    description: Option<String>,
    schema: Option<String>,
}

impl From<Preparation> for manifest::Preparation {
    fn from(Preparation { tool, availability }: Preparation) -> Self {
        let availability = match availability {
            Availability::Hidden(reason) => manifest::Availability::Hidden(reason),
            Availability::Narrowed(Narrowing { description, schema }) => {
                manifest::Availability::Narrowed(manifest::Narrowing { description, schema })
            }
        };
        Self { tool, availability }
    }
}
