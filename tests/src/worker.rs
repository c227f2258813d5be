//! The compile worker of a program, stopped for as long as a test needs a compilation to last.

use crate::{Manifest, component, module};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a test waits for a program to compile something before it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it looks. Far shorter than a compilation of [`slow_to_compile`].
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// Functions of a component that takes seconds to compile, each of which has so many steps.
const FILLER_FUNCTIONS: usize = 1500;
const FILLER_STEPS: usize = 150;

/// The bytes of a plugin that answers with its arguments, and that takes seconds to compile.
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

/// A compile worker that is stopped.
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

    /// Lets it go on.
    pub fn release(self) {
        kill_process(self.0, Signal::CONT).expect("the worker is still there");
        std::mem::forget(self);
    }

    /// Waits until it has ended, though nobody let it go on.
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
        // The test has failed, and its program cannot end this worker any more.
        let _ = kill_process(self.0, Signal::KILL);
    }
}

fn worker_of(program: u32) -> Option<Pid> {
    fs::read_dir("/proc").unwrap().flatten().find_map(|process| {
        let id: i32 = process.file_name().to_str()?.parse().ok()?;
        // A child that has not begun to run the worker has its parent's command line, and its parent waits for it.
        let is_worker = fs::read(process.path().join("cmdline")).ok()?.ends_with(b"\0compile-worker\0");
        (is_worker && stat(id)?.1 == program).then(|| Pid::from_raw(id)).flatten()
    })
}

fn is_over(process: Pid) -> bool {
    stat(process.as_raw_pid()).is_none_or(|(state, _)| state == 'Z')
}

/// The state of a process, and its parent.
fn stat(process: i32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
