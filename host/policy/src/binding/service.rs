//! What a policy binds to a service key.

use super::BindingError;
use super::describe::plain;
use super::kind::{BindingKind, KindFacts};
use super::place::GrantPlaceKind;
use crate::pointer::Pointer;

/// What is true of every service.
pub(super) const FACTS: KindFacts = KindFacts {
    name: "service",
    noun: "the service",
    permissions: None,
    blank: "NAME",
    example: |name, _| format!("{{ name = \"{name}\" }}"),
};

/// Default maximum of service calls in one call: a few queries for each of a few pages.
const CALLS: u32 = 100;
/// A call that needs more should request more data at once.
pub(crate) const CALLS_CEILING: usize = 10_000;
/// Maximum bytes of the name of a service or method, as for other names.
const SERVICE_NAME_BYTES: usize = 64;

/// A service of the application that embeds the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceBinding {
    /// The name that the application registered.
    pub name: String,
    /// The methods that may be called. If it is empty, all may be called.
    pub methods: Vec<String>,
    /// Maximum service calls in one call.
    pub calls: u32,
}

impl ServiceBinding {
    /// Creates a binding with all methods and the default number of calls.
    pub(crate) fn new(name: String) -> Self {
        Self { name, methods: Vec::new(), calls: CALLS }
    }

    /// Returns whether the method may be called.
    pub fn allows(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|granted| granted == method)
    }
}

impl BindingKind for ServiceBinding {
    fn describe(&self) -> Vec<String> {
        let mut parts = vec![format!("the service {}", plain(&self.name))];
        if !self.methods.is_empty() {
            let methods: Vec<String> = self.methods.iter().map(|method| plain(method)).collect();
            parts.push(format!("methods {}", methods.join(" ")));
        }
        if self.calls != CALLS {
            parts.push(format!("calls {}", self.calls));
        }
        parts
    }

    fn narrow(&self) -> Option<&Pointer> {
        None
    }

    fn places(&self) -> Vec<(GrantPlaceKind, &str)> {
        Vec::new()
    }
}

/// Parses the name of a service or of one of its methods.
pub(crate) fn read_service_name(text: &str) -> Result<String, BindingError> {
    let spelt = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    let sound = spelt && (1..=SERVICE_NAME_BYTES).contains(&text.len());
    if sound { Ok(text.to_owned()) } else { Err(BindingError::ServiceName) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_services_are_plain() {
        assert_eq!(read_service_name("search-index").unwrap(), "search-index");
        for text in ["", "a b", "a/b", "é", "a\n", &"a".repeat(SERVICE_NAME_BYTES + 1)] {
            assert_eq!(read_service_name(text), Err(BindingError::ServiceName), "{text:?}");
        }
    }

    #[test]
    fn only_the_methods_that_are_named_may_be_called() {
        let all = ServiceBinding::new("a".to_owned());
        let one = ServiceBinding { methods: vec!["query".to_owned()], ..all.clone() };
        assert!(all.allows("drop") && one.allows("query") && !one.allows("drop") && !one.allows("Query"));
    }
}
