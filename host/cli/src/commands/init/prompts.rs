//! The questions at the terminal. Enter takes the default, which is the upper-case letter.

use super::answers::Answers;
use super::places::InitPlaces;
use crate::arguments::{InitArguments, InitDecision, WebDecision};
use crate::context::Context;
use crate::style::TextStyle;
use crate::tty::Tty;
use anyhow::bail;
use portcullis::policy::Mask;
use portcullis::text::OneLine;

/// Asks the questions that the command line does not answer.
///
/// # Errors
/// The terminal was closed.
pub(super) async fn ask(places: &InitPlaces, arguments: &InitArguments, context: &Context) -> anyhow::Result<Answers> {
    let mut answers = Answers::of_arguments(arguments);
    let style = context.terminal.note_style();
    let project = places.project.display().to_string();
    context.terminal.note(format_args!("Setting up {}\n", style.paint(TextStyle::Strong, OneLine(&project))));
    if arguments.read.is_none() {
        let what = "1/4  May agents read the files of this directory?  [Y]es, [a]sk each time, [n]o: ";
        answers.read = choice(context, what, &DECISIONS, InitDecision::Allow).await?;
    }
    if arguments.write.is_none() {
        let what = "2/4  May agents change its files?                  [y]es, [A]sk each time, [n]o: ";
        answers.write = choice(context, what, &DECISIONS, InitDecision::Ask).await?;
    }
    if arguments.hide.is_empty() {
        answers.hidden = hidden(context, answers.hidden).await?;
    }
    if arguments.web.is_none() {
        let what = "4/4  May agents fetch web pages?                   [A]sk for each new host, [n]o: ";
        answers.web = choice(context, what, &WEB_DECISIONS, WebDecision::Ask).await?;
    }
    context.terminal.note("");
    Ok(answers)
}

/// The letters of the answers.
const DECISIONS: [(&str, InitDecision); 3] =
    [("y", InitDecision::Allow), ("a", InitDecision::Ask), ("n", InitDecision::Deny)];

/// The letters of the answers about the web.
const WEB_DECISIONS: [(&str, WebDecision); 2] = [("a", WebDecision::Ask), ("n", WebDecision::Deny)];

/// Asks whether to go on. Enter is yes.
///
/// # Errors
/// The terminal was closed.
pub(super) async fn confirmed(context: &Context, prompt: &str) -> anyhow::Result<bool> {
    choice(context, prompt, &[("y", true), ("n", false)], true).await
}

/// Asks until the answer is one of the letters, a word that begins with one, or Enter for the default.
async fn choice<T: Copy>(context: &Context, prompt: &str, choices: &[(&str, T)], default: T) -> anyhow::Result<T> {
    loop {
        let answer = line(context, prompt).await?.to_ascii_lowercase();
        if answer.is_empty() {
            return Ok(default);
        }
        let is_word =
            |(letter, _): &&(&str, T)| matches!(answer.as_str(), "yes" | "no" | "ask") && answer.starts_with(letter);
        if let Some((_, choice)) =
            choices.iter().find(|(letter, _)| answer == *letter).or_else(|| choices.iter().find(is_word))
        {
            return Ok(*choice);
        }
        let letters: Vec<&str> = choices.iter().map(|(letter, _)| *letter).collect();
        context.terminal.note(format_args!("     Type {}, or press Enter.", letters.join(" or ")));
    }
}

/// Asks for the patterns of hidden files.
async fn hidden(context: &Context, default: Vec<String>) -> anyhow::Result<Vec<String>> {
    let shown = default.join(" ");
    context.terminal.note(format_args!("3/4  Always hidden from agents: {}", OneLine(&shown)));
    loop {
        let answer =
            line(context, "     Press Enter, or type the patterns that you want instead, with spaces: ").await?;
        if answer.is_empty() {
            return Ok(default);
        }
        let patterns: Vec<String> = answer.split_whitespace().map(str::to_owned).collect();
        match patterns.iter().find_map(|pattern| Some((pattern, Mask::new(pattern).err()?))) {
            None => return Ok(patterns),
            Some((pattern, error)) => {
                let told = format!("     {pattern}: {error}: {}", error.remedy());
                context.terminal.note(OneLine(&told));
            }
        }
    }
}

/// Asks for one line.
async fn line(context: &Context, prompt: &str) -> anyhow::Result<String> {
    let tty = Tty::open()?;
    tty.forget_typed()?;
    context.terminal.say(prompt);
    match tty.line().await? {
        // Enter means the default, so the end of the input must not look like Enter.
        Some(line) if line.ends_with('\n') => Ok(line.trim().to_owned()),
        Some(_) | None => {
            context.terminal.say("\n");
            bail!("the input of the terminal ended: nothing was changed")
        }
    }
}
