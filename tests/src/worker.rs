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
        while !is_over(self.0) {
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

fn worker_of(program: u32) -> Option<Pid> {
    fs::read_dir("/proc").unwrap().flatten().find_map(|process| {
        let id: i32 = process.file_name().to_str()?.parse().ok()?;
        // A child between fork and exec has its parent's command line, and its parent waits for it.
        let is_worker = fs::read(process.path().join("cmdline")).ok()?.ends_with(b"\0portcullis-compile-worker\0");
        (is_worker && stat(id)?.1 == program).then(|| Pid::from_raw(id)).flatten()
    })
}

fn is_over(process: Pid) -> bool {
    stat(process.as_raw_pid()).is_none_or(|(state, _)| state == 'Z')
}

/// Returns the state of a process, and its parent.
fn stat(process: i32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
