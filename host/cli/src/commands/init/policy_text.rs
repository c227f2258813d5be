//! The text of a new policy.

use super::answers::Answers;
use crate::arguments::{InitDecision, WebDecision};
use std::path::Path;
use toml_edit::{Array, Value};

/// The plugins in the project, which no plugin may change.
const PLUGINS: &str = "plugins/**";

/// Returns the policy for a project.
pub(super) fn policy_text(project: &Path, answers: &Answers) -> String {
    let path = project.to_string_lossy();
    let access = match answers.write {
        InitDecision::Allow | InitDecision::Ask => "read-write",
        InitDecision::Deny => "read-only",
    };
    let mut text = format!(
        "# What agents may do in {}. Written by `portcullis init`; change it as you like.\n\
         # Running servers follow this file. `portcullis explain TOOL JSON` says what it decides, and why.\n\
         # What is not allowed here is denied.\n\
         \n\
         [plugin.files.directory.workspace]\n\
         path = {}\n\
         access = \"{access}\"\n\
         hidden = {}   # these files do not exist for any tool\n",
        // A line break in the path would end the comment.
        path.replace(char::is_control, "?"),
        Value::from(&*path),
        list(&answers.hidden),
    );
    if answers.write != InitDecision::Deny {
        let protected = list(&[PLUGINS.to_owned()]);
        text.push_str(&format!(
            "read-only = {protected}   # besides .git/hooks, .github and the others of docs/policy.md\n"
        ));
    }
    rule(&mut text, "files.*", Some("read"), answers.read);
    rule(&mut text, "files.*", Some("write"), answers.write);
    if answers.web == WebDecision::Ask {
        text.push_str(
            "\n# A page of a host that is not in the list needs your approval, which can cover the host from then on.\n\
             [plugin.web]\n\
             http.fetch = { hosts = [], narrow = \"/url\", unnamed = \"ask\" }\n",
        );
        rule(&mut text, "web.*", None, InitDecision::Allow);
    }
    text.push_str(
        "\n# Notes of the agent, in the host's own database.\n\
         [plugin.todo]\n\
         store.items = { scope = \"session\" }\n\
         \n\
         [plugin.memory]\n\
         store.notes = { scope = \"plugin\", keys = 1000, value-bytes = \"16 KiB\", bytes = \"1 MiB\" }\n",
    );
    rule(&mut text, "todo.*", None, InitDecision::Allow);
    rule(&mut text, "memory.*", None, InitDecision::Allow);
    text.push_str(
        "\n# Code that a model writes. It has no rights of its own: each tool that it calls is decided by these rules.\n\
         [plugin.script]\n\
         tools.tools = { tools = [\"{files,web,todo,memory}.*\"], calls = 50 }\n",
    );
    rule(&mut text, "script.*", None, InitDecision::Allow);
    text
}

fn rule(text: &mut String, tool: &str, permission: Option<&str>, decision: InitDecision) {
    let decision = match decision {
        InitDecision::Allow => "allow",
        InitDecision::Ask => "ask",
        // The default of the policy denies, so this needs no rule.
        InitDecision::Deny => return,
    };
    let permission = permission.map(|permission| format!("permission = \"{permission}\"\n")).unwrap_or_default();
    text.push_str(&format!("\n[[rule]]\ntool = \"{tool}\"\n{permission}decision = \"{decision}\"\n"));
}

fn list(texts: &[String]) -> String {
    texts.iter().map(String::as_str).collect::<Array>().to_string().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::InitArguments;
    use portcullis::policy::Policy;

    #[test]
    fn every_set_of_answers_makes_a_valid_policy() {
        let decisions = [InitDecision::Allow, InitDecision::Ask, InitDecision::Deny];
        for (read, write) in decisions.iter().flat_map(|read| decisions.iter().map(move |write| (*read, *write))) {
            for web in [WebDecision::Ask, WebDecision::Deny] {
                let answers = Answers { read, write, web, ..Answers::of_arguments(&InitArguments::default()) };
                for project in ["/home/ann/app", "/a \"b\"/c\\d/é", "/x'y"] {
                    let text = policy_text(Path::new(project), &answers);
                    let policy = Policy::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                    let files = "files".parse().unwrap();
                    let places: Vec<_> = policy.bindings(&files).values().flat_map(|one| one.places()).collect();
                    assert_eq!(places[0].1, project, "{text}");
                }
            }
        }
    }
}
