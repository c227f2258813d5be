//! The questions of `init` and its confirmations, at a real terminal.

use crate::binary::installed::Installed;
use std::fs;

#[test]
fn enter_takes_the_defaults() {
    let installed = Installed::new();
    fs::create_dir(installed.home(".claude")).unwrap();
    let mut session = installed.session("init");
    for prompt in ["[n]o: ", "[n]o: ", "with spaces: ", "[n]o: "] {
        session.until(prompt);
        session.types("\n");
    }
    let shown = session.until("Write this? [Y/n] ");
    assert!(shown.contains("+++ .mcp.json") && shown.contains("+decision = \"ask\""), "{shown}");
    assert!(!installed.project(".mcp.json").exists() && !installed.home(".config").exists());
    session.types("\n");
    assert!(session.ends(0).contains("src/"));
    let policy = fs::read_to_string(installed.policy()).unwrap();
    let asked = Installed::new();
    asked.run(&["init", "--yes", "--no-clients"]).ends(0);
    let home = |text: String, installed: &Installed| text.replace(&installed.home("").display().to_string(), "HOME");
    assert_eq!(home(policy, &installed), home(fs::read_to_string(asked.policy()).unwrap(), &asked));
}

#[test]
fn answers_decide_and_unclear_ones_are_asked_again() {
    let installed = Installed::new();
    let mut session = installed.session("init --no-clients");
    session.until("[n]o: ");
    session.types("maybe\n");
    session.until("Type y or a or n, or press Enter.");
    session.until("[n]o: ");
    session.types("ask\n");
    session.until("[n]o: ");
    session.types("n\n");
    session.until("with spaces: ");
    session.types("../x\n");
    session.until("`..` segment");
    session.until("with spaces: ");
    session.types("*.sql notes/**\n");
    session.until("[n]o: ");
    session.types("n\n");
    session.until("Write this? [Y/n] ");
    session.types("y\n");
    session.ends(0);
    let policy = fs::read_to_string(installed.policy()).unwrap();
    for line in
        ["access = \"read-only\"", "hidden = [\"*.sql\", \"notes/**\"]", "permission = \"read\"\ndecision = \"ask\""]
    {
        assert!(policy.contains(line), "{line}: {policy}");
    }
    assert!(!policy.contains("plugin.web"), "{policy}");
}

#[test]
fn a_no_at_the_end_changes_nothing() {
    let installed = Installed::new();
    let before = installed.files();
    for keys in ["n\n", "\u{4}"] {
        let mut session = installed.session("init");
        for prompt in ["[n]o: ", "[n]o: ", "with spaces: ", "[n]o: "] {
            session.until(prompt);
            session.types("\n");
        }
        session.until("Write this? [Y/n] ");
        session.types(keys);
        session.ends(if keys == "n\n" { 3 } else { 2 });
        assert!(installed.files() == before);
    }
}

#[test]
fn undo_asks_and_removes_an_edited_policy_only_after_a_yes() {
    for (answer, stays) in [("\n", true), ("y\n", false)] {
        let installed = Installed::new();
        installed.run(&["init", "--yes"]).ends(0);
        let policy = installed.policy();
        fs::write(&policy, fs::read_to_string(&policy).unwrap() + "# mine\n").unwrap();
        let mut session = installed.session("init --undo");
        assert!(session.until("Take this back? [Y/n] ").contains(&policy.display().to_string()));
        session.types("\n");
        session.until("Remove it too? [y/N] ");
        session.types(answer);
        session.ends(0);
        assert_eq!(policy.is_file(), stays);
    }
}
