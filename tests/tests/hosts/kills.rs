//! Hosts that are killed at any moment, several at a time.

use super::fleet::Fleet;
use crate::approvals::child::{Child, Order, Reported};
use crate::approvals::desk::{left_behind, mark, numbered, open};
use portcullis::approvals::Status;
use portcullis::policy::Unattended;
use portcullis::{Answer, Code};
use std::env;
use std::time::Duration;

/// The variable with the number of kills, for longer runs.
const KILLS: &str = "PORTCULLIS_TEST_KILLS";

/// Kills in a usual run.
const KILLS_USUAL: usize = 48;

/// Hosts that run at the same time.
const HOSTS: usize = 8;

/// The time that eight children need for their whole task on two cores.
const TASK_MILLISECONDS: usize = 2000;

/// Kills before everything that is left is checked and answered. A kill leaves some four open requests, and a session
/// has at most 1024.
const KILLS_PER_CHECK: usize = 160;

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_are_killed_at_any_moment_run_nothing_twice_and_lose_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    let kills = env::var(KILLS).map_or(KILLS_USUAL, |kills| kills.parse().unwrap());
    for (check, first) in (0..kills).step_by(KILLS_PER_CHECK).enumerate() {
        let mut reported = Reported::default();
        let last = kills.min(first + KILLS_PER_CHECK);
        for round in first / HOSTS..last.div_ceil(HOSTS) {
            let start = |host: usize| fleet.start(host, Order::Churn, &((round * HOSTS + host) * 100).to_string());
            let mut children: Vec<Child> = (0..HOSTS).map(start).collect();
            children.iter_mut().for_each(|child| drop(child.until("begun")));
            for (host, child) in children.iter_mut().enumerate() {
                let moment = (round * HOSTS + host) * 7919 % (TASK_MILLISECONDS / HOSTS);
                tokio::time::sleep(Duration::from_millis(moment as u64)).await;
                child.kill().iter().for_each(|said| reported.hear(said));
            }
            assert!(fleet.marks().values().all(|times| *times <= 1), "round {round}: {:?}", fleet.marks());
        }
        let killed = last - first;
        assert!(reported.completed.len() > killed / 2 && reported.pending.len() > killed / 2, "no progress was made");
        checked(&fleet, &reported, HOSTS, check).await;
    }
}

/// Asserts that nothing was lost and nothing ran twice, after all processes of the hosts have ended. Checks of one
/// fleet have different numbers.
pub(super) async fn checked(fleet: &Fleet, reported: &Reported, hosts: usize, check: usize) {
    settle(fleet, hosts, 1_000_000 + check * hosts).await;
    nothing_was_lost(fleet, reported).await;
    everything_left_runs_once(fleet, reported).await;
    for host in 0..hosts {
        fleet.record(host);
    }
}

/// Opens each host once, which settles what its killed processes left. Its call has a number from `first`.
async fn settle(fleet: &Fleet, hosts: usize, first: usize) {
    for host in 0..hosts {
        let opened = open(fleet.builder(host).unattended(Unattended::Pending)).await;
        // The next call sets aside a line of the audit log that the last child may have torn.
        left_behind(&opened, mark(first + host)).await;
    }
}

async fn nothing_was_lost(fleet: &Fleet, reported: &Reported) {
    let approvals = fleet.approvals(0);
    for (id, number) in &reported.pending {
        let status = approvals.question(id).await.unwrap().status;
        let fits = match status {
            Status::Pending => !reported.approved.contains(id),
            Status::Approved => !reported.completed.contains(number),
            Status::Done | Status::Lost => true,
            Status::Running | Status::Rejected | Status::Expired | Status::Withdrawn => false,
        };
        assert!(fits, "{id} {number}: {status}");
    }
}

async fn everything_left_runs_once(fleet: &Fleet, reported: &Reported) {
    let host = open(fleet.builder(0).unattended(Unattended::Pending)).await;
    for question in host.approvals().list().await.unwrap().questions {
        if question.status == Status::Pending {
            host.approvals().answer(&question.id, &Answer::Yes).await.unwrap();
        }
        let reply = host.resume(&question.id).await.unwrap();
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    }
    let marks = fleet.marks();
    assert!(marks.values().all(|times| *times <= 1), "{marks:?}");
    assert!(reported.completed.iter().all(|number| marks[&numbered(*number)] == 1), "{marks:?}");
}
