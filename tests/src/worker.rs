//! The compile worker of a program, which a test can stop to make a compilation last.

use crate::{Manifest, PATIENCE, component, module};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Polling interval. Far shorter than a compilation of [`slow_to_compile`].
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// Number of functions in a component that takes seconds to compile, and the number of steps in each.
const FILLER_FUNCTIONS: usize = 1500;
const FILLER_STEPS: usize = 150;

/// Returns a plugin that echoes its arguments and takes seconds to compile.
pub fn slow_to_compile(manifest: &Manifest) -> Vec<u8> {
    let mut filler = String::new();
    for function in 0..FILLER_FUNCTIONS {
        filler.push_str("(func (param i64 i64) (result i64) local.get 0");
        for step in 0..FILLER_STEPS {
            let _ = write!(filler, " local.get 1 i64.const {} i64.xor i64.mul", function * FILLER_STEPS + step);
        }
        filler.push_str(")\n");
    }
    component(&module(&filler, manifest))
}

/// A stopped compile worker.
#[derive(Debug)]
pub struct HeldWorker(Pid);

impl HeldWorker {
    /// Waits until a program compiles something, and stops its worker.
    pub fn of(program: u32) -> Self {
        let late = Instant::now() + PATIENCE;
        loop {
            if let Some(worker) = worker_of(program) {
                kill_process(worker, Signal::STOP).expect("the worker runs");
                return Self(worker);
            }
            assert!(Instant::now() < late, "the program compiles nothing");
            sleep(LOOK_INTERVAL);
        }
    }

    /// Resumes the worker.
    pub fn release(self) {
        kill_process(self.0, Signal::CONT).expect("the worker is still there");
        std::mem::forget(self);
    }

    /// Waits until the worker has ended, although it was not resumed.
    pub fn has_ended(self) {
        let late = Instant::now() + PATIENCE;
        while !has_exited(self.0.as_raw_pid()) {
            assert!(Instant::now() < late, "the worker outlives its program");
            sleep(LOOK_INTERVAL);
        }
        std::mem::forget(self);
    }
}

impl Drop for HeldWorker {
    fn drop(&mut self) {
        // If the test failed, its program cannot end this worker any more.
        let _ = kill_process(self.0, Signal::KILL);
    }
}

/// Returns the worker of a program: its child, or the child of a supervisor that its broker started.
fn worker_of(program: u32) -> Option<Pid> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids: Vec<i32> = processes.filter_map(|process| process.file_name().to_str()?.parse().ok()).collect();
    let has = |id: i32, word: &[u8]| fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.ends_with(word));
    let parent = |id: i32| Some(stat(id)?.1);
    let grandparent = |id: i32| parent(i32::try_from(parent(id)?).ok()?);
    let found = ids.into_iter().find(|id| {
        // A child between fork and exec has its parent's command line, and its parent waits for it.
        let is_child = has(*id, b"\0portcullis-compile-worker\0") && parent(*id) == Some(program);
        // A worker of the broker has taken every system call from itself that it does not need.
        let is_of_broker = || {
            let broker = grandparent(*id).and_then(|broker| i32::try_from(broker).ok());
            has(*id, b"\0portcullis-confine-broker\0") && broker.and_then(parent) == Some(program) && is_confined(*id)
        };
        is_child || is_of_broker()
    });
    found.and_then(Pid::from_raw)
}

/// Returns whether a process has filters of its own.
fn is_confined(process: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().any(|line| line == "Seccomp:\t2")
}

/// Returns whether a process has exited. A zombie has, too: it stays until its parent asks for its end.
pub fn has_exited(process: i32) -> bool {
    stat(process).is_none_or(|(state, _)| state == 'Z')
}

/// Returns the state of a process, and its parent.
fn stat(process: i32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
