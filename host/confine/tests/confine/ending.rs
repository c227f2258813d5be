//! How a program ends, and that nothing of it is left.

use crate::lab::{Lab, in_time, kernel_allows, outcome, tiers};
use portcullis_confine::{ConfineError, OpenProgram, ProgramExit, Tier};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;

/// A word that is in the command line of every process of a test.
pub(crate) fn mark(name: &str) -> String {
    format!("portcullis-{name}-{}", std::process::id())
}

/// Returns the processes of the machine whose command line has a word.
pub(crate) fn processes_with(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let has = |entry: std::fs::DirEntry| {
        let text = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(word)
    };
    all.filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok()).map(has).filter(|has| *has).count()
}

/// A process of the machine.
pub(crate) struct HostProcess {
    pub(crate) number: String,
    pub(crate) parent: String,
    pub(crate) command: String,
}

pub(crate) fn processes() -> Vec<HostProcess> {
    let process = |entry: std::fs::DirEntry| {
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let parent = read("status").lines().find_map(|line| line.strip_prefix("PPid:\t").map(str::to_owned))?;
        let number = entry.file_name().to_string_lossy().into_owned();
        Some(HostProcess { number, parent, command: read("cmdline") })
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(process).collect()
}

/// Returns the supervisor of the program that has a word in its command line.
pub(crate) fn supervisor_of(word: &str) -> String {
    let found: Vec<HostProcess> = processes().into_iter().filter(|process| process.command.contains(word)).collect();
    // A child of the shell has its command line for a moment.
    let is_child = |process: &&HostProcess| found.iter().any(|other| other.number == process.parent);
    found.iter().find(|process| !is_child(process)).unwrap().parent.clone()
}

pub(crate) fn signal(name: &str, process: &str) {
    assert!(std::process::Command::new("kill").args([name, process]).status().unwrap().success());
}

pub(crate) async fn until_none_has(word: &str) {
    let began = Instant::now();
    while processes_with(word) > 0 {
        assert!(began.elapsed() < Duration::from_secs(10), "{} processes are left", processes_with(word));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_program_ends_with_its_code_or_its_signal() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        assert_eq!(lab.run("exit 7").await.report.exit, ProgramExit::Code(7));
        assert_eq!(lab.run("kill -9 $$").await.report.exit, ProgramExit::Signal(9));
    }
}

#[tokio::test]
async fn what_a_program_left_in_the_background_ends_with_it() {
    for tier in tiers() {
        let (lab, word) = (Lab::new(tier), mark("background"));
        let commands = [
            format!("bash -c 'sleep 100; true' {word} & echo started"),
            format!("(setsid bash -c 'sleep 100; true' {word} & exec sleep 101) & echo started"),
            format!("setsid bash -c 'trap \"\" TERM HUP INT; sleep 100; true' {word} & sleep 0.1; echo started"),
            format!("nohup bash -c 'kill -STOP $$; true' {word} & sleep 0.1; echo started"),
        ];
        for command in commands {
            let began = Instant::now();
            let outcome = lab.run(&format!("{command} # {word}")).await;
            assert_eq!(outcome.report.exit, ProgramExit::Code(0), "{tier}: {command}: {outcome:?}");
            assert!(outcome.report.left_processes > 0, "{tier}: {command}: {outcome:?}");
            assert!(began.elapsed() < Duration::from_secs(20), "{tier}: {command}");
            until_none_has(&word).await;
        }
    }
}

#[tokio::test]
async fn a_killed_or_dropped_program_leaves_no_process() {
    for tier in tiers() {
        let (lab, word) = (Lab::new(tier), mark("killed"));
        let command = format!(
            "trap '' TERM; for i in $(seq 20); do setsid bash -c 'trap \"\" TERM; (sleep 100; true) & wait' {word} & done; \
             echo ready; wait # {word}"
        );
        let mut running = lab.start(&command).await.unwrap();
        let mut streams = running.take_streams().unwrap();
        let mut ready = [0; 6];
        streams.stdout.read_exact(&mut ready).await.unwrap();
        running.kill();
        let report = in_time("a program that was killed", running.ended()).await.unwrap();
        assert_eq!(report.exit, ProgramExit::Stopped("the host ended it".to_owned()), "{tier}");
        until_none_has(&word).await;
        let mut running = lab.start(&command).await.unwrap();
        let mut streams = running.take_streams().unwrap();
        streams.stdout.read_exact(&mut ready).await.unwrap();
        drop(running);
        until_none_has(&word).await;
    }
}

#[tokio::test]
async fn a_program_outlives_neither_its_broker_nor_its_host() {
    for tier in tiers() {
        let (lab, word) = (Lab::new(tier), mark("orphan"));
        let running = lab.start(&format!("sleep 100; true # {word}")).await.unwrap();
        drop(lab);
        assert!(processes_with(&word) > 0, "{tier}: the end of the broker ends no program");
        drop(running);
        until_none_has(&word).await;
    }
}

#[tokio::test]
async fn the_streams_are_the_programs_own() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let mut running = lab.start("cat; echo error >&2; echo end").await.unwrap();
        let mut streams = running.take_streams().unwrap();
        assert!(running.take_streams().is_none() && streams.stderr.is_none());
        tokio::io::AsyncWriteExt::write_all(&mut streams.stdin, b"in\n").await.unwrap();
        drop(streams.stdin);
        let mut text = String::new();
        streams.stdout.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "in\nerror\nend\n", "{tier}");
    }
}

#[tokio::test]
async fn a_program_that_was_replaced_does_not_start() {
    for tier in tiers() {
        let lab = Lab::new(tier);
        let script = lab.file("tool");
        let put = |content: &str| {
            let new = script.with_extension("new");
            std::fs::write(&new, content).unwrap();
            std::fs::set_permissions(&new, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            std::fs::rename(new, &script).unwrap();
        };
        put("#!/bin/bash\necho one \"$@\"\n");
        let program = OpenProgram::open(&script).unwrap();
        assert_eq!(outcome(lab.start_program(&program, &["x"]).await.unwrap()).await.text, "one x\n", "{tier}");
        assert!(program.is_current());
        put("#!/bin/bash\necho two\n");
        assert!(!program.is_current());
        let refused = lab.start_program(&program, &[]).await.unwrap_err();
        assert!(matches!(&refused, ConfineError::Refused(why) if why.contains("replaced")), "{tier}: {refused}");
        std::fs::write(&script, "#!/bin/bash\necho three\n").unwrap();
        assert_ne!(OpenProgram::open(&script).unwrap().sha256(), program.sha256());
    }
}

#[tokio::test]
async fn what_is_no_program_is_refused_with_the_reason() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let lab = Lab::new(Tier::Namespaces);
    lab.put("text", "x");
    for (path, why) in [("text", "not executable"), (".", "not a file"), ("none", "No such file")] {
        let error = OpenProgram::open(&lab.file(path)).unwrap_err();
        let text = format!("{error}: {}", std::error::Error::source(&error).unwrap());
        assert!(text.contains(why), "{path}: {text}");
    }
    let bash = OpenProgram::open(Path::new("/bin/bash")).unwrap();
    let refused = lab.start_program(&bash, &["a\0b"]).await.unwrap_err();
    assert!(matches!(&refused, ConfineError::Refused(why) if why.contains("NUL")), "{refused}");
    let long = "x".repeat(200_000);
    let refused = lab.start_program(&bash, &[&long]).await.unwrap_err();
    assert!(matches!(&refused, ConfineError::Refused(why) if why.contains("too long")), "{refused}");
}

/// The caller gives up at each moment of a start.
#[tokio::test]
async fn a_start_that_is_given_up_leaves_no_process() {
    for tier in tiers() {
        let (lab, word) = (Lab::new(tier), mark("given-up"));
        for microseconds in (0..6000).step_by(150) {
            let command = format!("sleep 100; true # {word}");
            drop(tokio::time::timeout(Duration::from_micros(microseconds), lab.start(&command)).await);
        }
        until_none_has(&word).await;
    }
}

/// A supervisor that does not react cannot kill its program. With namespaces, its own end does.
#[tokio::test]
async fn a_dropped_program_ends_although_its_supervisor_is_stopped() {
    if !kernel_allows(Tier::Namespaces) {
        return;
    }
    let (lab, word) = (Lab::new(Tier::Namespaces), mark("stopped"));
    let mut running = lab.start(&format!("echo ready; sleep 100; true # {word}")).await.unwrap();
    let mut streams = running.take_streams().unwrap();
    streams.stdout.read_exact(&mut [0; 6]).await.unwrap();
    signal("-STOP", &supervisor_of(&word));
    drop(running);
    until_none_has(&word).await;
}

/// Without namespaces, a program has a directory in `/tmp` that is named by the number of its supervisor.
#[tokio::test]
async fn a_refused_start_leaves_no_directory() {
    if !kernel_allows(Tier::Landlock) {
        return;
    }
    let lab = Lab::new(Tier::Landlock);
    let own = std::process::id().to_string();
    let all = processes();
    let is_broker = |number: &String| {
        all.iter().any(|broker| broker.number == *number && broker.parent == own && broker.command.contains("broker"))
    };
    // The cell that waits for the start, and those of other tests.
    let cells: Vec<&HostProcess> = all.iter().filter(|process| is_broker(&process.parent)).collect();
    let text = lab.file("text");
    std::fs::write(&text, "not a program").unwrap();
    std::fs::set_permissions(&text, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    lab.start_program(&OpenProgram::open(&text).unwrap(), &[]).await.unwrap_err();
    let ended = |cell: &&&HostProcess| !Path::new("/proc").join(&cell.number).exists();
    let began = Instant::now();
    while cells.iter().filter(ended).count() == 0 {
        assert!(began.elapsed() < Duration::from_secs(10), "the cell of the refused start has not ended");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for cell in cells.iter().filter(ended) {
        assert!(!Path::new("/tmp").join(format!("portcullis-{}", cell.number)).exists(), "{}", cell.number);
    }
}
