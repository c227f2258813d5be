//! Published bypasses of text rules for agent shells, run by Bash. Each one works where nothing confines it, and works
//! inside the program's own directory. Confined, it reaches nothing outside of it.

use crate::lab::{Lab, Outcome, Scratch, tiers};
use crate::outside::{Home, Servers};
use crate::published_bypasses::{BYPASSES, Bypass, Goal};
use portcullis_confine::Tier;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the variables of a command. They are the same with and without a confinement, so that no command fails for
/// want of one.
fn environment(home: &Home) -> Vec<(String, String)> {
    let home = home.path.to_str().unwrap();
    let variables = [
        ("HOME", home),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("GIT_AUTHOR_NAME", "Ann"),
        ("GIT_AUTHOR_EMAIL", "ann@example.com"),
        ("GIT_COMMITTER_NAME", "Ann"),
        ("GIT_COMMITTER_EMAIL", "ann@example.com"),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// Runs a command that nothing confines. Returns what it prints.
fn run_unconfined(command: &str, home: &Home, workspace: &Path) -> String {
    let mut shell = Command::new("timeout");
    shell.args(["--kill-after=1", "20", "/bin/bash", "-c", command]).env_clear().envs(environment(home));
    shell.env("TMPDIR", workspace).current_dir(workspace).stdin(Stdio::null());
    let output = shell.output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Runs a command in a directory of its own.
async fn run_confined(lab: &mut Lab, command: &str, home: &Home, workspace: Scratch) -> Outcome {
    lab.workspace = workspace;
    lab.environment = environment(home);
    lab.run(command).await
}

#[test]
fn every_bypass_works_where_nothing_confines_it() {
    let directory = Scratch::new();
    let (home, servers) = (Home::new(directory.path().join("ann")), Servers::new());
    let mut failed = Vec::new();
    for bypass in BYPASSES {
        home.restore();
        let (before, workspace) = (home.content(), Scratch::new());
        let command = servers.fill_in(&home.fill_in(bypass.command));
        let text = run_unconfined(&command, &home, workspace.path());
        let worked = match bypass.goal {
            Goal::Read => text.contains(&home.secret),
            Goal::Write => home.content() != before,
            Goal::Connect => servers.take_connections() > 0,
        };
        if !worked {
            failed.push(format!("{} ({}):\n{command}\n{text}", bypass.name, bypass.source));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The confinement lets each command run to its end: only what is outside of its directory is out of reach.
#[tokio::test]
async fn every_bypass_works_in_the_own_directory() {
    for tier in tiers() {
        let (mut lab, mut failed) = (Lab::new(tier), Vec::new());
        for bypass in BYPASSES.iter().filter(|bypass| bypass.goal != Goal::Connect) {
            let workspace = Scratch::new();
            let home = Home::new(workspace.path().join("ann"));
            let before = home.content();
            let outcome = run_confined(&mut lab, &home.fill_in(bypass.command), &home, workspace).await;
            let worked = match bypass.goal {
                Goal::Read => outcome.text.contains(&home.secret),
                Goal::Write | Goal::Connect => home.content() != before,
            };
            if !worked {
                failed.push(format!("{tier}: {} ({}):\n{}", bypass.name, bypass.source, outcome.text));
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}

/// What one command reached outside of its directory.
async fn reached(lab: &mut Lab, bypass: &Bypass, home: &Home, servers: &Servers) -> Option<String> {
    home.restore();
    let (before, workspace) = (home.content(), Scratch::new());
    let path = workspace.path().to_owned();
    let command = servers.fill_in(&home.fill_in(bypass.command));
    let outcome = run_confined(lab, &command, home, workspace).await;
    let kept = String::from_utf8_lossy(&crate::outside::content_of(&path).into_values().flatten().collect::<Vec<u8>>())
        .contains(&home.secret);
    let read = outcome.text.contains(&home.secret) || kept;
    let (wrote, connections) = (home.content() != before, servers.take_connections());
    let what = format!("{} ({}): read {read}, wrote {wrote}, connections {connections}", bypass.name, bypass.source);
    (read || wrote || connections > 0).then_some(what)
}

async fn no_bypass_reaches_out(tier: Tier) {
    if !tiers().contains(&tier) {
        return;
    }
    let directory = Scratch::new();
    let (home, servers) = (Home::new(directory.path().join("ann")), Servers::new());
    let (mut lab, mut failed) = (Lab::new(tier), Vec::new());
    for bypass in BYPASSES {
        failed.extend(reached(&mut lab, bypass, &home, &servers).await);
    }
    assert!(failed.is_empty(), "{tier}: {}", failed.join("\n"));
}

#[tokio::test]
async fn no_bypass_reaches_out_of_namespaces() {
    no_bypass_reaches_out(Tier::Namespaces).await;
}

#[tokio::test]
async fn no_bypass_reaches_out_of_landlock() {
    no_bypass_reaches_out(Tier::Landlock).await;
}

#[test]
fn the_table_has_fifty_bypasses_and_each_a_source() {
    assert!(BYPASSES.len() >= 50, "{}", BYPASSES.len());
    for bypass in BYPASSES {
        let known = ["GHSA-", "CVE-"].iter().any(|prefix| bypass.source.starts_with(prefix));
        assert!(known || bypass.source.contains(".") && bypass.source.contains("/"), "{bypass:?}");
        assert_eq!(BYPASSES.iter().filter(|other| other.name == bypass.name).count(), 1, "{bypass:?}");
    }
}
