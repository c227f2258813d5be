//! `portcullis new`: creates a project with one tool.

use super::Context;
use crate::arguments::NewArguments;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use portcullis::policy::PluginName;
use portcullis_build::Language;
use serde_json::json;
use std::path::Path;

pub(super) fn run(arguments: &NewArguments, context: &Context) -> anyhow::Result<Exit> {
    let language = Language::parse(&arguments.lang).code(FailureCode::Usage)?;
    let is_reserved = PluginName::new(&arguments.name).is_ok_and(|name| portcullis::plugins::is_reserved(&name));
    let reserved = || CommandError::new(FailureCode::Usage, "this name is reserved for the host's own tools");
    anyhow::ensure!(!is_reserved, reserved().help("choose another name"));
    portcullis_build::create(Path::new("."), &arguments.name, language).code(FailureCode::ProjectInvalid)?;
    let name = &arguments.name;
    let text = match context.json {
        true => json::document(
            DocumentKind::NewProject,
            &json!({ "name": name, "language": language.name(), "folder": name }),
        )?,
        false => format!(
            "{name}: a plugin in {}, with one tool\n\n  cd {name}\n  portcullis build\n  portcullis test\n  portcullis call \
             {name}.greet '{{\"name\":\"Ada\"}}' --policy portcullis.toml\n",
            language.name()
        ),
    };
    context.terminal.print(&text)?;
    Ok(Exit::Completed)
}
