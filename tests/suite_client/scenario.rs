//! What each scenario asks of a client.

use crate::gateway;
use crate::host::ScenarioHost;
use serde_json::{Map, Value, json};

/// Maximum logins of one scenario. The user logs in once more if the host asks for it.
const LOGINS_MAX: usize = 2;

/// What the host says if its user has to log in again.
const LOG_IN_AGAIN: &str = "portcullis login";

/// The address of the client's description that the suite accepts as its name, as in its own client.
const DESCRIBED_CLIENT: &str = "https://conformance-test.local/client-metadata.json";

/// A scenario, and what the suite says about it.
pub(crate) struct Scenario {
    name: String,
    context: Value,
    /// The client that the authorization server knows.
    pub(crate) client: Option<KnownClient>,
}

/// A client that an authorization server knows, so that the host need not register itself.
pub(crate) struct KnownClient {
    pub(crate) id: String,
    pub(crate) secret: Option<String>,
}

impl Scenario {
    pub(crate) fn new(name: &str, context: Option<&str>) -> Self {
        let context: Value = context.map_or(Value::Null, |text| serde_json::from_str(text).unwrap());
        let text = |key: &str| context[key].as_str().map(str::to_owned);
        let id = match name {
            "auth/basic-cimd" => Some(DESCRIBED_CLIENT.to_owned()),
            _ => text("client_id"),
        };
        let client = id.map(|id| KnownClient { id, secret: text("client_secret") });
        Self { name: name.to_owned(), context, client }
    }

    pub(crate) fn logs_in(&self) -> bool {
        self.name.starts_with("auth/")
    }

    /// Returns whether the server asks the user during a call.
    pub(crate) fn asks_user(&self) -> bool {
        ["elicitation-sep1034-client-defaults", "sep-2322-client-request-state"].contains(&self.name.as_str())
    }

    /// Returns a part of what the host says if it has to refuse the login. `None` if it has to log in.
    fn login_refusal(&self) -> Option<&'static str> {
        match self.name.as_str() {
            "auth/iss-supported-missing" => Some("missing required issuer"),
            "auth/iss-wrong-issuer" | "auth/iss-unexpected" | "auth/iss-normalized" => Some("issuer mismatch"),
            "auth/metadata-issuer-mismatch" => Some("issuer mismatch"),
            "auth/resource-mismatch" => Some("resource mismatch"),
            // The server accepts no token. The host must not log in again by itself.
            "auth/scope-retry-limit" => Some("it demands an authorization"),
            _ => None,
        }
    }

    /// Returns a part of what the host says if it has to refuse a tool. `None` if it has to use all of them.
    fn tool_refusal(&self) -> Option<&'static str> {
        match self.name.as_str() {
            "json-schema-ref-no-deref" => Some("which is outside of it: refer only to parts of it"),
            _ => None,
        }
    }

    /// Returns the calls of the scenario: the tools and their arguments.
    fn calls(&self, tools: &[String]) -> Vec<(String, Value)> {
        match self.name.as_str() {
            "tools_call" => vec![("add_numbers".to_owned(), json!({ "a": 5, "b": 3 }))],
            "http-custom-headers" => {
                let calls = self.context["toolCalls"].as_array().unwrap().iter();
                calls
                    .map(|call| (call["name"].as_str().unwrap().to_owned(), without_null(&call["arguments"])))
                    .collect()
            }
            "http-invalid-tool-headers" => with_all(tools, &json!({ "region": "eu-west1" })),
            "json-schema-ref-no-deref" => Vec::new(),
            _ => with_all(tools, &json!({})),
        }
    }
}

fn with_all(tools: &[String], arguments: &Value) -> Vec<(String, Value)> {
    tools.iter().map(|tool| (tool.clone(), arguments.clone())).collect()
}

/// Leaves out the arguments that are null. The suite wants them to be null or absent, and their schema refuses null.
fn without_null(arguments: &Value) -> Value {
    let arguments = arguments.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
    Value::Object(arguments.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

/// Does what a scenario asks for.
pub(crate) async fn run(scenario: &Scenario, host: &ScenarioHost) -> Result<(), String> {
    if let Some(why) = scenario.login_refusal() {
        return must_say("the login", why, host.log_in().await.err());
    }
    let mut logins = 0;
    if scenario.logs_in() {
        log_in(host, &mut logins).await?;
    }
    if scenario.name == "json-schema-2020-12-preservation" {
        return gateway::echo_schema(host);
    }
    let listed = host.list();
    match scenario.tool_refusal() {
        Some(why) => must_say("a tool", why, listed.refusal)?,
        None => listed.refusal.map_or(Ok(()), Err)?,
    }
    for (tool, arguments) in scenario.calls(&listed.tools) {
        while let Err(told) = host.call(&tool, &arguments) {
            if !told.contains(LOG_IN_AGAIN) || logins >= LOGINS_MAX {
                return Err(told);
            }
            log_in(host, &mut logins).await?;
        }
    }
    Ok(())
}

/// Logs in, and again if the host asks for it.
async fn log_in(host: &ScenarioHost, logins: &mut usize) -> Result<(), String> {
    loop {
        *logins += 1;
        match host.log_in().await {
            Err(told) if told.contains(LOG_IN_AGAIN) && *logins < LOGINS_MAX => {}
            done => return done,
        }
    }
}

fn must_say(what: &str, why: &str, refusal: Option<String>) -> Result<(), String> {
    match refusal {
        Some(refusal) if refusal.contains(why) => Ok(()),
        Some(refusal) => Err(format!("{what} is refused for another reason than \"{why}\": {refusal}")),
        None => Err(format!("{what} is not refused")),
    }
}
