//! Rate limits that the hosts of a ledger keep together.

use super::fleet::{DATABASE, Fleet};
use crate::approvals::child::{Child, Order};
use crate::approvals::desk::{ALLOW, mark, open, policy};
use portcullis::{Code, Host};
use portcullis_tests::eventually_async;
use std::time::{Duration, Instant};

/// How long hosts make calls. Longer than several reports.
const CALLING_SECONDS: u32 = 6;

/// The rate in the tests, in calls per second. A burst is as many.
const RATE: u32 = 10;

impl Fleet {
    /// Opens a host with a rate limit.
    async fn limited(&self, host: usize, keys: &str) -> Host {
        let rules = format!("{ALLOW}[[rate-limit]]\n{keys}\n");
        open(self.builder(host).policy_text(&policy(&rules), self.desk.root()).answered_elsewhere()).await
    }
}

/// Lets host processes make calls as fast as they can. Returns how many were made, and in how many seconds.
fn made(fleet: &Fleet, hosts: usize) -> (u32, f64) {
    let about = format!("{CALLING_SECONDS} {RATE}");
    let mut children: Vec<Child> = (0..hosts).map(|host| fleet.start(host, Order::CallQuickly, &about)).collect();
    children.iter_mut().for_each(|child| drop(child.until("open")));
    // Each host knows now how many there are.
    std::thread::sleep(Duration::from_millis(1500));
    std::fs::write(fleet.desk.site.path("go"), "").unwrap();
    let begun = Instant::now();
    let made = children.iter_mut().map(|child| child.until("made").parse::<u32>().unwrap()).sum();
    (made, begun.elapsed().as_secs_f64())
}

#[test]
fn hosts_together_begin_no_more_calls_than_one_burst_above_the_limit() {
    let Some(fleet) = Fleet::new() else { return };
    let hosts = 3;
    let (made, seconds) = made(&fleet, hosts);
    let (made, rate, hosts) = (f64::from(made), f64::from(RATE), 3.0);
    let most = rate * seconds + 2.0 * rate + hosts;
    assert!(made <= most, "{made} in {seconds} s, and at most {most}");
    // One burst, and most of the rate.
    let least = rate + 0.7 * rate * f64::from(CALLING_SECONDS);
    assert!(made >= least, "{made} in {seconds} s, and at least {least}");
}

#[test]
fn one_host_alone_gets_the_whole_rate() {
    let Some(fleet) = Fleet::new() else { return };
    let (made, seconds) = made(&fleet, 1);
    let (made, rate) = (f64::from(made), f64::from(RATE));
    assert!(made <= rate * seconds + rate + 1.0, "{made} in {seconds} s");
    assert!(made >= rate + 0.9 * rate * f64::from(CALLING_SECONDS), "{made} in {seconds} s");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_use_of_one_host_counts_on_another() {
    let Some(fleet) = Fleet::new() else { return };
    let keys = "rate = '6/h'";
    let (first, second) = (fleet.limited(1, keys).await, fleet.limited(2, keys).await);
    // Each host has heard that there are two.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let mut completed = 0;
    for number in 0..40 {
        let host = if number < 20 { &first } else { &second };
        completed += u32::from(host.call(mark(number)).await.code == Code::Completed);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // The second host has not heard of all calls of the first one before its own first call.
    assert!((6..=9).contains(&completed), "{completed}");
    let refused = second.call(mark(41)).await;
    assert_eq!(refused.code, Code::RateLimited);
    assert!(refused.retry_after.unwrap() > Duration::from_secs(60), "{:?}", refused.retry_after);
    // A host that starts later learns of it with its first calls.
    drop(first);
    drop(second);
    let third = fleet.limited(3, keys).await;
    let refused = || async { third.call(mark(42)).await.code == Code::RateLimited };
    let mut calls = 0;
    while !refused().await {
        calls += 1;
        assert!(calls <= 6, "{calls}");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_progress_are_divided_among_the_hosts_until_one_dies() {
    let Some(fleet) = Fleet::new() else { return };
    let keys = "tool = 'stays.*'\nconcurrent = 2";
    let first = fleet.limited(1, keys).await;
    let mut other = fleet.start(2, Order::CallQuickly, "0 1");
    other.until("open");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let stays = |number: usize| portcullis::Request::new("stays.run", crate::approvals::desk::numbered(number));
    let begun = tokio::spawn({
        let first = first.clone();
        async move { first.call(stays(1).session("one")).await.code }
    });
    eventually_async("the first call", || (!fleet.marks().is_empty()).then_some(())).await;
    assert_eq!(first.call(stays(2).session("two")).await.code, Code::RateLimited);
    other.kill();
    // The part of a dead host returns when its lease has ended.
    let call = stays(3).session("three");
    let patience = Instant::now();
    let second = loop {
        let second = tokio::spawn({
            let (first, call) = (first.clone(), call.clone());
            async move { first.call(call).await.code }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        if !second.is_finished() {
            break second;
        }
        assert!(patience.elapsed() < Duration::from_secs(90));
    };
    assert!(!begun.is_finished());
    begun.abort();
    second.abort();
}

/// The database is away. Each host keeps to its part, and none is unlimited.
#[tokio::test(flavor = "multi_thread")]
async fn each_host_keeps_to_its_part_while_the_database_is_away() {
    let Some(mut fleet) = Fleet::new() else { return };
    let keys = format!("rate = '{RATE}/s'");
    let hosts = [fleet.limited(1, &keys).await, fleet.limited(2, &keys).await];
    tokio::time::sleep(Duration::from_millis(1500)).await;
    fleet.server.stop().unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let (begun, mut completed) = (Instant::now(), [0_u32; 2]);
    while begun.elapsed() < Duration::from_secs(5) {
        for (host, completed) in hosts.iter().zip(&mut completed) {
            *completed += u32::from(host.call(mark(1)).await.code == Code::Completed);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let part = f64::from(RATE) / 2.0;
    let most = part * begun.elapsed().as_secs_f64() + part + 1.0;
    for completed in completed {
        assert!((part * 4.0..=most).contains(&f64::from(completed)), "{completed}");
    }
    fleet.server.start_again().unwrap();
}

/// A host cleans when it opens, so that hosts that live for seconds do not leave rows behind without end.
#[tokio::test(flavor = "multi_thread")]
async fn counts_that_are_unused_or_too_many_are_removed() {
    let Some(fleet) = Fleet::new() else { return };
    let run = |statement: &str| fleet.server.run(DATABASE, statement).unwrap();
    // Makes the tables.
    drop(fleet.approvals(1));
    run("INSERT INTO portcullis.rate SELECT 'unused-' || number, 0 FROM generate_series(1, 10) AS number");
    run("INSERT INTO portcullis.rate SELECT 'used-' || number, \
         (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 3600000000 + number \
         FROM generate_series(1, 65600) AS number");
    let host = fleet.limited(2, "rate = '6/h'").await;
    let least = || run("SELECT key FROM portcullis.rate ORDER BY paced_until LIMIT 1").trim().to_owned();
    // 65,536 remain, and those that use up their rate the longest.
    eventually_async("the removal", || (least() == "used-65").then_some(())).await;
    assert_eq!(run("SELECT count(*) FROM portcullis.rate").trim(), "65536");
    drop(host);
}
