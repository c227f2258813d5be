//! `portcullis server`: servers are added, listed, replaced and removed from the command line.

use crate::schema::assert_valid;
use crate::servers::desk::{PROGRAM, definition};
use crate::servers::user::User;
use portcullis_tests::Ran;
use serde_json::{Value, json};
use std::fs;

/// Returns the names of the tools of a document of `server add`.
fn tools(document: &Value) -> Vec<&str> {
    document["start"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn publish(user: &User) {
    user.registry.publish("notes", "1.0.0", &json!([definition("echo", "Says its version.")]), &json!({}));
    user.registry.publish("tiny", "2.0.0", &json!([]), &json!({}));
    let tools = json!([definition("echo", "Now reads ~/.ssh first."), definition("more", "New.")]);
    user.registry.publish("notes", "1.1.0", &tools, &json!({ "tiny": "2.0.0" }));
}

#[test]
fn a_program_is_added_listed_called_and_removed() {
    let user = User::new();
    user.write("app/work/tools.json", &json!([definition("echo", "Does what the call says.")]).to_string());
    let add = [
        "server",
        "add",
        "desk",
        "--directory",
        "work=work:rw",
        "--env",
        "LANG=C.UTF-8",
        "--env",
        "T=env:TOKEN",
        "--yes",
        "--",
        PROGRAM,
        "--quiet",
    ];
    let ran = user.command().args(add).env("TOKEN", "canary-of-a-token").output().unwrap();
    let ran = Ran::from(ran).ends(0);
    for told in
        ["+[server.desk]", "desk starts and lists 1 tool", "desk.echo", "execute", "`portcullis allow desk.echo`"]
    {
        assert!(ran.out.contains(told), "{told}: {}", ran.out);
    }
    let work = user.home("app/work").display().to_string();
    let section = format!(
        "# mine\n\n[server.desk]\ncommand = [{PROGRAM:?}, \"--quiet\"]\ndirectory.work = {{ path = {work:?}, access = \
         \"read-write\" }}\nenvironment = {{ LANG = \"C.UTF-8\", T = \"env:TOKEN\" }}\n"
    );
    assert_eq!(user.policy(), section);
    let listed = user.run(&["server", "list"]).ends(0).out;
    for told in ["desk", "--quiet", "read-write", "LANG: in the policy", "T: env:TOKEN", "none"] {
        assert!(listed.contains(told), "{told}: {listed}");
    }
    assert!(!listed.contains("C.UTF-8") && !listed.contains("canary"), "{listed}");
    let listed = user.run(&["server", "list", "--try", "--json"]).ends(0).document();
    let start = &listed["servers"][0]["start"];
    assert_eq!(start["starts"], false, "the variable is missing: {listed}");
    assert!(start["problems"][0].as_str().unwrap().contains('T'), "{listed}");
    let call = user
        .command()
        .args(["call", "desk.echo", r#"{"text":"x"}"#])
        .env("TOKEN", "canary-of-a-token")
        .output()
        .unwrap();
    Ran::from(call).ends(4);
    let removed = user.run(&["server", "remove", "desk", "--yes"]).ends(0);
    assert!(removed.out.contains("-[server.desk]"), "{}", removed.out);
    assert_eq!(user.policy(), "# mine\n");
    user.run(&["server", "remove", "desk", "--yes"]).ends(2);
}

#[test]
fn a_package_is_added_replaced_and_removed() {
    let user = User::new();
    publish(&user);
    let added = user.run(&[
        "server",
        "add",
        "notes",
        "npm:notes@1.0.0",
        "--argument",
        "--a",
        "--env",
        "MODE=b",
        "--yes",
        "--json",
    ]);
    let added = added.ends(0).document();
    assert_valid("server-add", &added);
    assert_eq!((tools(&added), &added["package"]["spec"]), (vec!["notes.echo"], &json!("npm:notes@1.0.0")));
    assert_eq!(added["start"]["tools"][0]["decision"], "ask");
    user.run(&["allow", "notes.echo", "--yes"]).ends(0);
    assert_eq!(user.run(&["call", "notes.echo"]).ends(0).out.trim(), "1.0.0 --a b");
    let listed = user.run(&["server", "list", "--json"]).ends(0).document();
    assert_valid("server-list", &listed);
    assert_eq!(listed["servers"][0]["package"]["tree_sha256"], added["package"]["tree_sha256"]);

    let replaced = user.run(&["server", "add", "notes", "npm:notes@1.1.0", "--replace", "--yes"]).ends(0).out;
    for told in [
        "npm:notes@1.0.0 -> npm:notes@1.1.0",
        "+ tiny 2.0.0",
        "-package = \"npm:notes@1.0.0\"",
        "+package = \"npm:notes@1.1.0\"",
        "changed notes.echo",
        "Now reads ~/.ssh first.",
        "new notes.more",
        "`portcullis accept notes`",
    ] {
        assert!(replaced.contains(told), "{told}: {replaced}");
    }
    assert_eq!(user.packages(), 1, "the old version is removed");
    // The old definition stays in force, so each call of the changed tool asks. The new tool cannot be called.
    user.run(&["call", "notes.echo"]).ends(4);
    let refused = user.run(&["call", "notes.more"]).ends(7).err;
    assert!(refused.contains("`portcullis server list --try` shows why") && !refused.contains("warning"), "{refused}");
    user.run(&["accept", "notes", "--yes"]).ends(0);
    assert_eq!(user.run(&["call", "notes.echo"]).ends(0).out.trim(), "1.1.0 --a b");
    let removed = user.run(&["server", "remove", "notes", "--yes", "--json"]).ends(0).document();
    assert_eq!(removed["removed_package"], "npm:notes@1.1.0");
    assert!(removed["notes"][0].as_str().unwrap().contains("rules that name notes stay"), "{removed}");
    assert_eq!(user.packages(), 0);
}

#[test]
fn a_package_of_the_registry_is_added_replaced_and_called() {
    let user = User::new();
    let run = |arguments: &[&str]| Ran::from(user.online().args(arguments).output().unwrap());
    let package = |version: &str| format!("npm:@modelcontextprotocol/server-sequential-thinking@{version}");
    let added = run(&["server", "add", "think", &package("2026.7.4"), "--yes", "--json"]).ends(0).document();
    assert_eq!(tools(&added), ["think.sequentialthinking"], "{added}");
    run(&["allow", "think.*", "--yes"]).ends(0);
    let thought = json!({ "thought": "a", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1 });
    let called = run(&["call", "think.sequentialthinking", &thought.to_string()]).ends(0).out;
    assert!(called.contains("thoughtHistoryLength"), "{called}");
    let replaced =
        run(&["server", "add", "think", &package("2026.8.31"), "--replace", "--yes", "--json"]).ends(0).document();
    assert_valid("server-add", &replaced);
    assert_eq!(replaced["package"]["update"]["new"], package("2026.8.31").as_str(), "{replaced}");
    let listed = run(&["server", "list", "--try", "--json"]).ends(0).document();
    assert_eq!(listed["servers"][0]["start"]["starts"], true, "{listed}");
}

#[test]
fn a_package_that_another_policy_names_stays() {
    let user = User::new();
    publish(&user);
    user.run(&["server", "add", "notes", "npm:notes@1.0.0", "--yes"]).ends(0);
    user.write(".config/portcullis/projects/other.toml", "[server.o]\npackage = \"npm:notes@1.0.0\"\n");
    let removed = user.run(&["server", "remove", "notes", "--yes", "--json"]).ends(0).document();
    assert_eq!((&removed["removed_package"], user.packages()), (&Value::Null, 1));
}

#[test]
fn missing_and_damaged_packages_are_installed() {
    let user = User::new();
    publish(&user);
    let section = "[server.notes]\npackage = \"npm:notes@1.0.0\"\n[server.desk]\ncommand = [\"/bin/true\"]\n";
    user.write("policy.toml", section);
    let listed = user.run(&["server", "list"]).ends(0).out;
    assert!(listed.contains("run `portcullis server install notes`"), "{listed}");
    let ran = user.run(&["server", "install", "--json"]).ends(0);
    assert_valid("server-install", &ran.document());
    assert_eq!(ran.document()["servers"][0]["installed"], true);
    assert!(ran.err.contains("installing npm:notes@1.0.0"), "{}", ran.err);
    assert_eq!(user.run(&["server", "install", "--json"]).ends(0).document()["servers"][0]["installed"], false);
    let folder = fs::read_dir(user.site.state().join("servers/packages")).unwrap().map(|entry| entry.unwrap().path());
    let folder = folder.into_iter().find(|path| path.is_dir()).unwrap();
    let script = folder.join("node_modules/notes/server.js");
    let mut permissions = fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    fs::set_permissions(&script, permissions).unwrap();
    fs::write(&script, "evil").unwrap();
    assert_eq!(user.run(&["server", "install", "--json"]).ends(0).document()["servers"][0]["installed"], true);
    assert_ne!(fs::read_to_string(&script).unwrap(), "evil");
    user.run(&["server", "install", "nowhere"]).ends(2);
}

#[test]
fn names_that_are_taken_are_refused() {
    let user = User::new();
    publish(&user);
    user.write("policy.toml", "[server.notes]\ncommand = [\"/bin/true\"]\n");
    let before = user.policy();
    for (name, told) in [
        ("notes", "line 1 already has a section for notes"),
        ("good", "a plugin has the name good already"),
        ("tools", "the host keeps the name tools"),
    ] {
        let said = user.run(&["server", "add", name, "npm:notes@1.0.0", "--yes"]).ends(2).err;
        assert!(said.contains(told), "{told}: {said}");
    }
    for (name, package, told) in [
        ("other", "npm:notes@1.0.0", "the policy has no server other"),
        ("notes", "npm:notes@1.0.0", "is not started from a package"),
    ] {
        let said = user.run(&["server", "add", name, package, "--replace", "--yes"]).ends(2).err;
        assert!(said.contains(told), "{told}: {said}");
    }
    assert_eq!((user.policy(), user.packages()), (before, 0));
}

#[test]
fn another_package_is_no_replacement() {
    let user = User::new();
    publish(&user);
    user.run(&["server", "add", "notes", "npm:notes@1.0.0", "--yes"]).ends(0);
    let before = user.policy();
    let said = user.run(&["server", "add", "notes", "npm:tiny@2.0.0", "--replace", "--yes"]).ends(2).err;
    assert!(said.contains("npm:tiny@2.0.0 is another package than npm:notes@1.0.0"), "{said}");
    assert_eq!((user.policy(), user.packages()), (before, 1));
}

#[test]
fn nothing_is_written_or_started_without_consent() {
    let user = User::new();
    publish(&user);
    let said = user.run(&["server", "add", "notes", "npm:notes@1.0.0"]).ends(2).err;
    assert!(said.contains("--yes"), "{said}");
    let marker = user.home("app/started");
    let touch = format!("touch {}", marker.display());
    user.run(&["server", "add", "sh", "--directory", "w=.:rw", "--", "/bin/sh", "-c", &touch]).ends(2);
    assert_eq!((user.policy().as_str(), marker.exists()), ("# mine\n", false));
}

#[test]
fn a_person_who_says_no_keeps_the_policy_and_no_package() {
    let user = User::new();
    publish(&user);
    let mut session = user.session("server add notes npm:notes@1.0.0");
    let shown = session.until("start it once? [y/N] ");
    assert!(shown.contains("+[server.notes]") && !shown.contains("notes.echo"), "{shown}");
    session.types("n\n");
    assert!(session.ends(3).contains("nothing was changed"));
    assert_eq!((user.policy().as_str(), user.packages()), ("# mine\n", 0));
    let mut session = user.session("server add notes npm:notes@1.0.0");
    session.until("start it once? [y/N] ");
    session.types("y\n");
    assert!(session.ends(0).contains("notes.echo"));
    assert!(user.policy().contains("[server.notes]"));
}

#[test]
fn a_directory_that_does_not_exist_is_not_written() {
    let user = User::new();
    let said = user.run(&["server", "add", "desk", "--directory", "w=nowhere", "--yes", "--", "/bin/true"]).ends(2).err;
    assert!(said.contains("desk.w"), "{said}");
    user.run(&["server", "add", "desk", "--yes", "--", "true"]).ends(2);
    assert_eq!(user.policy(), "# mine\n");
}

#[test]
fn a_server_that_does_not_start_is_reported_with_its_reason() {
    let user = User::new();
    let ran = user.run(&["server", "add", "desk", "--yes", "--", PROGRAM, "fail"]).ends(7);
    assert!(ran.out.contains("desk does not start") && ran.out.contains("the token is missing"), "{}", ran.out);
    assert!(user.policy().contains("[server.desk]"));
}

#[test]
fn no_secret_is_taken_into_the_policy() {
    let user = User::new();
    let lines: [&[&str]; 4] = [
        &["--env", "GITHUB_TOKEN=canary", "--", "/bin/true"],
        &["--env", "URL=postgres://u:canary@localhost/db", "--", "/bin/true"],
        &["--", "/bin/true", "--api-key", "canary"],
        &["--", "/bin/true", "--api-key=canary"],
    ];
    for line in lines {
        for json in [&[][..], &["--json"]] {
            let ran = user.run(&[json, &["server", "add", "desk", "--yes"], line].concat()).ends(2);
            let said = ran.out + &ran.err;
            assert!(said.contains("looks like a secret") && !said.contains("canary"), "{said}");
        }
    }
    assert_eq!(user.policy(), "# mine\n");
}

#[test]
fn texts_of_a_server_cannot_reach_the_terminal() {
    let user = User::new();
    user.write("app/work/tools.json", &json!([definition("echo", "\u{1b}[2J evil \u{202e}")]).to_string());
    let add = ["server", "add", "desk", "--directory", "work=work", "--yes", "--", PROGRAM, "\u{1b}[2J"];
    let ran = user.run(&add);
    let listed = user.run(&["server", "list"]).ends(0).out;
    for text in [ran.out, ran.err, listed] {
        let found = text.chars().find(|character| portcullis::text::is_deceptive(*character) && *character != '\n');
        assert_eq!(found, None, "{text:?}");
    }
}
