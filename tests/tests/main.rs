//! Black-box tests of the host: one program, so that the engine is linked once. Each module is a subject.
//!
//! `cargo xtask test MODULE` runs the tests of one module. nextest gives each test a process of its own. Tests that
//! need other people's clients, or plugins in every language, are programs of their own.

#![recursion_limit = "256"]

mod agent;
mod approvals;
mod asking;
mod author;
mod binary;
mod calls;
mod composition;
mod conformance;
mod console;
mod contract;
mod dynamic;
mod embed;
mod filesystem;
mod guard;
mod hoard;
mod hostile;
mod hosts;
mod imports;
mod input;
mod instances;
mod live;
mod mcp;
mod network;
mod openapi;
mod outputs;
mod pick;
mod plugins;
mod prepared;
mod providers;
mod rates;
mod record;
mod reload;
mod replicas;
mod schema;
mod servers;
mod services;
mod state;
mod sub_agent;
mod web;
mod worker_start;
