//! Environment variables that would redirect the program. N20, N34, X06, X07, X12.

use crate::network::encode::{clean, clean_below};
use crate::network::lab::{Grant, Plan, to, with};
use portcullis_tests::net::{Authority, Behaviour, Dns, Server};
use portcullis_tests::program;
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Output, Stdio};

const CANARY: &str = "cnry4Wd8sXk2Nf6Vb9Qj3Tz";

/// Runs one call of the program on a site, with only these environment variables.
fn call(plan: &Plan, tool: &str, arguments: &Value, variables: &[(&str, &str)]) -> Output {
    fs::write(plan.site.path("portcullis.toml"), plan.policy()).unwrap();
    let mut command = Command::new(program());
    command.current_dir(plan.site.path("")).env_clear().env("HOME", plan.site.path("home"));
    command.env("PORTCULLIS_STATE", plan.site.state()).env("PORTCULLIS_POLICY", "portcullis.toml");
    command.envs(variables.iter().copied()).env("PATH", "/usr/bin:/bin");
    command.args(["--json", "call", tool, &arguments.to_string()]).stdin(Stdio::null());
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// No environment variable puts a proxy between the host and the server.
#[tokio::test]
async fn n20_proxy_variables_are_ignored() {
    let server = Server::plain(Behaviour::ok());
    let trap = Server::plain(Behaviour::ok());
    let plan = Plan::new().await.grant("api", Grant::to(&["good.test"], &server));
    plan.dns.point("good.test", &["127.0.0.1"]);
    let proxy = format!("http://127.0.0.1:{}", trap.port());
    let names = [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
        "FTP_PROXY",
        "PROXY",
        "SOCKS_PROXY",
    ];
    let mut variables: Vec<_> = names.iter().map(|name| (*name, proxy.as_str())).collect();
    variables.push(("NO_PROXY", ""));
    let errands = json!({ "errands": [to("good.test", &server, "/")] });
    let output = call(&plan, "courier.send", &errands, &variables);
    assert!(output.status.success(), "{}", text(&output));
    trap.saw_nothing();
    assert_eq!(server.seen().requests.len(), 1, "{}", text(&output));
    assert!(server.texts()[0].starts_with("GET / HTTP/1.1\r\n"));
}

/// The trusted certificates are the built-in ones or those of the policy.
#[tokio::test]
async fn n34_variables_add_no_roots() {
    let authority = Authority::new("user");
    let server = Server::tls(authority.serves(&["good.test"]), Behaviour::ok());
    let plan = Plan::new().await.grant("api", Grant::tls(&["good.test"], &server).without("roots"));
    let plan = plan.file("roots.pem", &authority.pem());
    plan.dns.point("good.test", &["127.0.0.1"]);
    let file = plan.site.path("roots.pem");
    let file = file.to_str().unwrap();
    let directory = plan.site.path("");
    let directory = directory.to_str().unwrap();
    let variables = [
        ("SSL_CERT_FILE", file),
        ("SSL_CERT_DIR", directory),
        ("CURL_CA_BUNDLE", file),
        ("REQUESTS_CA_BUNDLE", file),
        ("NODE_EXTRA_CA_CERTS", file),
        ("SSLKEYLOGFILE", "keys.log"),
    ];
    let errands = json!({ "errands": [with(to("good.test", &server, "/"), &json!({ "scheme": "https" }))] });
    let output = call(&plan, "courier.send", &errands, &variables);
    assert!(text(&output).contains("Tls"), "{}", text(&output));
    assert_eq!(server.seen().requests.len(), 0);
    assert!(!plan.site.path("keys.log").exists());

    // With the roots in the policy the request arrives, and no key log is written.
    let plan = plan.grant("api", Grant::tls(&["good.test"], &server));
    let output = call(&plan, "courier.send", &errands, &variables);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(server.seen().requests.len(), 1, "{}", text(&output));
    assert!(!plan.site.path("keys.log").exists());
}

/// The resolvers are those of the policy, whatever the environment says.
#[tokio::test]
async fn n20_resolver_variables_are_ignored() {
    let server = Server::plain(Behaviour::ok());
    let trap = Dns::start();
    let plan =
        Plan::new().await.grant("api", Grant::to(&["good.test"], &server)).file("hosts", "127.0.0.1 alias.test\n");
    plan.dns.point("good.test", &["127.0.0.1"]);
    let hosts = plan.site.path("hosts");
    let variables =
        [("HOSTALIASES", hosts.to_str().unwrap()), ("LOCALDOMAIN", "evil.test"), ("RES_OPTIONS", "ndots:9 timeout:1")];
    let errands = json!({ "errands": [to("good.test", &server, "/")] });
    let output = call(&plan, "courier.send", &errands, &variables);
    assert!(output.status.success(), "{}", text(&output));
    assert!(plan.dns.asked().iter().all(|name| name == "good.test"), "{:?}", plan.dns.asked());
    assert_eq!(trap.asked(), Vec::<String>::new());
}

/// A secret from the environment reaches its server, but not the plugin, the terminal or a file.
#[tokio::test]
async fn x06_x07_a_secret_of_the_environment_is_nowhere_else() {
    let server = Server::plain(Behaviour::answer(|request| Behaviour::whole(200, &[], request)));
    let secret = "{ host = \"good.test\", header = \"authorization\", value = \"Bearer {}\", from = \"env:CANARY\" }";
    let plan = Plan::new().await.grant("api", Grant::to(&["good.test"], &server).set("secret", secret));
    plan.dns.point("good.test", &["127.0.0.1"]);
    let errands = json!({ "errands": [
        { "op": "has-secret", "client": "api" },
        to("good.test", &server, "/"),
        with(to("good.test", &server, "/"), &json!({ "headers": [["authorization", "mine"]] })),
        to("evil.test", &server, "/"),
    ] });
    let output = call(&plan, "courier.send", &errands, &[("CANARY", CANARY)]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(server.seen().heard(CANARY.as_bytes()), "{:?}", server.texts());
    clean("the terminal", text(&output).as_bytes(), CANARY);
    assert!(text(&output).contains("[redacted"), "{}", text(&output));
    for command in [&["audit", "show", "--json"][..], &["inspect", "courier"], &["list", "--json"], &["check"]] {
        let mut program = Command::new(program());
        program.current_dir(plan.site.path("")).env_clear().env("HOME", plan.site.path("home")).env("CANARY", CANARY);
        program.env("PORTCULLIS_STATE", plan.site.state()).env("PORTCULLIS_POLICY", "portcullis.toml");
        let output = program.args(command).stdin(Stdio::null()).output().unwrap();
        clean(&format!("{command:?}"), text(&output).as_bytes(), CANARY);
    }
    assert!(clean_below(&plan.site.path(""), CANARY) > 5);
}

/// An untrusted project policy binds nothing: no host, no secret, no resolver.
#[tokio::test]
async fn x12_an_untrusted_policy_binds_nothing() {
    let server = Server::plain(Behaviour::ok());
    let secret = "{ host = \"good.test\", header = \"authorization\", value = \"Bearer {}\", from = \"env:CANARY\" }";
    let plan = Plan::new().await.grant("api", Grant::to(&["good.test"], &server).set("secret", secret));
    plan.dns.point("good.test", &["127.0.0.1"]);
    fs::write(plan.site.path("portcullis.toml"), plan.policy()).unwrap();
    let arguments = json!({ "errands": [to("good.test", &server, "/")] }).to_string();
    let mut command = Command::new(program());
    command.current_dir(plan.site.path("")).env_clear().env("HOME", plan.site.path("home")).env("CANARY", CANARY);
    command.env("PORTCULLIS_STATE", plan.site.state());
    command.args(["--json", "call", "courier.send", &arguments]).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(!text(&output).contains("\"status\":200"), "{}", text(&output));
    server.saw_nothing();
    assert_eq!(plan.dns.asked(), Vec::<String>::new());
}
