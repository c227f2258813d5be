//! What a policy binds to a service key.

use super::BindingError;

/// Calls of a service that one call may make: a handful of queries for each of a few pages.
pub(super) const CALLS: u32 = 100;
/// A call that needs more should ask for more at once.
pub(crate) const CALLS_CEILING: usize = 10_000;
/// The longest name of a service or method, in bytes: as long as all other names.
const SERVICE_NAME_BYTES: usize = 64;

/// A service of the application that embeds the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceBinding {
    /// The name the application gave it.
    pub name: String,
    /// The methods that may be called; empty for all.
    pub methods: Vec<String>,
    /// How many calls of it one call may make.
    pub calls: u32,
}

impl ServiceBinding {
    /// A service with all methods and the calls of a policy that sets none.
    pub(crate) fn new(name: String) -> Self {
        Self { name, methods: Vec::new(), calls: CALLS }
    }

    /// Whether a method may be called.
    pub fn allows(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|granted| granted == method)
    }
}

/// The name of a service or of one of its methods.
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
