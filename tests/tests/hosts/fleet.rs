//! Several hosts with one ledger. They have the same plugins and the same directory for marks, as replicas have.

use crate::approvals::child::{Child, Order};
use crate::approvals::desk::{ASK, Desk, policy};
use portcullis::state::{PostgresAddress, StatePlace};
use portcullis::{Approvals, Compiler, Host, HostBuilder, open_approvals, open_audit};
use portcullis_tests::{BlockOn, PLACE};
use portcullis_tests_postgres::{Server, address_at, is_installed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The database of the ledger.
pub(super) const DATABASE: &str = "ledger";

/// Several hosts with one ledger.
pub(super) struct Fleet {
    pub(super) server: Server,
    pub(super) desk: Desk,
    /// The port at which the hosts reach the database.
    port: u16,
}

impl Fleet {
    /// Makes a fleet with a server of its own. Returns `None` on a machine without PostgreSQL.
    pub(super) fn new() -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let server = Server::start().unwrap();
        server.create(DATABASE).unwrap();
        let (desk, port) = (Desk::new(), server.port());
        fs::write(desk.site.path("key"), "5a".repeat(32)).unwrap();
        Some(Self { server, desk, port })
    }

    /// Lets the hosts reach the database at another port.
    pub(super) fn through(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// Returns the state directory of a host.
    pub(super) fn state(&self, host: usize) -> PathBuf {
        self.desk.site.path(format!("host-{host}"))
    }

    pub(super) fn key(&self) -> PathBuf {
        self.desk.site.path("key")
    }

    pub(super) fn address(&self) -> String {
        address_at(self.port, DATABASE)
    }

    /// Returns the place of a host's state. The host with this number has its own directory.
    pub(super) fn place(&self, host: usize) -> StatePlace {
        let address = PostgresAddress::new(self.address());
        StatePlace::from(self.state(host)).ledger_in(address).ledger_key(self.key())
    }

    /// Returns the builder of a host on which every call needs approval.
    pub(super) fn builder(&self, host: usize) -> HostBuilder {
        let builder = Host::builder(self.desk.site.plugins(), self.place(host)).compiler(Compiler::InProcess).calls(4);
        builder.policy_text(&policy(ASK), self.desk.root())
    }

    /// Opens only the approvals of a host.
    pub(super) fn approvals(&self, host: usize) -> Approvals {
        open_approvals(self.place(host)).block_on().unwrap()
    }

    /// Starts a host as a process of its own.
    pub(super) fn start(&self, host: usize, order: Order, about: &str) -> Child {
        let (state, address, key) = (self.state(host), self.address(), self.key());
        let place = format!("{} {address} {}", state.display(), key.display());
        Child::start_with(order, &self.desk.root(), about, &[(PLACE, place)])
    }

    /// Returns every entry of a host's audit log, oldest first. It verifies.
    pub(super) fn record(&self, host: usize) -> Vec<Value> {
        let mut documents = Vec::new();
        let log = open_audit(self.place(host)).block_on().unwrap();
        let read = log.read(|entry| {
            documents.push(entry.document);
            Ok(())
        });
        assert_eq!(read.block_on().unwrap().fault, None, "host {host}");
        documents
    }

    pub(super) fn marks(&self) -> BTreeMap<String, usize> {
        self.desk.marks()
    }
}
