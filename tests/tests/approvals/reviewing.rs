//! Reviewers that ask: based on a store and the settings, despite remembered approvals, and with their own patterns.

use crate::approvals::desk::{ALLOW, ASK, left_behind, open};
use crate::approvals::people::{Person, no};
use portcullis::hooks::Hooking;
use portcullis::policy::Unattended;
use portcullis::{Answer, Code, Covers, Hook, HookCall, Hooked, Host, Question, Reply, Request};
use portcullis_tests::{BlockOn, Site, built_guest_of, place};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A guest that asks above 100 EUR a day, and its approver.
struct Shop {
    site: Site,
    host: Host,
    person: Arc<Person>,
}

fn policy(rules: &str, purse: &str) -> String {
    format!("[approvals]\nrepeats = 1000000\n[plugin.purse]\n{purse}\n{rules}")
}

const SESSION: &str = "store.spent = { scope = \"session\" }";

fn site() -> Site {
    let site = Site::new();
    site.plugin("purse", &built_guest_of(portcullis::plugins::Contract::V0_2, "purse"));
    site
}

impl Shop {
    async fn of(policy: &str) -> Self {
        let (site, person) = (site(), Person::who_says(no()));
        let host = open(site.builder(policy).approver(Arc::clone(&person) as _)).await;
        Self { site, host, person }
    }

    async fn allowing() -> Self {
        Self::of(&policy(ALLOW, SESSION)).await
    }

    async fn pay(&self, payee: &str, amount: u64) -> Reply {
        self.host.call(pay(payee, amount)).await
    }

    /// Makes a call that needs approval. Returns the request.
    async fn asked(&self, request: Request, answer: Answer) -> Question {
        let code = if matches!(answer, Answer::No { .. }) { Code::ApprovalDenied } else { Code::Completed };
        self.person.says(answer);
        let reply = self.host.call(request).await;
        assert_eq!(reply.code, code, "{}", reply.message);
        self.person.says(no());
        let [question] = <[_; 1]>::try_from(self.person.asked()).unwrap();
        question
    }

    /// Makes a call that needs no approval.
    async fn unasked(&self, request: Request) {
        let reply = self.host.call(request).await;
        assert_eq!(reply.code, Code::Completed, "{}", reply.message);
        assert_eq!(self.person.asked(), []);
    }

    fn verifies(self) {
        drop(self.host);
        let audit = portcullis::open_audit(place(self.site.state())).block_on().unwrap();
        assert_eq!(audit.verify().block_on().unwrap().fault, None);
        assert!(
            portcullis::open_approvals(place(self.site.state()))
                .block_on()
                .unwrap()
                .list_all()
                .block_on()
                .unwrap()
                .faults
                .is_empty()
        );
    }
}

fn pay(payee: &str, amount: u64) -> Request {
    Request::new("purse.pay", json!({ "payee": payee, "amount": amount }).to_string())
}

fn pay_with(amount: u64, proposals: &Value) -> Request {
    Request::new("purse.pay", json!({ "payee": "ACME", "amount": amount, "proposals": proposals }).to_string())
}

fn offer(question: &Question, says: &str) -> Covers {
    let place = question.offers.iter().position(|offer| offer.contains(says));
    Covers::Offer(place.unwrap_or_else(|| panic!("{says}: {:?}", question.offers)))
}

#[tokio::test]
async fn a_reviewer_asks_by_what_earlier_calls_of_the_session_have_stored() {
    let shop = Shop::allowing().await;
    shop.unasked(pay("ACME", 60)).await;
    let question = shop.asked(pay("ACME", 50), no()).await;
    let reason = "The plugin says: 60 EUR were spent today, and this is 50 EUR more, over the limit of 100 EUR";
    assert_eq!(question.reason, reason);
    shop.unasked(pay("ACME", 40)).await;
    assert!(shop.asked(pay("ACME", 1), Answer::Yes).await.reason.contains("100 EUR were spent"));
    // Each session and each principal has its own store.
    shop.unasked(pay("ACME", 100).session("another")).await;
    shop.unasked(pay("ACME", 100).principal("another".parse().unwrap())).await;
    shop.verifies();
}

#[tokio::test]
async fn a_reviewer_reads_the_settings() {
    let policy = policy(ALLOW, &format!("{SESSION}\nconfig = {{ daily-limit = \"10\" }}"));
    let shop = Shop::of(&policy).await;
    shop.unasked(pay("ACME", 10)).await;
    assert!(shop.asked(pay("ACME", 1), Answer::Yes).await.reason.contains("over the limit of 10 EUR"));
}

#[tokio::test]
async fn a_reviewer_that_asks_overrides_no_deny_rule() {
    let rules = "[[rule]]\ntool = \"purse.pay\"\ndecision = \"deny\"\n";
    let shop = Shop::of(&policy(rules, SESSION)).await;
    assert_eq!(shop.pay("ACME", 500).await.code, Code::PolicyDenied);
    assert_eq!(shop.person.asked(), []);
}

#[tokio::test]
async fn without_an_approver_a_call_that_a_reviewer_asks_about_is_denied_or_pending() {
    for (unattended, code) in [(Unattended::Deny, Code::ApprovalDenied), (Unattended::Pending, Code::ApprovalPending)] {
        let site = site();
        let host = open(site.builder(&policy(ALLOW, SESSION)).unattended(unattended)).await;
        assert_eq!(host.call(pay("ACME", 100)).await.code, Code::Completed);
        assert_eq!(host.call(pay("ACME", 1)).await.code, code);
    }
}

/// A remembered approval for the policy's ask, or for another text of the reviewer, does not answer the reviewer.
#[tokio::test]
async fn a_reviewer_asks_although_a_remembered_approval_covers_the_call() {
    let shop = Shop::of(&policy(ASK, SESSION)).await;
    let always = || Answer::Always(Covers::Exact);
    let first = shop.asked(pay("ACME", 100), always()).await;
    assert!(!first.reason.contains("The plugin says"), "{}", first.reason);
    shop.unasked(pay("ACME", 100).session("another")).await;
    let second = shop.asked(pay("ACME", 100), always()).await;
    assert!(second.reason.contains("100 EUR were spent today"), "{}", second.reason);
    let third = shop.asked(pay("ACME", 100), no()).await;
    assert!(third.reason.contains("200 EUR were spent today"), "{}", third.reason);
    // This text was approved before, and that approval still counts.
    shop.unasked(pay("ACME", 100).session("another")).await;
    shop.verifies();
}

#[tokio::test]
async fn an_approved_pattern_of_a_reviewer_covers_calls_for_which_it_is_proposed_again() {
    let shop = Shop::allowing().await;
    let question = shop.asked(pay("ACME", 200), no()).await;
    let label = "any amount, payee = \"ACME\" (proposed by the plugin, only for its own question)";
    assert_eq!(question.offers, [label]);
    shop.asked(pay("ACME", 200), Answer::Session(offer(&question, "any amount"))).await;
    assert_eq!(shop.host.approvals().list().await.unwrap().answers[0].covers, label);
    shop.unasked(pay("ACME", 300)).await;
    shop.asked(pay("Bolt", 300), no()).await;
    shop.asked(pay("ACME", 300).session("another"), Answer::Yes).await.offers.iter().for_each(drop);

    // The pattern covers the call, but the reviewer no longer proposes it.
    let wide = json!([[{ "argument": "amount" }, { "argument": "proposals" }]]);
    let question = shop.asked(pay_with(200, &wide), no()).await;
    shop.asked(pay_with(200, &wide), Answer::Session(offer(&question, "any proposals"))).await;
    shop.unasked(pay_with(400, &wide)).await;
    shop.asked(pay_with(400, &json!([[{ "argument": "payee" }]])), no()).await;
    shop.verifies();
}

/// A plugin's pattern cannot answer the policy's ask.
#[tokio::test]
async fn an_approved_pattern_of_a_reviewer_does_not_answer_the_policy() {
    let shop = Shop::of(&policy(ASK, SESSION)).await;
    let question = shop.asked(pay("ACME", 200), no()).await;
    shop.asked(pay("ACME", 200), Answer::Always(offer(&question, "any amount"))).await;
    shop.asked(pay("ACME", 300), Answer::Yes).await;
    // An approval for the policy's ask, together with the pattern, is enough.
    shop.asked(pay("ACME", 70).session("fresh"), Answer::Always(Covers::Exact)).await;
    shop.unasked(pay("ACME", 70)).await;
    shop.asked(pay("ACME", 71), no()).await;
    shop.verifies();
}

#[tokio::test]
async fn a_pattern_that_is_too_wide_is_not_offered() {
    let shop = Shop::allowing().await;
    let proposals = json!([
        [{ "argument": "nothing" }],
        [{ "argument": "payee", "within": "**" }],
        [{ "argument": "payee", "within": "src/**" }],
        [{ "argument": "amount" }, { "argument": "amount" }],
        [{ "argument": "amount" }, { "argument": "proposals" }],
    ]);
    let question = shop.asked(pay_with(200, &proposals), no()).await;
    assert_eq!(question.offers, Vec::<String>::new(), "a fifth pattern is over the limit");
    let place = Covers::Offer(0);
    shop.person.says(Answer::Session(place));
    assert_eq!(shop.host.call(pay_with(200, &proposals)).await.code, Code::RecordUnavailable);
}

/// Between the request and the run, the plugin finds something new to ask about.
#[tokio::test]
async fn a_pending_approval_covers_only_what_its_approver_saw() {
    let site = site();
    let host = open(site.builder(&policy(ALLOW, SESSION)).unattended(Unattended::Pending)).await;
    assert_eq!(host.call(pay("ACME", 100)).await.code, Code::Completed);
    let question = left_behind(&host, pay("ACME", 50)).await;
    host.approvals().answer(&question, &Answer::Yes).await.unwrap();
    assert_eq!(host.call(pay("ACME", 50)).await.code, Code::Completed, "nothing has changed");

    let [early, late] = [left_behind(&host, pay("ACME", 20)).await, left_behind(&host, pay("ACME", 30)).await];
    for question in [&early, &late] {
        host.approvals().answer(question, &Answer::Yes).await.unwrap();
    }
    assert_eq!(host.resume(&early).await.unwrap().code, Code::Completed);
    // Repeating the call instead of `resume` creates another request.
    let again = left_behind(&host, pay("ACME", 30)).await;
    assert_ne!(again, late);
    let reply = host.resume(&late).await.unwrap();
    assert_eq!(reply.code, Code::ApprovalDenied, "{}", reply.message);
    assert!(reply.message.contains("170 EUR were spent today"), "{}", reply.message);
}

#[tokio::test]
async fn a_review_can_read_but_not_change() {
    let shop = Shop::allowing().await;
    shop.unasked(pay("ACME", 60)).await;
    let read_only = "the store is read-only while a call is reviewed";
    for (attempt, said) in
        [("get", "it worked"), ("set", read_only), ("delete", read_only), ("increment", read_only), ("other", "other")]
    {
        let arguments = json!({ "payee": "ACME", "amount": 1, "attempt": attempt });
        let reply = shop.host.call(Request::new("purse.pay", arguments.to_string())).await;
        assert_eq!(reply.code, Code::ReviewRefused, "{attempt}");
        assert!(reply.message.contains(&format!("{attempt}: ")) && reply.message.contains(said), "{}", reply.message);
    }
    for (attempt, said) in [("loop", "limit on time"), ("trap", "trapped"), ("hoard", "its review ")] {
        let arguments = json!({ "payee": "ACME", "amount": 1, "attempt": attempt });
        let reply = shop.host.call(Request::new("purse.pay", arguments.to_string())).await;
        assert_eq!(reply.code, Code::ReviewRefused, "{attempt}");
        assert!(reply.message.contains(said), "{attempt}: {}", reply.message);
    }
    assert!(shop.asked(pay("ACME", 50), no()).await.reason.contains("60 EUR were spent"), "nothing may change");
    shop.verifies();
}

const MIDDLE: &str = "[defaults]\ndecision = \"ask\"\n\
    [[rule]]\ntool = \"purse.*\"\nwhen = { resource = \"payments/**\" }\ndecision = \"allow\"\n";

fn act(resource: &str, patterns: &[&str]) -> Request {
    Request::new("purse.act", json!({ "resource": resource, "patterns": patterns }).to_string())
}

#[tokio::test]
async fn a_running_call_proposes_patterns() {
    let shop = Shop::of(&policy(MIDDLE, SESSION)).await;
    let patterns = ["payments/**", "payments/2026/11/**", "src/**", "**"];
    let request = |resource: &str| act(resource, &patterns);
    shop.person.says(no());
    let reply = shop.host.call(request("payments/2026/11/23/acme")).await;
    assert_eq!(reply.code, Code::ToolDenied, "{}", reply.message);
    let question = shop.person.asked().remove(0);
    let offers = [
        "resource = \"payments/2026/11/23/**\"",
        "resource = \"payments/**\"",
        "resource = \"payments/2026/11/**\" (proposed by the plugin)",
    ];
    assert_eq!(question.offers, offers);
    shop.asked(request("payments/2026/11/23/acme"), Answer::Session(offer(&question, "proposed"))).await;
    shop.unasked(request("payments/2026/11/24/bolt")).await;
    let reply = shop.host.call(request("payments/2026/12/1/acme")).await;
    assert_eq!((reply.code, shop.person.asked().len()), (Code::ToolDenied, 1));
    shop.verifies();
}

/// Asks depending on the session's store and a setting.
struct Sums;

impl Hook for Sums {
    fn before<'a>(&'a self, call: &'a HookCall<'a>) -> Hooking<'a> {
        Box::pin(async move {
            let days = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / (24 * 60 * 60);
            let stored = call.stored("spent", &format!("day-{days}")).await.unwrap();
            assert!(call.stored("other", "key").await.is_err() && call.stored("none", "key").await.is_err());
            let spent: u64 = stored.map_or(0, |stored| String::from_utf8(stored).unwrap().parse().unwrap());
            let threshold: u64 = call.settings["threshold"].parse().unwrap();
            if spent < threshold { Hooked::pass() } else { Hooked::ask(&format!("{spent} EUR\u{1b}")) }
        })
    }
}

#[tokio::test]
async fn a_hook_asks_based_on_the_store_of_the_session_and_the_settings() {
    let (site, person) = (site(), Person::who_says(no()));
    let purse = format!("{SESSION}\nconfig = {{ daily-limit = \"1000\", threshold = \"60\" }}");
    let builder = site.builder(&policy(ALLOW, &purse)).approver(Arc::clone(&person) as _);
    let host = open(builder.hook(Arc::new(Sums))).await;
    let shop = Shop { site, host, person };
    shop.unasked(pay("ACME", 60)).await;
    let question = shop.asked(pay("ACME", 1), no()).await;
    assert_eq!(question.reason, "A hook of this host asks: 60 EUR\\u{1b}");
    shop.unasked(pay("ACME", 1).session("another")).await;
    shop.verifies();
}
