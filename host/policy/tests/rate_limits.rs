//! Rate limits: which calls they count, how they are written, and how layers combine.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{
    Caller, CountedPer, Hint, KnownTool, Layer, Layers, Permissions, Policy, PolicyFault, Principal, RateLimit,
    RatePeriod, ToolName, Trust,
};

fn parse(text: &str) -> Policy {
    Policy::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn limit(keys: &str) -> RateLimit {
    parse(&format!("[[rate-limit]]\n{keys}\n")).rate_limits()[0].clone()
}

fn fault(keys: &str) -> PolicyFault {
    Policy::parse(&format!("[[rate-limit]]\n{keys}\n")).unwrap_err().fault
}

fn counts(limit: &RateLimit, tool: &str, principal: &str) -> bool {
    let (tool, principal): (ToolName, Principal) = (tool.parse().unwrap(), principal.parse().unwrap());
    limit.counts(&tool, &Caller { session: "s", principal: &principal, automated: false })
}

#[test]
fn every_key_is_read_and_shown() {
    let all = limit(
        "tool = 'web.*'\nprincipal = ['ci-*', 'bob']\nper = ['tool', 'principal']\nrate = '30/min'\nburst = 5\n\
         concurrent = 2",
    );
    let rate = all.rate().unwrap();
    assert_eq!((rate.calls, rate.period, rate.burst, all.concurrent()), (30, RatePeriod::Minute, 5, Some(2)));
    assert!(CountedPer::ALL.into_iter().all(|per| all.is_counted_per(per)));
    let text = "tool web.*, principal ci-*, bob, per principal and tool, rate 30/min, burst 5, concurrent 2";
    assert_eq!(all.to_string(), text);
    let least = limit("concurrent = 1");
    assert_eq!((least.to_string().as_str(), least.rate()), ("tool *.*, concurrent 1", None));
    assert!(!least.is_counted_per(CountedPer::Principal) && !least.is_counted_per(CountedPer::Tool));
}

#[test]
fn without_a_burst_as_many_calls_as_the_rate_names_may_come_at_once() {
    for (text, calls) in [("10/s", 10), ("1/h", 1), ("1000000/min", 1_000_000)] {
        assert_eq!(limit(&format!("rate = '{text}'")).rate().unwrap().burst, calls);
    }
}

#[test]
fn a_limit_counts_the_calls_of_its_tools_and_principals_and_of_their_sub_agents() {
    let all = limit("rate = '1/s'");
    assert!(counts(&all, "web.fetch", "alice") && counts(&all, "tools.batch", "bob/x"));
    let some = limit("tool = 'web.*'\nprincipal = 'alice'\nrate = '1/s'");
    assert!(counts(&some, "web.fetch", "alice") && counts(&some, "web.fetch", "alice/agent/inner"));
    assert!(counts(&some, "web.fetch", "Alice"), "another case does not escape a limit");
    assert!(!counts(&some, "files.read", "alice") && !counts(&some, "web.fetch", "bob/alice"));
    let agent = limit("principal = 'alice/agent'\nrate = '1/s'");
    assert!(counts(&agent, "web.fetch", "alice/agent") && !counts(&agent, "web.fetch", "alice"));
}

#[test]
fn a_limit_that_limits_nothing_or_is_malformed_is_an_error() {
    assert_eq!(fault("tool = 'a.b'"), PolicyFault::LimitsNothing);
    assert_eq!(fault("burst = 2\nconcurrent = 1"), PolicyFault::MissingKey { name: "rate" });
    assert_eq!(fault("rate = '1/s'\nper = 'session'"), PolicyFault::Word { known: vec!["principal", "tool"] });
    assert!(matches!(fault("rates = '1/s'"), PolicyFault::UnknownKey { .. }));
    for rate in ["'10'", "'10/d'", "'10/ s'", "'10 / s'", "'/s'", "'1.5/s'", "'-1/s'", "'+1/s'", "'٣/s'", "'0/s'"] {
        assert!(matches!(fault(&format!("rate = {rate}")), PolicyFault::Amount(_)), "{rate}");
    }
    let most = ["rate = '1000001/s'", "rate = '1/s'\nburst = 1000001", "concurrent = 100001", "concurrent = 0"];
    for keys in most.into_iter().chain(["rate = '99999999999999999999/s'", "rate = '1/s'\nburst = 0"]) {
        assert!(matches!(fault(keys), PolicyFault::Amount(_)), "{keys}");
    }
    let many = "[[rate-limit]]\nconcurrent = 1\n".repeat(65);
    assert_eq!(Policy::parse(&many).unwrap_err().fault, PolicyFault::TooMany { most: 64 });
    assert!(fault("rate = 'x'").remedy().contains("\"10/s\""));
}

#[test]
fn the_limits_of_all_layers_apply_whatever_their_trust() {
    let user = "[[rate-limit]]\ntool = 'web.*'\nrate = '10/s'\n";
    let project = "\n\n[[rate-limit]]\ntool = 'web.*'\nrate = '100/s'\n[[rate-limit]]\ntool = 'web.*'\nrate = '10/s'\n";
    for trust in [Trust::Trusted, Trust::Untrusted] {
        let layers = Layers { user: Some(user), project: Some((project, trust)), ..Layers::default() };
        let policy = Policy::layered(&layers).unwrap();
        let texts: Vec<String> = policy.rate_limits().iter().map(ToString::to_string).collect();
        let expected = ["tool web.*, rate 10/s, burst 10", "tool web.*, rate 100/s, burst 100"];
        assert_eq!(texts, expected, "the same limit in two layers counts once");
        let place = policy.rate_limits()[1].place();
        assert_eq!((place.layer, place.line), (Layer::Project, 3));
    }
}

#[test]
fn a_limit_for_a_tool_that_a_loaded_plugin_does_not_have_is_found() {
    let (fetch, hints): (ToolName, [Hint; 0]) = ("web.fetch".parse().unwrap(), []);
    let tools = [KnownTool { name: &fetch, permissions: Permissions::NONE, hints: &hints, arguments: None }];
    let dead =
        |tool: &str| parse(&format!("[[rate-limit]]\ntool = '{tool}'\nconcurrent = 1\n")).dead_rate_limit(&tools);
    for fine in ["web.*", "web.fetch", "*.fetchh", "files.read", "{web,files}.read"] {
        assert_eq!(dead(fine), None, "{fine}");
    }
    let found = dead("web.fetchh").unwrap();
    assert_eq!(found.to_string(), "the rate limit on line 1 cannot count any call: there is no tool \"web.fetchh\"");
    assert_eq!(found.place.layer, Layer::User);
}

#[test]
fn a_limit_names_its_plugins() {
    let policy = parse("[[rate-limit]]\ntool = '{web,files}.*'\nconcurrent = 1\n");
    assert_eq!(policy.plugins().map(|plugin| plugin.as_str()).collect::<Vec<_>>(), ["files", "web"]);
}
