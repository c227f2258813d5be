//! Task IDs and request states: they are worthless to another principal.

use crate::guard::ask::Answer;
use crate::guard::service::{GOOD, OTHER_TOKEN, SLEEP, Service, TOKEN, modern};
use portcullis_mcp::{ClientAnswers, ServerOptions};
use serde_json::{Value, json};
use std::time::Duration;

/// The tasks extension of the protocol.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Sends a message with a principal's token and the client's capabilities.
async fn send(service: &Service, token: &str, capabilities: &Value, method: &str, params: Value) -> Answer {
    let name = params["taskId"].as_str().or(params["name"].as_str()).unwrap().to_owned();
    let mut message = modern(method, params);
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    let ask = service.modern(&message).with("Mcp-Name", &name).having("Authorization", &format!("Bearer {token}"));
    service.send(&ask).await
}

#[tokio::test]
async fn a_task_of_another_principal_does_not_exist() {
    let policy = "[limits]\ntime = \"60 s\"\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";
    let options = ServerOptions { task_after: Duration::ZERO, ..ServerOptions::default() };
    let service = Service::of(policy, options, |_| {}).await;
    let capable = json!({ "extensions": { TASKS: {} } });
    let call = json!({ "name": SLEEP, "arguments": {} });
    let begun = send(&service, TOKEN, &capable, "tools/call", call).await.is(200);
    let id = begun.last()["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun:?}")).to_owned();
    let task = json!({ "taskId": id });
    let unknown = json!({ "taskId": "0".repeat(32) });
    for method in ["tasks/get", "tasks/cancel"] {
        let foreign = send(&service, OTHER_TOKEN, &capable, method, task.clone()).await;
        let none = send(&service, OTHER_TOKEN, &capable, method, unknown.clone()).await;
        assert_eq!(foreign.last()["error"]["code"], -32602, "{method}: {foreign:?}");
        assert_eq!(foreign.last()["error"], none.last()["error"], "{method}");
    }
    let own = send(&service, TOKEN, &capable, "tasks/get", task.clone()).await.is(200);
    assert_eq!(own.last()["result"]["status"], "working", "{own:?}");
    send(&service, TOKEN, &capable, "tasks/cancel", task).await.is(200);
}

#[tokio::test]
async fn a_state_of_another_principal_answers_nothing() {
    let policy = "[[rule]]\ntool = \"*.*\"\ndecision = \"ask\"\n";
    let options = ServerOptions { client_answers: ClientAnswers::Person, ..ServerOptions::default() };
    let service = Service::of(policy, options, |_| {}).await;
    let capable = json!({ "elicitation": {} });
    let call = json!({ "name": GOOD, "arguments": {} });
    let asked = send(&service, TOKEN, &capable, "tools/call", call.clone()).await.is(200).last();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let key = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let mut retry = call;
    retry["requestState"] = asked["result"]["requestState"].clone();
    retry["inputResponses"] = json!({ key: { "action": "accept", "content": {} } });
    let foreign = send(&service, OTHER_TOKEN, &capable, "tools/call", retry.clone()).await;
    assert_eq!(foreign.last()["error"]["code"], -32602, "{foreign:?}");
    let own = send(&service, TOKEN, &capable, "tools/call", retry).await.is(200);
    assert_eq!(own.last()["result"]["isError"], false, "{own:?}");
}
