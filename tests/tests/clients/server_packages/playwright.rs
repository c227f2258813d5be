//! `@playwright/mcp` of npm, and the browser that it drives. One section confines both.

use super::pages::{GRANTED, NO_CLIENT, OTHER, PATIENT, PageList, PageSite, call, read_only, recorded, writable};
use crate::office::installed;
use portcullis::{Code, Host, Output, Part, Reply};
use portcullis_tests::{assert_verifies, outcomes};
use serde_json::{Value, json};
use std::fs;

const PAGES: PageList = &[
    (
        "/",
        "<!doctype html><html lang=en><title>A counter</title><link rel=icon href=data:,>\
         <h1>A counter</h1><p id=count>0 times</p>\
         <button onclick=\"fetch('/count').then(answer => answer.text()).then(text => count.textContent = text)\">\
         Count</button></html>",
    ),
    ("/count", "1 time"),
];

/// Opens a host with the server and a browser with a profile. Its section also has these arguments of the program and
/// these lines.
async fn open(pages: &PageSite, arguments: &[&str], lines: &[String]) -> Host {
    let desk = pages.site.directory("desk");
    let [node, modules, browser] =
        ["NODE", "SERVER_MODULES", "BROWSER"].map(|name| installed(&format!("PORTCULLIS_TEST_{name}")));
    let (script, profile) = (modules.join("@playwright/mcp/cli.js"), desk.join("profile"));
    let [node, script, profile, program] = [&node, &script, &profile, &browser].map(|path| path.to_str().unwrap());
    // The browser's own sandbox needs namespaces, which no confined program can make.
    let fixed = [node, script, "--headless", "--no-sandbox", "--executable-path", program, "--user-data-dir", profile];
    // The default of 5 s is too short for a busy machine.
    let patient = ["--timeout-action", "60000"];
    let command = [&fixed[..], &patient, arguments].concat();
    let mut section = vec![
        format!("command = {command:?}"),
        // Chromium has more than 64 threads, and still more on a machine with more cores.
        "processes = 1024".to_owned(),
        PATIENT.to_owned(),
        writable("desk", &desk),
    ];
    section.extend(read_only("engine", browser.parent().unwrap()));
    section.extend(read_only("modules", &modules));
    pages.open("web", &[section.as_slice(), lines].concat()).await
}

async fn use_tool(host: &Host, tool: &str, arguments: Value) -> Reply {
    call(host, &format!("web.browser_{tool}"), arguments).await
}

/// Opens a page, which must load.
async fn visit(host: &Host, url: &str) -> Reply {
    let reply = use_tool(host, "navigate", json!({ "url": url })).await;
    assert_eq!(reply.code, Code::Completed, "{url}: {}", reply.message);
    reply
}

/// Returns the text of the page.
async fn snapshot(host: &Host) -> String {
    let reply = use_tool(host, "snapshot", json!({})).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    reply.message
}

/// Returns the result of a function of JavaScript in the page.
async fn evaluate(host: &Host, function: &str) -> String {
    let reply = use_tool(host, "evaluate", json!({ "function": function })).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    reply.message.lines().nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn a_page_is_opened_read_and_clicked() {
    let pages = PageSite::new(PAGES);
    let host = open(&pages, &[], &[pages.network(GRANTED)]).await;
    let visited = visit(&host, &pages.url(GRANTED, "/")).await;
    assert_eq!(recorded(&host, &visited).first(), Some(&format!("GET {} 200", pages.url(GRANTED, "/"))));
    let before = snapshot(&host).await;
    assert!(before.contains("0 times"), "{before}");
    let button = before.lines().find(|line| line.contains("button \"Count\"")).unwrap();
    let target = button.split("[ref=").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
    let clicked = use_tool(&host, "click", json!({ "element": "Count", "target": target })).await;
    assert_eq!(clicked.code, Code::Completed, "{}", clicked.message);
    let counted = use_tool(&host, "wait_for", json!({ "text": "1 time" })).await;
    assert_eq!(counted.code, Code::Completed, "{}", counted.message);
    let after = snapshot(&host).await;
    assert!(after.contains("1 time") && !after.contains("0 times"), "{after}");
    assert_eq!(pages.received(), ["/", "/count"]);
    let log: String = outcomes(&host).iter().map(ToString::to_string).collect();
    assert!(log.contains(&pages.url(GRANTED, "/count")), "{log}");
    let taken = use_tool(&host, "take_screenshot", json!({ "scale": "css" })).await;
    let Some(Output::Parts(parts)) = taken.output else { panic!("{}", taken.message) };
    let image = parts.iter().find_map(|part| match part {
        Part::Image(image) => Some(image),
        Part::Text(_) | Part::File(_) => None,
    });
    assert_eq!(&image.expect("an image").data[1..4], b"PNG");
    let written = fs::read_dir(pages.site.path("desk/.playwright-mcp")).unwrap();
    assert!(written.flatten().any(|file| file.path().extension().is_some_and(|kind| kind == "png")));
    assert_verifies(&host);
}

#[tokio::test]
async fn a_profile_in_its_directory_survives_the_host() {
    let pages = PageSite::new(PAGES);
    let lines = [pages.network(GRANTED)];
    let host = open(&pages, &[], &lines).await;
    visit(&host, &pages.url(GRANTED, "/")).await;
    evaluate(&host, "() => localStorage.setItem('name', 'Ada')").await;
    // The browser writes its profile when it closes. Dropping the host would kill it.
    assert_eq!(use_tool(&host, "close", json!({})).await.code, Code::Completed);
    drop(host);
    let host = open(&pages, &[], &lines).await;
    visit(&host, &pages.url(GRANTED, "/")).await;
    assert_eq!(evaluate(&host, "() => localStorage.getItem('name')").await, "\"Ada\"");
}

#[tokio::test]
async fn a_page_of_another_host_is_refused_and_a_page_sends_nothing_there() {
    let pages = PageSite::new(PAGES);
    let host = open(&pages, &[], &[pages.network(GRANTED)]).await;
    let (refused, stolen) = (pages.url(OTHER, "/"), pages.url(OTHER, "/stolen"));
    let reason = format!("the policy does not name the host {OTHER}");
    let reply = visit(&host, &refused).await;
    assert!(reply.message.contains("403 Forbidden"), "{}", reply.message);
    assert_eq!(recorded(&host, &reply).first(), Some(&format!("GET {refused} {reason}")));
    let shown = snapshot(&host).await;
    assert!(shown.contains(&reason), "the page says why: {shown}");
    visit(&host, &pages.url(GRANTED, "/")).await;
    let request = format!("async () => (await fetch({stolen:?}, {{ mode: 'no-cors' }})).type");
    let reply = use_tool(&host, "evaluate", json!({ "function": request })).await;
    let requests = recorded(&host, &reply);
    assert!(requests.contains(&format!("GET {stolen} {reason}")), "{requests:?} {}", reply.message);
    assert_eq!(pages.received(), ["/"]);
}

#[tokio::test]
async fn without_network_no_page_is_reached() {
    let pages = PageSite::new(PAGES);
    let host = open(&pages, &[], &[]).await;
    let reply = visit(&host, &pages.url(GRANTED, "/")).await;
    assert!(reply.message.contains("403 Forbidden"), "{}", reply.message);
    let refused = format!("GET {} {NO_CLIENT}", pages.url(GRANTED, "/"));
    assert_eq!(recorded(&host, &reply).first(), Some(&refused));
    pages.web.saw_nothing();
}

/// By default, Chromium connects to loopback addresses directly, and the confined network has its own ones.
#[tokio::test]
async fn a_web_server_on_the_loopback_interface_is_reached_if_the_proxy_is_an_argument() {
    let pages = PageSite::new(PAGES);
    let (url, lines) = (pages.url("127.0.0.1", "/"), [pages.network("127.0.0.1")]);
    let direct = open(&pages, &[], &lines).await;
    let reply = use_tool(&direct, "navigate", json!({ "url": url })).await;
    assert!(reply.message.contains("net::ERR_CONNECTION_REFUSED"), "{}", reply.message);
    pages.web.saw_nothing();
    drop(direct);
    let proxied = open(&pages, &["--proxy-server", "http://127.0.0.1:3128"], &lines).await;
    visit(&proxied, &url).await;
    assert!(snapshot(&proxied).await.contains("0 times"));
}

#[tokio::test]
async fn a_file_elsewhere_does_not_exist_even_if_the_server_opens_every_file() {
    let pages = PageSite::new(PAGES);
    let own = pages.site.directory("desk").join("note.txt");
    let elsewhere = pages.site.directory("home/.ssh").join("id_ed25519");
    fs::write(&own, "a note of the desk").unwrap();
    fs::write(&elsewhere, "canary-of-a-private-key").unwrap();
    let host = open(&pages, &[], &[]).await;
    let reply = use_tool(&host, "navigate", json!({ "url": format!("file://{}", own.display()) })).await;
    let is_told = reply.message.contains("Access to \"file:\" protocol is blocked");
    assert_eq!((reply.code, is_told), (Code::ToolFailed, true), "the server has its own rule: {}", reply.message);
    drop(host);
    let host = open(&pages, &["--allow-unrestricted-file-access"], &[]).await;
    visit(&host, &format!("file://{}", own.display())).await;
    let shown = snapshot(&host).await;
    assert!(shown.contains("a note of the desk"), "{shown}");
    // The confinement has a user list of its own, with two users.
    visit(&host, "file:///etc/passwd").await;
    let users = snapshot(&host).await;
    assert!(users.contains("unmapped:x:65534") && !users.contains("daemon:"), "{users}");
    let reply = use_tool(&host, "navigate", json!({ "url": format!("file://{}", elsewhere.display()) })).await;
    let is_missing = reply.message.contains("net::ERR_FILE_NOT_FOUND");
    assert_eq!((reply.code, is_missing), (Code::ToolFailed, true), "{}", reply.message);
    let shown = snapshot(&host).await;
    assert!(!shown.contains("canary"), "{shown}");
}

/// The tool `browser_run_code_unsafe` runs code of the caller in the server itself.
#[tokio::test]
async fn code_in_the_server_reaches_no_more_than_the_browser() {
    let pages = PageSite::new(PAGES);
    let own = pages.site.directory("desk").join("note.txt");
    let elsewhere = pages.site.directory("home/.ssh").join("id_ed25519");
    fs::write(&own, "a note of the desk").unwrap();
    fs::write(&elsewhere, "canary-of-a-private-key").unwrap();
    let host = open(&pages, &[], &[pages.network(GRANTED)]).await;
    let code = ATTACK
        .replace("FILES", &json!([own, elsewhere, pages.site.state().join("key"), "/etc/shadow"]).to_string())
        .replace("PORT", &pages.web.port().to_string());
    let reply = use_tool(&host, "run_code_unsafe", json!({ "code": code })).await;
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    let result: Value = serde_json::from_str(reply.message.lines().nth(1).unwrap()).unwrap();
    assert_eq!(result["files"], json!(["a note of the desk", "ENOENT", "ENOENT", "ENOENT"]));
    assert_eq!(result["connected"], "ECONNREFUSED");
    assert_eq!(result["variables"], json!([]), "the server has no variable of the host");
    pages.web.saw_nothing();
}

/// Reads files, connects without the proxy, and lists the variables that a test program has.
const ATTACK: &str = "async (page) => {
    const process = page.constructor.constructor('return process')();
    const [fs, net] = ['fs', 'net'].map(name => process.mainModule.require(name));
    const read = file => {
        try { return fs.readFileSync(file, 'utf8') } catch (error) { return error.code }
    };
    const connected = await new Promise(done => net.connect(PORT, '127.0.0.1')
        .on('error', error => done(error.code)).on('connect', () => done('connected')));
    const isOfTests = name => name.startsWith('PORTCULLIS_') || name.startsWith('CARGO_');
    return { files: FILES.map(read), connected, variables: Object.keys(process.env).filter(isOfTests) };
}";
