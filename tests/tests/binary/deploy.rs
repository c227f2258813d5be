//! The files of `deploy`: each starts the program with options that exist, under a policy that is valid.

use portcullis_tests::{Site, eventually, program, shipped_plugin};
use portcullis_tests_postgres::{Server, is_installed, query};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A token file with one client, as the Secret of the manifest has to have one.
const TOKENS: &str = "ci:ci-0123456789abcdef0123456789abcdef\n";

/// Where the files of `deploy` put things, and where a site has them.
const PLACES: [(&str, &str); 8] = [
    ("127.0.0.1:8080", "127.0.0.1:0"),
    ("0.0.0.0:8080", "127.0.0.1:0"),
    ("/etc/portcullis/policy.toml", "policy.toml"),
    ("/usr/local/share/portcullis/plugins", "plugins"),
    ("/run/secrets/portcullis/tokens", "tokens"),
    ("/run/secrets/portcullis/ledger-key", "ledger-key"),
    ("/var/lib/portcullis/state", "state"),
    ("/var/lib/portcullis", "state"),
];

fn read(name: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/").to_owned() + name;
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the arguments of the unit's program.
fn arguments_of_the_unit() -> Vec<String> {
    let unit = read("portcullis.service").replace("\\\n", " ");
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap().to_owned();
    line.split_whitespace().skip(1).map(str::to_owned).collect()
}

/// Returns the variables of the image, and the arguments that it starts with.
fn variables_and_arguments_of_the_image() -> (Vec<(String, String)>, Vec<String>) {
    let recipe = read("Containerfile").replace("\\\n", " ");
    let value = |key: &str| recipe.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    let variables = value("ENV ").split_whitespace().map(|pair| pair.split_once('=').unwrap());
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    (variables, serde_json::from_str(value("CMD ")).unwrap())
}

/// Returns the arguments of the container in the manifest.
fn arguments_of_the_replicas() -> Vec<String> {
    let manifest = read("kubernetes.yaml");
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != "args:").skip(1);
    let lines = lines.filter(|line| !line.starts_with('#')).map_while(|line| line.strip_prefix("- "));
    lines.map(|argument| argument.trim_matches('"').to_owned()).collect()
}

/// Returns the policy in the manifest.
fn policy_of_the_replicas() -> String {
    let manifest = read("kubernetes.yaml");
    let lines = manifest.lines().skip_while(|line| line.trim() != "policy.toml: |").skip(1);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.map(|line| format!("{}\n", line.trim_start())).collect()
}

/// Returns the options that a text names, such as `--http`.
fn options(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '-';
    let words = text.split(|character| !is_part(character));
    words.filter(|word| word.len() > 2 && word.starts_with("--")).map(str::to_owned).collect()
}

/// A site with the plugins of the image and the policy of the manifest.
fn site() -> Site {
    let site = Site::new();
    site.plugin("todo", &shipped_plugin("todo"));
    site.warm();
    fs::write(site.path("policy.toml"), policy_of_the_replicas()).unwrap();
    fs::write(site.path("tokens"), TOKENS).unwrap();
    fs::set_permissions(site.path("tokens"), fs::Permissions::from_mode(0o600)).unwrap();
    site
}

/// Starts the program as a file of `deploy` does, and ends it with SIGTERM.
fn starts_and_ends(site: &Site, arguments: &[String], variables: &[(String, String)]) {
    starts_and_ends_after(site, arguments, variables, |_| {});
}

/// Does the same, with something to do while the server runs at this address.
fn starts_and_ends_after(site: &Site, arguments: &[String], variables: &[(String, String)], meanwhile: impl Fn(&str)) {
    let here =
        |value: &str| PLACES.iter().find(|(there, _)| *there == value).map_or(value, |(_, here)| here).to_owned();
    let mut command = Command::new(program());
    command.env_clear().env("HOME", site.path("")).current_dir(site.path(""));
    command.args(arguments.iter().map(|argument| here(argument))).args(["--json", "--start-wait", "60"]);
    command.envs(variables.iter().filter(|(name, _)| name != "HOME").map(|(name, value)| (name, here(value))));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let document: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {arguments:?}"));
    let url = document["url"].as_str().and_then(|url| url.strip_suffix("/mcp")).unwrap_or_else(|| panic!("{document}"));
    let address = url.strip_prefix("http://").unwrap();
    for probe in ["/healthz", "/readyz"] {
        let answer = probed(address, probe);
        assert!(answer.starts_with("HTTP/1.1 200"), "{probe}: {answer}");
    }
    meanwhile(address);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
}

/// Sends the request of a probe, and returns the answer.
fn probed(address: &str, path: &str) -> String {
    let mut connection = TcpStream::connect(address).unwrap();
    write!(connection, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_unit_starts_the_server() {
    starts_and_ends(&site(), &arguments_of_the_unit(), &[]);
}

#[test]
fn the_image_starts_the_server() {
    let (variables, arguments) = variables_and_arguments_of_the_image();
    starts_and_ends(&site(), &arguments, &variables);
}

#[test]
fn the_replicas_start_the_server_with_the_variables_of_the_image() {
    let (variables, _) = variables_and_arguments_of_the_image();
    let arguments = arguments_of_the_replicas();
    assert!(arguments.len() > 5, "{arguments:?}");
    if !is_installed() {
        return;
    }
    let (site, server) = (site(), Server::start().unwrap());
    server.create("portcullis").unwrap();
    fs::write(site.path("ledger-key"), "0f".repeat(32)).unwrap();
    let database = ("PORTCULLIS_DATABASE".to_owned(), server.address("portcullis"));
    let variables: Vec<_> = variables.into_iter().chain([database]).collect();
    // The confined process can still connect to the database again.
    starts_and_ends_after(&site, &arguments, &variables, |address| {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'portcullis'";
        query(server.port(), "portcullis", end).unwrap();
        std::thread::sleep(Duration::from_secs(2));
        eventually("a new connection", || probed(address, "/readyz").starts_with("HTTP/1.1 200").then_some(()));
    });
}

/// The page describes options too, in inline code.
#[test]
fn every_option_that_the_page_names_exists() {
    let help = Command::new(program()).args(["serve", "--help"]).output().unwrap();
    let known = options(&String::from_utf8(help.stdout).unwrap());
    let page = read("README.md");
    let code =
        page.lines().filter(|line| !line.starts_with("    ")).flat_map(|line| line.split('`').skip(1).step_by(2));
    let named: BTreeSet<String> = code.filter(|code| code.starts_with("--")).flat_map(options).collect();
    assert!(!named.is_empty() && named.is_subset(&known), "{:?}", named.difference(&known).collect::<Vec<_>>());
}
