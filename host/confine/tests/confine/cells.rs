//! The cells that the broker prepares before a start arrives.

use crate::ending::{mark, processes, processes_with, signal, until_none_has};
use crate::lab::{Lab, Scratch, kernel_allows, outcome, tiers};
use portcullis_confine::{ConfineError, ProgramExit, Tier};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The number of cells that the broker prepares.
const SPARE_CELLS: usize = 2;

/// Starts a broker whose processes have a word as their name, until they become a program.
fn named_lab(tier: Tier, word: &str) -> Lab {
    let named = format!("exec -a {word} \"$0\" \"$@\"");
    Lab::started_by(tier, Path::new("/bin/bash"), &["-c", &named])
}

/// A cell that waits for a start.
struct WaitingCell {
    supervisor: String,
    /// The process that waits to become the program.
    launcher: String,
}

fn waiting_cells(word: &str) -> Vec<WaitingCell> {
    let (all, own) = (processes(), std::process::id().to_string());
    let children = |parent: &str| -> Vec<String> {
        let named = all.iter().filter(|process| process.parent == parent && process.command.contains(word));
        named.map(|process| process.number.clone()).collect()
    };
    let supervisors = children(&own).into_iter().flat_map(|broker| children(&broker));
    let cells = supervisors.filter_map(|supervisor| {
        let launcher = children(&supervisor).pop()?;
        has_own_session(&launcher).then_some(WaitingCell { supervisor, launcher })
    });
    cells.collect()
}

/// Returns whether a process has a session of its own. A launcher takes one when it has closed the socket of the cell.
fn has_own_session(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The session is the fourth field after the name, proc_pid_stat(5).
    stat.rsplit_once(") ").and_then(|(_, fields)| fields.split(' ').nth(3)) == Some(process)
}

/// Waits until the broker has prepared all of its cells. It prepares no more than these.
async fn prepared_cells(word: &str) -> Vec<WaitingCell> {
    let began = Instant::now();
    loop {
        let cells = waiting_cells(word);
        if cells.len() == SPARE_CELLS {
            return cells;
        }
        assert!(cells.len() < SPARE_CELLS, "{} cells wait", cells.len());
        assert!(began.elapsed() < Duration::from_secs(10), "only {} cells wait", cells.len());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Processes that wait until they are killed, which they are also if the test fails.
struct StoppedProcesses {
    word: String,
    numbers: Vec<String>,
}

impl Drop for StoppedProcesses {
    fn drop(&mut self) {
        // A number may name another process by now.
        for process in processes().iter().filter(|process| process.command.contains(&self.word)) {
            if self.numbers.contains(&process.number) {
                signal("-KILL", &process.number);
            }
        }
    }
}

#[tokio::test]
async fn what_waits_for_a_start_ends_with_the_broker() {
    for tier in tiers() {
        let word = mark("waiting");
        let lab = named_lab(tier, &word);
        let prepared = "the broker, the cell, and the process that waits to become the program";
        assert_eq!(processes_with(&word), 3, "{tier}: {prepared}");
        assert_eq!(lab.run("echo done").await.text, "done\n", "{tier}");
        drop(lab);
        until_none_has(&word).await;
    }
}

#[tokio::test]
async fn starts_at_the_same_moment_all_succeed() {
    for tier in tiers() {
        let word = mark("together");
        let lab = Arc::new(named_lab(tier, &word));
        let mut starts = JoinSet::new();
        for number in 0..8 {
            let lab = Arc::clone(&lab);
            starts.spawn(async move { (number, lab.start(&format!("read line; echo {number}")).await) });
        }
        // No program ends before all of them run.
        let started = starts.join_all().await;
        for (number, running) in started {
            let running = running.unwrap_or_else(|error| panic!("{tier}: start {number}: {error}"));
            assert_eq!(outcome(running).await.text, format!("{number}\n"), "{tier}");
        }
        prepared_cells(&word).await;
    }
}

#[tokio::test]
async fn starts_right_after_each_other_all_succeed() {
    for tier in tiers() {
        let word = mark("sequence");
        let (lab, mut running) = (named_lab(tier, &word), Vec::new());
        for number in 0..20 {
            let outcome = lab.run(&format!("echo {number}")).await;
            assert_eq!(outcome.text, format!("{number}\n"), "{tier}");
            assert_eq!(outcome.report.exit, ProgramExit::Code(0), "{tier}");
            // Some programs run on.
            if number % 4 == 0 {
                running.push(lab.start("cat").await.unwrap());
            }
        }
        prepared_cells(&word).await;
    }
}

/// The process that waits to become the program is stopped, so that it cannot end with its supervisor. If it kept the
/// socket of the cell open, the start would be sent to no one.
#[tokio::test]
async fn a_cell_that_was_killed_while_it_waited_is_replaced() {
    for tier in tiers() {
        let word = mark("replaced");
        let lab = named_lab(tier, &word);
        assert_eq!(lab.run("echo first").await.text, "first\n", "{tier}");
        let killed = prepared_cells(&word).await;
        let mut stopped = StoppedProcesses { word: word.clone(), numbers: Vec::new() };
        for WaitingCell { supervisor, launcher } in &killed {
            signal("-STOP", launcher);
            stopped.numbers.push(launcher.clone());
            signal("-KILL", supervisor);
        }
        let began = Instant::now();
        while killed.iter().any(|cell| Path::new("/proc").join(&cell.supervisor).exists()) {
            assert!(began.elapsed() < Duration::from_secs(10), "{tier}: a killed cell has not ended");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for number in 0..3 {
            assert_eq!(lab.run(&format!("echo {number}")).await.text, format!("{number}\n"), "{tier}");
        }
        prepared_cells(&word).await;
        drop((lab, stopped));
        until_none_has(&word).await;
    }
}

/// Starts a broker in a process namespace with another process, which is all that a signal of the broker's cells can
/// reach. From the next cell on, the kernel refuses the rules that limit the signals of a cell.
async fn lab_without_rules(word: &str) -> Lab {
    let scratch = Scratch::new();
    let [ready, signalled] = ["ready", "signalled"].map(|name| scratch.path().join(name));
    let script = format!(
        "(until [ -e {} ]; do sleep 0.01; done; kill -USR1 1; touch {}; exec -a {word} sleep 100) </dev/null &
         exec -a broker-{word} \"$0\" \"$@\" --no-rules-after-signal",
        ready.display(),
        signalled.display()
    );
    let namespaces = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    let arguments = [&namespaces[..], &["/bin/bash", "-c", &script]].concat();
    let lab = Lab::started_by(Tier::Landlock, Path::new("/usr/bin/unshare"), &arguments);
    // The broker handles the signal by now.
    std::fs::write(ready, "").unwrap();
    let began = Instant::now();
    while !signalled.exists() {
        assert!(began.elapsed() < Duration::from_secs(10), "the broker was not signalled");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    lab
}

/// Without a scope of its signals, a cell that kills everyone ends all processes of the user.
#[tokio::test]
async fn a_cell_that_could_not_be_prepared_refuses_its_start_and_kills_nothing() {
    if !kernel_allows(Tier::Landlock) || !kernel_allows(Tier::Namespaces) {
        return;
    }
    let word = mark("bystander");
    let lab = lab_without_rules(&word).await;
    let count = |name: &str| processes().iter().filter(|process| process.command.starts_with(name)).count();
    // This one gets the cell that was prepared before.
    assert_eq!(lab.run("echo first").await.text, "first\n");
    for number in 0..4 {
        let refused = lab.start("true").await.unwrap_err();
        assert!(matches!(&refused, ConfineError::Refused(why) if why.contains("Landlock")), "{number}: {refused}");
        assert_eq!(count(&word), 1, "start {number} has killed a process that is not its own");
    }
    // Spare cells that could not be prepared do not wait for a start, which would fail although another may succeed.
    let began = Instant::now();
    while count(&format!("broker-{word}")) > 1 {
        assert!(began.elapsed() < Duration::from_secs(10), "a cell waits that could not be prepared");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(lab);
    until_none_has(&word).await;
}
