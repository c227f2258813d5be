//! The plugin `{{name}}`.

use portcullis_sdk::prelude::*;

/// Whom to greet.
#[arguments]
struct Greet {
    /// A person's name.
    name: String,
}

/// Greets a person by name.
#[tool(read_only, idempotent)]
fn greet(arguments: Greet) -> String {
    format!("Hello, {}!", arguments.name)
}

plugin! { name: "{{name}}", description: "Greets people.", tools: [greet] }

#[cfg(test)]
mod tests {
    use portcullis_sdk::Output;
    use portcullis_sdk::testing::{Context, call, problems};

    use super::*;

    #[test]
    fn greets_by_name() {
        let success = call(&PLUGIN, "greet", json!({ "name": "Ada" }), &Context::new()).unwrap();
        assert_eq!(success.output, Output::Text("Hello, Ada!".into()));
    }

    #[test]
    fn a_host_would_load_it() {
        assert_eq!(problems(&PLUGIN), Vec::<String>::new());
    }
}
