//! `portcullis man`: prints the manual page of the program, or writes the pages of all commands.

use super::Context;
use crate::arguments::{self, ManArguments};
use crate::environment;
use crate::exit_code::Exit;
use crate::failure::{FailureCode, WithCode};
use crate::json::{self, DocumentKind};
use anyhow::Context as _;
use clap::Command;
use clap_mangen::Man;
use portcullis::text::OneLine;
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// A manual page.
struct ManPage {
    file: String,
    text: Vec<u8>,
}

pub(super) fn run(arguments: &ManArguments, context: &Context) -> anyhow::Result<Exit> {
    let pages = pages()?;
    if let Some(directory) = &arguments.directory {
        for page in &pages {
            write(directory, page).code(FailureCode::Io)?;
        }
    }
    let text = match (&arguments.directory, context.json) {
        (_, true) => document(&pages)?,
        (Some(directory), false) => {
            let directory = directory.display().to_string();
            format!("{} pages are in {}\n", pages.len(), OneLine(&directory))
        }
        (None, false) => pages.first().map(text_of).unwrap_or_default(),
    };
    context.terminal.print(&text)?;
    Ok(Exit::Completed)
}

fn text_of(page: &ManPage) -> String {
    String::from_utf8_lossy(&page.text).into_owned()
}

fn document(pages: &[ManPage]) -> anyhow::Result<String> {
    let page = |page: &ManPage| json!({ "file": page.file, "text": text_of(page) });
    let pages: Vec<_> = pages.iter().map(page).collect();
    Ok(json::document(DocumentKind::ManPages, &json!({ "pages": pages }))?)
}

/// Returns the pages: first that of the program, then that of each command.
fn pages() -> anyhow::Result<Vec<ManPage>> {
    let mut command = arguments::program();
    // This gives each command its full name.
    command.build();
    let mut pages = Vec::new();
    add(&command, &mut pages)?;
    Ok(pages)
}

fn add(command: &Command, pages: &mut Vec<ManPage>) -> anyhow::Result<()> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push(ManPage { file: man.get_filename(), text });
    command.get_subcommands().filter(|command| !command.is_hide_set()).try_for_each(|command| add(command, pages))
}

fn write(directory: &Path, page: &ManPage) -> anyhow::Result<()> {
    let path = directory.join(&page.file);
    let written = environment::create(&path).and_then(|mut file| file.write_all(&page.text));
    written.with_context(|| path.display().to_string())
}
