//! A project's policy narrows. It widens only after the user has trusted exactly this file, its path and the targets of
//! its grants. G19.

use crate::binary::desk::{Desk, Ran, finish};
use portcullis::open_approvals;
use portcullis_tests::BlockOn;
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

const ALLOW: &str = "[[rule]]\ntool = \"hello.*\"\ndecision = \"allow\"\nreason = \"the project says so\"\n";

const CALL: [&str; 3] = ["call", "hello.greet", r#"{"name":"Ann"}"#];

const NOTE: &str = "./portcullis.toml is not trusted yet, so it can only narrow the default policy, which denies \
                    everything: review it, then run `portcullis trust portcullis.toml`";

#[test]
fn a_project_policy_only_narrows_until_it_is_trusted() {
    let desk = Desk::new(ALLOW);
    for arguments in [&["list"][..], &["explain", "hello.greet", CALL[2]]] {
        assert_eq!(desk.run_in_project(arguments).ends(0).err.trim_end(), NOTE);
    }
    let denied = desk.run_in_project(&CALL).ends(3).err;
    assert!(denied.contains("policy-denied") && denied.trim_end().ends_with(NOTE), "{denied}");

    let trusted = desk.run_in_project(&["trust", "portcullis.toml", "--yes"]).ends(0);
    for told in ["line 1", "allow", "hello.*: the project says so", "sha256"] {
        assert!(trusted.out.contains(told), "{told}: {}", trusted.out);
    }
    let ran = desk.run_in_project(&CALL).ends(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("Hello, Ann!\n", ""));

    // One more byte makes it another file.
    fs::write(desk.site.path("portcullis.toml"), format!("{ALLOW}\n")).unwrap();
    desk.run_in_project(&CALL).ends(3);
    desk.policy(ALLOW);
    desk.run_in_project(&CALL).ends(0);
    desk.run_in_project(&["trust", "--remove", "portcullis.toml"]).ends(0);
    desk.run_in_project(&["trust", "--remove", "portcullis.toml"]).ends(2);
    desk.run_in_project(&CALL).ends(3);
    desk.verifies();
}

/// `trust` shows the callers that each rule applies to.
#[test]
fn trust_shows_the_callers_of_a_rule() {
    let desk = Desk::new(&format!("{ALLOW}principal = \"bob\"\norigin = \"automation\"\n"));
    let shown = desk.run_in_project(&["trust", "portcullis.toml", "--yes"]).ends(0).out;
    assert!(shown.contains("hello.*, principal bob, origin automation: the project says so"), "{shown}");
}

#[test]
fn trust_and_explain_show_the_rate_limits() {
    let limit = "[[rate-limit]]\ntool = \"hello.*\"\nper = \"principal\"\nrate = \"30/min\"\n";
    let desk = Desk::new(&format!("{ALLOW}{limit}"));
    let text = "tool hello.*, per principal, rate 30/min, burst 30";
    let shown = desk.run_in_project(&["trust", "portcullis.toml", "--yes"]).ends(0).out;
    assert!(shown.contains("line 5") && shown.contains(text), "{shown}");
    let explained = desk.run(&["explain", "hello.greet", CALL[2]]).ends(0).out;
    assert!(explained.contains("rate limit") && explained.contains(text), "{explained}");
    let document = desk.run(&["--json", "explain", "hello.greet", CALL[2]]).ends(0).document();
    assert_eq!(document["rate_limits"][0], text);
}

/// The user's policy allows. The project's policy can only deny more, trusted or not.
#[test]
fn a_project_policy_narrows_the_users() {
    let desk = Desk::new("[[rule]]\ntool = \"hello.*\"\ndecision = \"deny\"\n");
    let config = desk.site.directory("home/.config/portcullis");
    fs::write(config.join("policy.toml"), ALLOW).unwrap();
    desk.run_in_project(&CALL).ends(3);
    fs::remove_file(desk.site.path("portcullis.toml")).unwrap();
    desk.run_in_project(&CALL).ends(0);
}

/// A file that does not parse cannot be trusted. Trusting needs the user's confirmation.
#[test]
fn only_a_valid_policy_is_trusted_and_only_with_confirmation() {
    let desk = Desk::new("[[rule]]\ntool = \"hello.*\"\ndecision = \"alow\"\n");
    let said = desk.run_in_project(&["trust", "portcullis.toml", "--yes"]).ends(2).err;
    assert!(said.contains("line 3") && said.contains("write one of"), "{said}");
    desk.policy(ALLOW);
    assert!(desk.run_in_project(&["trust", "portcullis.toml"]).ends(2).err.contains("--yes"));
    desk.run_in_project(&CALL).ends(3);
}

/// Returns a policy that allows reading the files of `work`.
fn grants(path: &str) -> String {
    format!(
        "[plugin.files]\ndirectory.workspace = {{ path = \"{path}\", access = \"read-only\" }}\n\
         [[rule]]\ntool = \"files.*\"\ndecision = \"allow\"\n"
    )
}

const READ: [&str; 3] = ["call", "files.read", r#"{"path":"key"}"#];

const TRUST: [&str; 3] = ["trust", "portcullis.toml", "--yes"];

/// Returns a desk with one directory inside the project, one outside, and a file in each.
fn desk_with_places(policy: &str) -> (Desk, tempfile::TempDir) {
    let desk = Desk::new(policy);
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("sub")).unwrap();
    for file in ["key", "sub/key"] {
        fs::write(outside.path().join(file), "canary-4711").unwrap();
    }
    for folder in ["sub", "deep/sub", "other"] {
        fs::write(desk.site.directory(folder).join("key"), folder).unwrap();
    }
    (desk, outside)
}

/// Runs the program in another project of the same user.
fn run_in(desk: &Desk, project: &Path, arguments: &[&str]) -> Ran {
    let mut command = desk.command();
    command.env_remove("PORTCULLIS_POLICY").env("PORTCULLIS_PLUGINS", desk.site.plugins()).current_dir(project);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

#[test]
fn trust_does_not_apply_to_the_same_text_elsewhere() {
    let desk = Desk::new(ALLOW);
    desk.run_in_project(&TRUST).ends(0);
    desk.run_in_project(&CALL).ends(0);
    let other = desk.site.directory("other");
    let copied = other.join("portcullis.toml");
    fs::copy(desk.site.path("portcullis.toml"), &copied).unwrap();
    run_in(&desk, &other, &CALL).ends(3);
    // A link does not work either: no policy is read from outside the project's folder.
    fs::remove_file(&copied).unwrap();
    symlink("../portcullis.toml", &copied).unwrap();
    run_in(&desk, &other, &CALL).ends(2);
    fs::remove_file(&copied).unwrap();
    fs::copy(desk.site.path("portcullis.toml"), &copied).unwrap();
    run_in(&desk, &other, &TRUST).ends(0);
    run_in(&desk, &other, &CALL).ends(0);
    desk.run_in_project(&["trust", "--remove", "portcullis.toml"]).ends(0);
    desk.run_in_project(&CALL).ends(3);
    run_in(&desk, &other, &CALL).ends(0);
    desk.verifies();
}

/// A pull adds a link to a trusted project. Nothing behind the link is read, and the project can no longer be trusted.
#[test]
fn a_relative_grant_of_a_project_does_not_leave_it() {
    for (written, link, leads) in
        [("sub", "sub", ""), ("deep/sub", "deep", ""), ("sub", "sub", "/.."), ("sub", "sub", "relative")]
    {
        let (desk, outside) = desk_with_places(&grants(written));
        desk.run_in_project(&TRUST).ends(0);
        assert!(desk.run_in_project(&READ).ends(0).out.contains(written));
        fs::remove_dir_all(desk.site.path(link)).unwrap();
        let out = outside.path().display();
        let target = match leads {
            "relative" => format!("../../../../../../../../..{out}"),
            leads => format!("{out}{leads}"),
        };
        symlink(target, desk.site.path(link)).unwrap();
        let read = desk.run_in_project(&READ);
        assert!(read.code == Some(3) && !read.out.contains("canary"), "{link} {leads}: {}", read.out);
        assert!(read.err.contains("is not trusted"), "{}", read.err);
        let told = desk.run_in_project(&TRUST).ends(2).err;
        assert!(told.contains("files.workspace") && told.contains("leads out of the project"), "{told}");
        desk.run_in_project(&READ).ends(3);
        desk.verifies();
    }
}

/// The target of a grant is part of what was trusted, inside the project and by an absolute path.
#[test]
fn a_grant_whose_target_changes_must_be_trusted_again() {
    let (desk, outside) = desk_with_places("");
    let one = outside.path().join("one");
    let absolute = outside.path().join("link");
    fs::create_dir(&one).unwrap();
    fs::write(one.join("key"), "one").unwrap();
    symlink("deep/sub", desk.site.path("link")).unwrap();
    symlink("one", &absolute).unwrap();
    for (written, link, first, then, content) in [
        ("link", desk.site.path("link"), "deep/sub", "other", "other"),
        (absolute.to_str().unwrap(), absolute.clone(), "one", ".", "canary"),
    ] {
        desk.policy(&grants(written));
        let shown = desk.run_in_project(&TRUST).ends(0).out;
        assert!(shown.contains("leads to") && shown.contains(first), "{shown}");
        desk.run_in_project(&READ).ends(0);
        let listed = desk.run_in_project(&["list"]).ends(0).out;
        assert!(listed.contains("files.workspace") && listed.contains(first), "{listed}");
        assert!(desk.run_in_project(&["inspect", "files"]).ends(0).out.contains(first));
        fs::remove_file(&link).unwrap();
        symlink(then, &link).unwrap();
        desk.run_in_project(&READ).ends(3);
        desk.run_in_project(&TRUST).ends(0);
        assert!(desk.run_in_project(&READ).ends(0).out.contains(content));
    }
    desk.verifies();
}

/// A directory that does not exist when its policy is trusted may be created later, but not as a link.
#[test]
fn a_directory_that_is_created_later_must_not_be_a_link() {
    let (desk, _outside) = desk_with_places(&grants("late"));
    desk.run_in_project(&TRUST).ends(0);
    symlink("other", desk.site.path("late")).unwrap();
    desk.run_in_project(&READ).ends(3);
    fs::remove_file(desk.site.path("late")).unwrap();
    fs::write(desk.site.directory("late").join("key"), "late").unwrap();
    assert!(desk.run_in_project(&READ).ends(0).out.contains("late"));
}

/// Files that the host itself reads for a grant are checked too.
#[test]
fn a_secret_or_certificate_of_a_project_must_be_inside_it() {
    let secret = "secret = { header = \"x-key\", value = \"{}\", from = \"file:key\" }";
    for (field, kind) in [("roots = \"key\"", "certificates"), (secret, "secret file")] {
        let policy = format!("[plugin.web]\nhttp.fetch = {{ hosts = [\"a.test\"], {field} }}\n");
        let (desk, outside) = desk_with_places(&policy);
        symlink(outside.path().join("key"), desk.site.path("key")).unwrap();
        let told = desk.run_in_project(&TRUST).ends(2);
        assert!(told.out.contains(kind) && told.out.contains("key leads to"), "{}{}", told.out, told.err);
        assert!(told.err.contains("leads out of the project"), "{}", told.err);
    }
}

/// A policy that was trusted by the hash of its text alone must be trusted again.
#[test]
fn trust_of_an_earlier_version_does_not_count() {
    let desk = Desk::new(ALLOW);
    let hash: String = Sha256::digest(ALLOW).iter().map(|byte| format!("{byte:02x}")).collect();
    desk.run_in_project(&["list"]).ends(0);
    open_approvals(&desk.site.state()).block_on().unwrap().trust(&hash, "portcullis.toml").block_on().unwrap();
    desk.run_in_project(&CALL).ends(3);
    desk.run_in_project(&["trust", "--remove", &hash]).ends(0);
}
