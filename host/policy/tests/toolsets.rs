//! Toolsets and offers: which tools a caller is offered, and that a later layer only narrows.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as the test itself may")]

use portcullis_policy::{Audience, Layers, Permission, Permissions, Policy, PolicyFault, Principal, Trust};

const TOOLS: [(&str, &[Permission]); 5] = [
    ("files.read", &[Permission::Read]),
    ("files.remove", &[Permission::Write]),
    ("shell.run", &[Permission::Execute]),
    ("web.fetch", &[Permission::Network]),
    ("todo.add", &[]),
];

/// Returns the tools that an audience is offered.
fn offered(policy: &Policy, audience: &Audience<'_>) -> Vec<&'static str> {
    let selection = policy.offered(audience).unwrap();
    let is_in = |permissions: &[Permission], name: &str| {
        selection.contains(&name.parse().unwrap(), permissions.iter().copied().collect::<Permissions>())
    };
    TOOLS.iter().filter(|(name, permissions)| is_in(permissions, name)).map(|(name, _)| *name).collect()
}

/// Returns the tools of a toolset.
fn tools(policy: &Policy, toolset: &str) -> Vec<&'static str> {
    let principal = Principal::default();
    offered(policy, &Audience { toolset: Some(toolset), ..Audience::new(&principal, "s") })
}

/// Returns the tools that a client, a model and a principal are offered. An empty name is none.
fn to(policy: &Policy, client: &str, model: &str, principal: &str) -> Vec<&'static str> {
    let principal = principal.parse().unwrap();
    let named = |name| Some(name).filter(|name: &&str| !name.is_empty());
    let audience = Audience { client: named(client), model: named(model), ..Audience::new(&principal, "s") };
    offered(policy, &audience)
}

fn parse(text: &str) -> Policy {
    Policy::layered(&Layers { user: Some(text), ..Layers::default() }).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn fault(text: &str) -> PolicyFault {
    Policy::layered(&Layers { user: Some(text), ..Layers::default() }).unwrap_err().error.fault
}

const CODING: &str = "[toolset.coding]\ntools = ['files.*', 'shell.run']\nexcept = ['files.remove']\n";

#[test]
fn a_toolset_has_the_tools_that_its_patterns_match_without_the_excepted_ones() {
    assert_eq!(tools(&parse(CODING), "coding"), ["files.read", "shell.run"]);
}

#[test]
fn two_toolsets_always_exist() {
    let policy = parse("");
    assert_eq!(tools(&policy, "all").len(), TOOLS.len());
    assert_eq!(tools(&policy, "read-only"), ["files.read", "web.fetch", "todo.add"]);
    let replaced = parse("[toolset.read-only]\ntools = ['web.*']\n");
    assert_eq!(tools(&replaced, "read-only"), ["web.fetch"]);
}

#[test]
fn a_toolset_includes_others_and_its_exceptions_apply_to_them() {
    let policy = parse(&format!(
        "{CODING}[toolset.more]\ntoolsets = ['coding', 'read-only']\ntools = ['files.remove']\nexcept = ['web.*']\n"
    ));
    assert_eq!(tools(&policy, "more"), ["files.read", "files.remove", "shell.run", "todo.add"]);
}

#[test]
fn a_chain_of_toolsets_that_include_the_next_one_twice_is_resolved_quickly() {
    let chain: String = (0..60)
        .map(|number| format!("[toolset.t{number}]\ntoolsets = ['t{0}', 't{0}']\n", number + 1))
        .chain(["[toolset.t60]\ntools = ['web.*']\n".to_owned()])
        .collect();
    assert_eq!(tools(&parse(&chain), "t0"), ["web.fetch"]);
}

#[test]
fn cycles_unknown_names_and_empty_lists_are_errors() {
    let cycle = "[toolset.a]\ntoolsets = ['b']\n[toolset.b]\ntoolsets = ['a']\n";
    assert_eq!(fault(cycle), PolicyFault::ToolsetCycle);
    assert_eq!(fault("[toolset.a]\ntoolsets = ['a']\n"), PolicyFault::ToolsetCycle);
    let near = PolicyFault::UnknownToolset { nearest: Some("coding".to_owned()) };
    assert_eq!(fault(&format!("{CODING}[[offer]]\ntoolset = 'codng'\n")), near);
    assert_eq!(fault("[toolset.a]\ntoolsets = ['zzzzzz']\n"), PolicyFault::UnknownToolset { nearest: None });
    assert_eq!(fault("[toolset.a]\ntools = []\n"), PolicyFault::Empty);
    assert_eq!(fault("[toolset.a]\nexcept = ['a.b']\n"), PolicyFault::MissingKey { name: "tools" });
    assert_eq!(fault("[[offer]]\nclient = 'a'\n"), PolicyFault::MissingKey { name: "toolset" });
    let many: String = (0..65).map(|number| format!("[toolset.t{number}]\ntools = ['a.b']\n")).collect();
    assert_eq!(fault(&many), PolicyFault::TooMany { most: 64 });
}

#[test]
fn a_chosen_toolset_that_does_not_exist_is_named_with_the_nearest_one() {
    let (policy, principal) = (parse(CODING), Principal::default());
    let audience = Audience { toolset: Some("codng"), ..Audience::new(&principal, "s") };
    let error = policy.offered(&audience).unwrap_err().to_string();
    assert!(error.contains("did you mean `coding`?") && error.contains("`read-only`"), "{error}");
}

#[test]
fn the_first_offer_that_matches_the_caller_applies() {
    let policy = parse(&format!(
        "{CODING}[[offer]]\nclient = 'claude-code*'\ntoolset = 'coding'\n\
         [[offer]]\nmodel = ['gpt-*', 'o1']\nprincipal = 'local'\ntoolset = 'read-only'\n\
         [[offer]]\nclient = 'claude*'\ntoolset = 'all'\n\
         [[offer]]\nprincipal = 'ci-*'\ntoolset = 'coding'\n"
    ));
    let (coding, read_only) = (["files.read", "shell.run"], ["files.read", "web.fetch", "todo.add"]);
    assert_eq!(to(&policy, "Claude-Code 2", "", "local"), coding, "case is ignored");
    assert_eq!(to(&policy, "claude-desktop", "", "local").len(), TOOLS.len());
    assert_eq!(to(&policy, "", "gpt-5", "local"), read_only);
    assert_eq!(to(&policy, "", "gpt-5", "alice").len(), TOOLS.len(), "every key must match");
    assert_eq!(to(&policy, "", "", "ci-7"), coding);
    assert_eq!(to(&policy, "", "", "local").len(), TOOLS.len(), "without an offer, every tool is offered");
}

#[test]
fn a_sub_agent_is_offered_at_most_what_its_parent_is_offered() {
    let policy = parse(&format!(
        "{CODING}[[offer]]\nprincipal = 'ci'\ntoolset = 'coding'\n[[offer]]\nprincipal = 'ci/*'\ntoolset = 'read-only'\n"
    ));
    assert_eq!(to(&policy, "", "", "ci"), ["files.read", "shell.run"]);
    assert_eq!(to(&policy, "", "", "ci/script"), ["files.read"]);
}

#[test]
fn a_project_never_widens_what_the_user_offers_whatever_its_trust() {
    let user = format!("{CODING}[[offer]]\nclient = '*'\ntoolset = 'coding'\n");
    let projects = [
        "[[offer]]\nclient = '*'\ntoolset = 'all'\n",
        "[toolset.coding]\ntools = ['*.*']\n",
        "[toolset.coding]\ntools = ['*.*']\n[[offer]]\ntoolset = 'coding'\n",
        "[toolset.read-only]\ntools = ['*.*']\n[[offer]]\ntoolset = 'read-only'\n",
        "[toolset.mine]\ntools = ['web.fetch']\n[[offer]]\ntoolset = 'mine'\n",
        "[toolset.coding]\ntools = ['files.*']\n",
    ];
    let allowed = to(&parse(&user), "x", "", "local");
    for project in projects {
        for trust in [Trust::Trusted, Trust::Untrusted] {
            let layers = Layers { user: Some(&user), project: Some((project, trust)), ..Layers::default() };
            let policy = Policy::layered(&layers).unwrap();
            let narrowed = to(&policy, "x", "", "local");
            assert!(narrowed.iter().all(|tool| allowed.contains(tool)), "{project}: {narrowed:?}");
            assert!(tools(&policy, "read-only").iter().all(|tool| tools(&parse(&user), "read-only").contains(tool)));
        }
    }
    let layers = Layers { user: Some(&user), project: Some((projects[5], Trust::Untrusted)), ..Layers::default() };
    assert_eq!(to(&Policy::layered(&layers).unwrap(), "x", "", "local"), ["files.read"], "a project may narrow");
}

#[test]
fn a_text_alone_may_name_a_toolset_of_another_layer_and_offers_nothing_then() {
    let policy = Policy::parse("[[offer]]\ntoolset = 'elsewhere'\n").unwrap();
    assert!(to(&policy, "", "", "local").is_empty());
}
