//! The plugin, as far as a guest goes.

use self::bindings::exports::portcullis::tool::{handler, reviewer};
use self::bindings::portcullis::tool::context;
use self::bindings::portcullis::tool::types::{
    Blob, Definition, Dependency, DependencyKind, Failure, Hints, Manifest, Outage, Output, Part, Permissions, Success,
    Verdict,
};
use serde_json::{Value, json};
use std::fs;

mod bindings {
    wit_bindgen::generate!({
        path: "../../../wit/v0.2",
        world: "reviewing-plugin",
        generate_all,
    });
}

/// The path of the directory that the policy binds to `workspace`.
const WORKSPACE: &str = "/workspace";

struct Courier;

#[expect(unsafe_code, reason = "the exports are generated")]
mod exports {
    use super::{Courier, bindings};
    bindings::export!(Courier with_types_in bindings);
}

impl handler::Guest for Courier {
    fn describe() -> Manifest {
        let schema = json!({
            "type": "object",
            "properties": {
                "file": {"type": "string", "description": "The name of a file."},
                "seconds": {"type": "integer", "minimum": 0, "description": "When the courier is back."},
            },
            "additionalProperties": false,
        });
        let definition = |name: &str, description: &str, required: Permissions| Definition {
            name: name.to_owned(),
            title: None,
            description: description.to_owned(),
            schema: schema.to_string(),
            output_schema: None,
            required,
            optional: Permissions::empty(),
            hints: Hints::READ_ONLY,
        };
        Manifest {
            name: "courier".to_owned(),
            version: "0.2.0".to_owned(),
            description: "Brings files.".to_owned(),
            tools: vec![
                definition("bring", "Brings a file of the workspace, under its name.", Permissions::READ),
                definition("wait", "Is away, and says until when.", Permissions::empty()),
                definition("whoami", "Says which call this is.", Permissions::empty()),
            ],
            dependencies: vec![Dependency {
                key: "workspace".to_owned(),
                kind: DependencyKind::Directory,
                optional: true,
                reason: "to bring files from".to_owned(),
            }],
        }
    }

    fn execute_raw(tool: String, arguments: String) -> Result<Success, Failure> {
        let arguments: Value =
            serde_json::from_str(&arguments).map_err(|error| Failure::InvalidArguments(error.to_string()))?;
        match tool.as_str() {
            "bring" => bring(arguments["file"].as_str().unwrap_or_default()),
            "wait" => Err(wait(&arguments["seconds"])),
            "whoami" => {
                let call = context::current();
                Ok(success(Output::Json(json!({"session": call.session, "agent": call.agent}).to_string())))
            }
            other => Err(Failure::Failed(format!("there is no tool {other}"))),
        }
    }
}

impl reviewer::Guest for Courier {
    fn review(tool: String, arguments: String) -> Verdict {
        match (tool.as_str(), arguments.contains(".key")) {
            ("bring", true) => Verdict::Refuse("keys are not brought".to_owned()),
            _ => Verdict::Clear,
        }
    }
}

fn bring(file: &str) -> Result<Success, Failure> {
    let data = fs::read(format!("{WORKSPACE}/{file}")).map_err(|error| Failure::Failed(error.to_string()))?;
    let blob = Blob { name: Some(file.to_owned()), media_type: "application/octet-stream".to_owned(), data };
    Ok(success(Output::Parts(vec![Part::Text("Here it is.".to_owned()), Part::File(blob)])))
}

fn wait(seconds: &Value) -> Failure {
    let retry_after_seconds = seconds.as_u64().map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX));
    Failure::Unavailable(Outage { message: "The courier is away.".to_owned(), retry_after_seconds })
}

fn success(output: Output) -> Success {
    Success { title: None, output, metadata: None }
}
