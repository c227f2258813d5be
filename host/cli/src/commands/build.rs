//! `portcullis build`: builds a project into a component.

use super::Context;
use super::conduct::Interrupts;
use super::making::{self, Making};
use crate::arguments::BuildArguments;
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use crate::wrap::wrapped;
use anyhow::{Context as _, bail};
use portcullis::text::OneLine;
use portcullis_build::{Built, Engine, Language, Project, project_file, size};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

pub(super) async fn run(arguments: &BuildArguments, context: &Context) -> anyhow::Result<Exit> {
    let mut interrupts = Interrupts::listen()?;
    Making::configure(&arguments.making);
    let mut project = Project::open(&arguments.project).code(FailureCode::ProjectInvalid)?;
    if let Some(engine) = &arguments.engine {
        project.engine = named(engine, &project).code(FailureCode::Usage)?;
    }
    let out = arguments.out.clone().unwrap_or_else(|| project.output());
    let begun = Instant::now();
    let Some(built) = making::to_its_end(project.clone(), out, &mut interrupts).await.code(FailureCode::BuildFailed)?
    else {
        bail!(CommandError::new(FailureCode::Interrupted, "interrupted: nothing was built"));
    };
    let imports = imports(&built.file)?;
    let seconds = begun.elapsed().as_secs_f64();
    let text = match context.json {
        true => json::document(
            DocumentKind::Build,
            &json!({
                "name": project.name,
                "file": built.file.display().to_string(),
                "bytes": built.bytes,
                "bytes_before_strip": built.bytes_before_strip,
                "imports": imports,
                "seconds": seconds,
            }),
        )?,
        false => wrapped(&text(&built, &imports, seconds), context.terminal.width()),
    };
    context.terminal.print(&text)?;
    Ok(Exit::Completed)
}

/// Returns the engine that `--engine` names.
fn named(word: &str, project: &Project) -> anyhow::Result<Engine> {
    anyhow::ensure!(
        matches!(project.language, Language::JavaScript | Language::TypeScript),
        "--engine is for JavaScript and TypeScript"
    );
    match word {
        "quickjs" => Ok(Engine::QuickJs),
        "starlingmonkey" => Ok(Engine::StarlingMonkey),
        _ => anyhow::bail!("there is no engine `{}`: use quickjs or starlingmonkey", word.escape_debug()),
    }
}

fn imports(file: &Path) -> anyhow::Result<Vec<String>> {
    let bytes = project_file::read(file, portcullis::plugins::COMPONENT_BYTES_MAX)
        .with_context(|| file.display().to_string())?;
    portcullis::plugins::component_imports(&bytes).context("the toolchain made what is no component")
}

fn text(built: &Built, imports: &[String], seconds: f64) -> String {
    let stripped = built.bytes_before_strip.saturating_sub(built.bytes);
    let file = built.file.display().to_string();
    let mut text = format!("{}: {} in {seconds:.1} s", OneLine(&file), size(built.bytes));
    if stripped > 0 {
        text.push_str(&format!(", {} of names and debug information stripped", size(stripped)));
    }
    text.push('\n');
    for import in imports {
        text.push_str(&format!("  imports {}\n", OneLine(import)));
    }
    text
}
