//! Performs steps: the open services, and their results.

use crate::step::Step;
use portcullis_sdk::guest::v0_2::bindings::portcullis::tool::dependencies::{
    Service, Unavailable, open_client, open_directory, open_service,
};
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;
use std::collections::BTreeMap;

/// Only the length of results longer than this is reported, in bytes.
const SAID_BYTES_MAX: usize = 4096;

/// The open services, and handles that were opened again.
#[derive(Default)]
pub(crate) struct Hand {
    services: BTreeMap<String, Service>,
    kept: Vec<Service>,
}

impl Hand {
    /// `"open"`, `{"unavailable": ...}`, `{"ok": ...}`, `{"bytes": ...}` or `{"error": ...}`.
    pub(crate) fn take(&mut self, step: &Step) -> Value {
        let mut last = Value::Null;
        for _ in 0..step.times {
            last = self.once(step).unwrap_or_else(|unavailable| json!({ "unavailable": unavailable }));
        }
        last
    }

    fn once(&mut self, step: &Step) -> Result<Value, &'static str> {
        match step.kind.as_deref() {
            Some("directory") => open_directory(&step.key).map(|_| json!("open")).map_err(name),
            Some("client") => open_client(&step.key).map(|_| json!("open")).map_err(name),
            Some(_) | None => self.service(step),
        }
    }

    fn service(&mut self, step: &Step) -> Result<Value, &'static str> {
        if !self.services.contains_key(&step.key) {
            self.services.insert(step.key.clone(), open_service(&step.key).map_err(name)?);
        } else if step.again {
            self.kept.push(open_service(&step.key).map_err(name)?);
        }
        let (Some(method), Some(service)) = (&step.method, self.services.get(&step.key)) else {
            return Ok(json!("open"));
        };
        Ok(match step.copies {
            0 => said(service.call(method, &step.input)),
            copies => said(service.call(method, &format!("\"{}\"", step.input.repeat(copies as usize)))),
        })
    }
}

fn said(answer: Result<String, String>) -> Value {
    match answer {
        Ok(text) if text.len() > SAID_BYTES_MAX => json!({ "bytes": text.len() }),
        Ok(text) => json!({ "ok": text }),
        Err(text) => json!({ "error": text }),
    }
}

fn name(unavailable: Unavailable) -> &'static str {
    match unavailable {
        Unavailable::UnknownKey => "unknown-key",
        Unavailable::NotGranted => "not-granted",
        Unavailable::WrongKind => "wrong-kind",
        Unavailable::Failed => "failed",
    }
}
