//! Tests of races between channels, clocks, reloads and runs for one request. They explore schedules of a model whose
//! transactions are a lock and whose steps are the real table.

use super::status::{Status, StatusStep};
use shuttle::sync::{Arc, Mutex};
use shuttle::{check_pct, check_random, thread};

/// Schedules per test.
const SCHEDULES: usize = 2_000;

/// Preemptions per schedule of the probabilistic scheduler.
const PREEMPTIONS: usize = 5;

/// A request and the steps that were taken.
#[derive(Default)]
struct Model {
    status: Mutex<Option<Status>>,
    runs: Mutex<usize>,
    taken: Mutex<Vec<StatusStep>>,
}

impl Model {
    fn new() -> Arc<Self> {
        let model = Self::default();
        *model.status.lock().unwrap() = Some(Status::Pending);
        Arc::new(model)
    }

    /// Takes a step in one transaction, if it still applies.
    fn step(&self, step: StatusStep) -> bool {
        let mut status = self.status.lock().unwrap();
        thread::yield_now();
        let Some(next) = status.and_then(|status| status.after(step)) else { return false };
        *status = Some(next);
        self.taken.lock().unwrap().push(step);
        true
    }

    fn status(&self) -> Option<Status> {
        *self.status.lock().unwrap()
    }

    /// Claims, runs and finishes the call, as a waiting call or a resuming process does.
    fn run(&self) {
        if self.step(StatusStep::Claim) {
            thread::yield_now();
            *self.runs.lock().unwrap() += 1;
            self.step(StatusStep::Finish);
        }
    }

    fn check(&self) {
        let (taken, runs) = (self.taken.lock().unwrap().clone(), *self.runs.lock().unwrap());
        let count = |step| taken.iter().filter(|taken| **taken == step).count();
        assert!(runs <= 1, "it ran {runs} times: {taken:?}");
        assert!(count(StatusStep::Approve) <= 1, "{taken:?}");
        assert_eq!(runs, count(StatusStep::Claim), "{taken:?}");
        let ended = [StatusStep::Reject, StatusStep::Expire, StatusStep::Withdraw].map(count).iter().sum::<usize>();
        assert!(ended + runs <= 1, "it ran and was taken back: {taken:?}");
        if let Some(claim) = taken.iter().position(|step| *step == StatusStep::Claim) {
            assert!(taken[..claim].contains(&StatusStep::Approve), "{taken:?}");
        }
    }
}

fn together(threads: &[fn(&Model)]) {
    let model = Model::new();
    let threads: Vec<_> = threads
        .iter()
        .map(|work| {
            let (model, work) = (Arc::clone(&model), *work);
            thread::spawn(move || work(&model))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    model.check();
}

fn approve(model: &Model) {
    model.step(StatusStep::Approve);
}

fn reject(model: &Model) {
    model.step(StatusStep::Reject);
}

fn expire(model: &Model) {
    model.step(StatusStep::Expire);
}

/// Withdraws the request, because the caller left or a reload changed the call.
fn withdraw(model: &Model) {
    model.step(StatusStep::Withdraw);
}

/// Waits for an answer, and runs the call if it is approved.
fn wait(model: &Model) {
    for _ in 0..4 {
        if model.status() == Some(Status::Approved) {
            return model.run();
        }
        thread::yield_now();
    }
}

/// Approves a request and runs its call, as an approver's process does.
fn approve_and_run(model: &Model) {
    model.step(StatusStep::Approve);
    model.run();
}

fn every_schedule(threads: &'static [fn(&Model)]) {
    check_random(|| together(threads), SCHEDULES);
    check_pct(|| together(threads), SCHEDULES, PREEMPTIONS);
}

#[test]
fn simultaneous_approvals_of_two_channels_run_it_once() {
    every_schedule(&[approve_and_run, approve_and_run, wait]);
}

#[test]
fn an_approval_that_races_with_a_denial_runs_or_is_rejected_never_both() {
    every_schedule(&[approve_and_run, reject, wait]);
}

#[test]
fn an_approval_that_races_with_expiry_runs_or_expires_never_both() {
    every_schedule(&[approve, wait, expire]);
}

#[test]
fn a_reload_or_a_leaving_caller_withdraws_it_or_it_runs_never_both() {
    every_schedule(&[approve_and_run, withdraw, wait, expire]);
}

#[test]
fn all_races_together_run_it_at_most_once() {
    every_schedule(&[approve_and_run, approve, reject, expire, withdraw, wait]);
}
