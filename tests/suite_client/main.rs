//! A client of the MCP conformance suite: `portcullis`, with the policy and the commands that a scenario needs.
//!
//! The suite starts a server for each scenario, and runs this program with the server's address. The program writes a
//! policy that names the address, logs in if the scenario is about logins, and calls the tools. Its last line says
//! whether the host did what the scenario asks for.

#![allow(clippy::disallowed_methods, reason = "this starts the program and plays the user's browser")]
#![allow(clippy::print_stdout, reason = "the suite keeps what this prints")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a client that cannot be set up has failed")]

mod gateway;
mod host;
mod scenario;

#[expect(dead_code, reason = "the tests of logins use the rest")]
#[path = "../tests/clients/logins/user.rs"]
mod user;

use host::ScenarioHost;
use scenario::Scenario;
use std::env;
use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let address = env::args().next_back().expect("the suite passes an address");
    let name = env::var("MCP_CONFORMANCE_SCENARIO").expect("the suite names the scenario");
    let scenario = Scenario::new(&name, env::var("MCP_CONFORMANCE_CONTEXT").ok().as_deref());
    let host = ScenarioHost::new(&address, &scenario);
    match scenario::run(&scenario, &host).await {
        Ok(()) => {
            println!("done");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            println!("failed: {}", fault.replace('\n', " | "));
            ExitCode::FAILURE
        }
    }
}
