//! What a program lacks for one run: a person decides, who reads the program, its arguments, and what it would get.

use super::caller::GuestLink;
use super::question::AskedResource;
use crate::policy_in_force::PolicyInForce;
use crate::text::WithCauses;
use portcullis_policy::{
    Access, Binding, DependencyKey, Destination, Escalation as EscalationRule, HostPattern, HttpBinding, HttpLimits,
    Permission, ProcessBinding, ProcessNetwork, Scheme, Unnamed,
};
use portcullis_sandbox::{Client, Escalation, Missing, PathBase, ProgramExtra};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a program may do at a destination that a person allows: everything that a usual client does, and a tunnel.
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT"];

/// One thing that a person can allow, in the words that the person reads.
struct Offer {
    permission: Permission,
    what: String,
    extra: ProgramExtra,
}

impl GuestLink {
    /// Asks a person for what a program lacks. The error is for the model.
    pub(super) async fn ask_for_program(&self, escalation: Escalation) -> Result<ProgramExtra, String> {
        let Escalation { key, program, arguments, environment, directory, missing } = escalation;
        let policy = self.host.policy();
        let plugin = &self.call.plugin.name;
        let key = DependencyKey::new(&key).map_err(|error| error.to_string())?;
        // The policy may have changed since the call began.
        let Some(Binding::Process(binding)) = policy.policy.bindings(plugin).get(&key) else {
            return Err("the policy no longer binds this program".to_owned());
        };
        if binding.escalate != EscalationRule::Ask {
            return Err("the policy no longer lets this program ask for more than its binding".to_owned());
        }
        let offer = match missing {
            Missing::Destination(destination) => self.destination(&policy, binding, &destination)?,
            Missing::Directory { path, access } => self.directory(key.clone(), path, access).await?,
        };
        let tool = &self.call.tool;
        if !tool.permissions().contains(offer.permission) {
            return Err(format!("{} does not declare the permission {}", tool.name(), offer.permission));
        }
        // In JSON, so that no argument can hide another one or look like the host's own words.
        let arguments = Value::from(arguments).to_string();
        let mut resource =
            format!("{}, for one run of {} with the arguments {arguments}", offer.what, program.display());
        if !environment.is_empty() {
            let environment: Map<String, Value> =
                environment.into_iter().map(|(name, value)| (name, value.into())).collect();
            resource = format!("{resource}, the variables {}", Value::from(environment));
        }
        if let Some(directory) = directory {
            resource = format!("{resource}, in {}", Value::from(directory));
        }
        let reason = format!("the program `{key}` does not have it (its standard input is not shown)");
        let (permission, patterns) = (offer.permission, Vec::new());
        self.decide_resource(AskedResource { permission, resource, reason, patterns, by_person: true }).await?;
        Ok(offer.extra)
    }

    /// Returns a client for one destination. It reaches the same addresses as the program's own client.
    fn destination(&self, policy: &PolicyInForce, binding: &ProcessBinding, text: &str) -> Result<Offer, String> {
        // The scheme only supplies the default port. The client below takes both schemes.
        let destination = Destination::from_parts("https", text, "/")
            .map_err(|error| format!("write a host and a port, such as \"files.example.org:443\": {error}"))?;
        let own = match &binding.network {
            ProcessNetwork::Http(key) => self.call.plugin.grants.client(key).map(|client| client.binding()),
            ProcessNetwork::None => None,
        };
        let host = HostPattern::new(&destination.host().to_string()).map_err(|error| error.to_string())?;
        let mut client = HttpBinding {
            schemes: vec![Scheme::Http, Scheme::Https],
            hosts: Vec::new(),
            unnamed: Unnamed::Deny,
            ports: vec![destination.port()],
            methods: METHODS.map(str::to_owned).to_vec(),
            paths: Vec::new(),
            headers: None,
            addresses: own.map(|own| own.addresses.clone()).unwrap_or_default(),
            roots: None,
            secret: None,
            narrow: None,
            limits: own.map_or_else(HttpLimits::default, |own| own.limits),
            server: None,
        };
        // Before the host is named, because naming an address permits it. The person would read the address, and not
        // which service has it.
        if !client.may_permit(destination.host()) {
            return Err(format!(
                "no approval can let a program reach {}, which is not a public host",
                destination.host()
            ));
        }
        client.hosts.push(host);
        let what = format!("any requests to {}", destination.authority());
        let client = Client::new(&policy.network, Arc::new(client), PathBase::from(PathBuf::new()));
        let client = client.map_err(|error| WithCauses(&error).to_string())?;
        Ok(Offer { permission: Permission::Network, what, extra: ProgramExtra::Client(client) })
    }

    /// Opens a directory of the machine, under the checks of a grant. The person reads where it really is.
    async fn directory(&self, key: DependencyKey, path: String, access: Access) -> Result<Offer, String> {
        if !Path::new(&path).is_absolute() {
            return Err("write the absolute path of a directory".to_owned());
        }
        let (host, plugin) = (Arc::clone(&self.host), self.call.plugin.name.clone());
        let opened = tokio::task::spawn_blocking(move || {
            let (policy, directories) = (host.policy(), host.loader.plugins.held());
            let opening = policy.opening(&host.state, &directories);
            opening.one_directory((&plugin, &key), path, access).map_err(|error| WithCauses(&error).to_string())
        });
        let bound = opened.await.map_err(|_| "the host stops".to_owned())??;
        let permission = match access {
            Access::ReadOnly => Permission::Read,
            Access::ReadWrite => Permission::Write,
        };
        let what = format!("{access} access to {}", bound.place);
        Ok(Offer { permission, what, extra: ProgramExtra::Directory(bound.directory) })
    }
}
