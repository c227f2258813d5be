//! Services of one call, limited to what the policy grants and to the limits of the call.

use super::error::InjectError;
use super::facts::CallFacts;
use super::injection::{CallValues, Exposed, Injection};
use super::overrides::Overrides;
use super::service::{Service, ServiceError};
use super::uses::Uses;
use crate::caught::caught;
use crate::json;
use crate::text::{OneLine, WithCauses, cut};
use portcullis_policy::{DependencyKey, Limits, ServiceBinding};
use portcullis_sandbox::BoxFuture;
use std::sync::Arc;

/// Maximum length of a method's name, in bytes. A policy allows no longer name.
const METHOD_BYTES_MAX: usize = 64;

/// The values and services of one call. Clones share them.
#[derive(Clone)]
pub(crate) struct CallInjection {
    injection: Arc<Injection>,
    values: Arc<CallValues>,
    uses: Uses,
}

impl Injection {
    /// Begins the injection for one call. Values are only created when they are needed.
    pub(crate) fn begin(self: &Arc<Self>, facts: CallFacts, overrides: &Overrides) -> CallInjection {
        CallInjection::new(Arc::clone(self), facts, overrides.clone())
    }
}

impl CallInjection {
    fn new(injection: Arc<Injection>, facts: CallFacts, overrides: Overrides) -> Self {
        let values = Arc::new(CallValues::new(Arc::clone(&injection), facts, overrides));
        Self { injection, values, uses: Uses::default() }
    }

    /// Returns the service that the policy binds to a key, or `None` if the application has no such service.
    pub(crate) fn grant(
        &self,
        key: &DependencyKey,
        binding: &ServiceBinding,
        limits: &Limits,
    ) -> Option<Arc<dyn portcullis_sandbox::Service>> {
        let exposed = self.injection.exposed(&binding.name)?;
        Some(Arc::new(GrantedService {
            exposed,
            values: Arc::clone(&self.values),
            uses: self.uses.clone(),
            key: Arc::from(key.as_str()),
            binding: binding.clone(),
            input_bytes_max: limits.arguments_bytes,
            output_bytes_max: limits.output_bytes,
        }))
    }

    /// Returns the counters of the call's service use, for the audit log. They keep counting while the call runs.
    pub(crate) fn uses(&self) -> &Uses {
        &self.uses
    }
}

struct GrantedService {
    exposed: Exposed,
    values: Arc<CallValues>,
    uses: Uses,
    key: Arc<str>,
    binding: ServiceBinding,
    input_bytes_max: usize,
    output_bytes_max: usize,
}

impl portcullis_sandbox::Service for GrantedService {
    fn open(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async {
            self.uses.opened(&self.key, &self.binding.name);
            self.service().await.map(drop).map_err(|error| {
                // The detail is for the operator. The sandbox tells the guest only that opening failed.
                let detail = WithCauses(&error).to_string();
                self.failed(Some(&detail));
                detail
            })
        })
    }

    fn call(&self, method: String, input: String) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async move { self.checked(&method, &input).await.map_err(|refusal| refusal.to_string()) })
    }
}

/// Why a service call fails, for the guest.
#[derive(Debug, thiserror::Error)]
enum ServiceRefusal {
    #[error("the policy does not grant the method `{method}`; it grants {granted}")]
    Method { method: String, granted: String },
    #[error("`{}` is not a valid method name", OneLine(.0))]
    Name(String),
    #[error("the input is larger than {0} bytes")]
    Input(usize),
    #[error("the input is not JSON: {0}")]
    Json(String),
    #[error("this call has used all {0} calls of the service that the policy grants to one call")]
    Calls(u32),
    #[error("the service could not be created")]
    Unmade,
    #[error("the service failed")]
    Panicked,
    #[error("the output is larger than {0} bytes; request less per call")]
    Output(usize),
    #[error("{}", crate::text::Lines(&.0.to_string()))]
    Service(ServiceError),
}

impl GrantedService {
    /// Calls the service. Counts calls that the host does not pass on as refused, and calls that the service does not
    /// answer as failed.
    async fn checked(&self, method: &str, input: &str) -> Result<String, ServiceRefusal> {
        let input = self.admit(method, input).inspect_err(|_| self.uses.refused(&self.key, &self.binding.name))?;
        // The check and the count are one step, so that concurrent calls of a guest cannot exceed the limit.
        if !self.uses.reached(&self.key, &self.binding.name, method, self.binding.calls) {
            return Err(ServiceRefusal::Calls(self.binding.calls));
        }
        let service = self.service().await.map_err(|error| {
            self.failed(Some(&WithCauses(&error).to_string()));
            ServiceRefusal::Unmade
        })?;
        let answer = caught(|| service.call(&self.values.facts, method, input)).await.map_err(|panic| {
            self.failed(Some(&panic));
            ServiceRefusal::Panicked
        })?;
        let output = answer.map_err(|error| {
            self.failed(error.detail());
            ServiceRefusal::Service(error)
        })?;
        let output = output.to_string();
        if output.len() > self.output_bytes_max {
            self.failed(Some("its output is larger than the limit `output-bytes`"));
            return Err(ServiceRefusal::Output(self.output_bytes_max));
        }
        Ok(output)
    }

    /// Checks a call against the policy and the limits. Returns its parsed input.
    fn admit(&self, method: &str, input: &str) -> Result<serde_json::Value, ServiceRefusal> {
        // If all methods are granted, the guest chooses the names, which go into the audit log.
        if !is_method(method) {
            return Err(ServiceRefusal::Name(cut(method, METHOD_BYTES_MAX).to_owned()));
        }
        if !self.binding.allows(method) {
            return Err(ServiceRefusal::Method { method: method.to_owned(), granted: self.binding.methods.join(", ") });
        }
        if input.len() > self.input_bytes_max {
            return Err(ServiceRefusal::Input(self.input_bytes_max));
        }
        json::parse(input).map_err(|error| ServiceRefusal::Json(OneLine(&error.to_string()).to_string()))
    }

    async fn service(&self) -> Result<Arc<dyn Service>, InjectError> {
        let value = self.values.get(self.exposed.key, None).await?;
        (self.exposed.service)(&value).ok_or(InjectError::NotProvided { key: self.exposed.key.name })
    }

    fn failed(&self, detail: Option<&str>) {
        self.uses.failed(&self.key, &self.binding.name, detail);
    }
}

/// Returns whether a guest's text has the form of a method name in a policy.
fn is_method(name: &str) -> bool {
    let fits = (1..=METHOD_BYTES_MAX).contains(&name.len());
    fits && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}
