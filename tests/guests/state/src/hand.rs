//! Performs steps.

use std::collections::BTreeMap;
use std::io::Write;

use portcullis_sdk::guest::v0_2::atomics::wasi::keyvalue::atomics;
use portcullis_sdk::guest::v0_2::bindings::wasi::clocks::{monotonic_clock, wall_clock};
use portcullis_sdk::guest::v0_2::bindings::wasi::config::store as config;
use portcullis_sdk::guest::v0_2::bindings::wasi::keyvalue::store::{self, Bucket};
use portcullis_sdk::guest::v0_2::bindings::wasi::logging::logging::{self, Level};
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::Value;

use crate::step::Step;

/// The interfaces that the plugin world does not contain.
mod bindings {
    wit_bindgen::generate!({
        inline: "
            package tests:state;
            world hand {
                import wasi:random/random@0.2.12;
                import wasi:random/insecure@0.2.12;
                import wasi:random/insecure-seed@0.2.12;
            }
        ",
        path: ["../../../wit/v0.1/deps/random.wit"],
        generate_all,
    });
}

use bindings::wasi::random::{insecure, insecure_seed, random};

/// Maximum number of distinct times in a result.
const SAMPLES_MAX: usize = 1000;

/// The open stores.
#[derive(Default)]
pub(crate) struct Hand {
    opened: BTreeMap<String, Bucket>,
}

impl Hand {
    /// Performs a step as often as it says. Returns `{"ok": ..., "times": ...}` or `{"error": ..., "times": ...}`.
    pub(crate) fn take(&mut self, step: &Step) -> Value {
        let mut last = Value::Null;
        for time in 0..step.times {
            match self.once(step, &step.key.replace("{}", &time.to_string())) {
                Ok(value) => last = value,
                Err(error) => return json!({"error": error, "times": time}),
            }
        }
        json!({"ok": last, "times": step.times})
    }

    fn once(&mut self, step: &Step, key: &str) -> Result<Value, String> {
        let number = step.number.unwrap_or(0);
        match step.op.as_str() {
            "open" | "get" | "set" | "delete" | "exists" | "list" | "increment" => self.stored(step, key).map_err(name),
            "config" => config::get(key).map(Value::from).map_err(|error| format!("{error:?}")),
            "config-all" => config::get_all().map(|pairs| json!(pairs)).map_err(|error| format!("{error:?}")),
            "log" => {
                logging::log(Level::Info, key, &step.text.repeat(step.copies as usize));
                Ok(Value::Null)
            }
            "print" => {
                let mut out = std::io::stdout().lock();
                let printed = out.write_all(step.text.as_bytes()).and_then(|()| out.flush());
                printed.map(|()| Value::Null).map_err(|error| error.to_string())
            }
            "clocks" => Ok(clocks(number)),
            "sleep" => Ok(sleep(number)),
            "wait-until" => Ok(wait_until(number)),
            "random" => Ok(json!([random::get_random_bytes(number), random::get_random_u64()])),
            "insecure" => {
                let bytes = insecure::get_insecure_random_bytes(number);
                Ok(json!([bytes, insecure::get_insecure_random_u64()]))
            }
            "insecure-seed" => Ok(json!(insecure_seed::insecure_seed())),
            _ => Err("no such operation".to_owned()),
        }
    }

    fn stored(&mut self, step: &Step, key: &str) -> Result<Value, store::Error> {
        if !self.opened.contains_key(&step.store) {
            self.opened.insert(step.store.clone(), store::open(&step.store)?);
        }
        let bucket = &self.opened[&step.store];
        Ok(match step.op.as_str() {
            "get" => json!(bucket.get(key)?.map(|value| shown(&value))),
            "set" => json!(bucket.set(key, &step.text.repeat(step.copies as usize).into_bytes())?),
            "increment" => json!(atomics::increment(bucket, key, step.number.unwrap_or(1))?),
            "delete" => json!(bucket.delete(key)?),
            "exists" => json!(bucket.exists(key)?),
            "list" => {
                let page = bucket.list_keys(step.number)?;
                json!({"keys": page.keys, "cursor": page.cursor})
            }
            _ => Value::Null,
        })
    }
}

/// Returns an error in the form that the tests expect.
fn name(error: store::Error) -> String {
    match error {
        store::Error::NoSuchStore => "no-such-store".to_owned(),
        store::Error::AccessDenied => "access-denied".to_owned(),
        store::Error::Other(text) => text,
    }
}

/// Returns a value: its text if it is short, otherwise its length.
fn shown(value: &[u8]) -> Value {
    if value.len() > 1000 { json!(value.len()) } else { json!(String::from_utf8_lossy(value)) }
}

/// Reads both clocks repeatedly without a pause. Returns the distinct times, and the clocks' resolutions.
fn clocks(looks: u64) -> Value {
    let (mut monotonic, mut wall) = (Vec::new(), Vec::new());
    for _ in 0..looks {
        monotonic.push(monotonic_clock::now());
        wall.push(nanoseconds(wall_clock::now()));
        monotonic.dedup();
        wall.dedup();
        if monotonic.len() == SAMPLES_MAX || wall.len() == SAMPLES_MAX {
            break;
        }
    }
    json!({
        "monotonic": monotonic,
        "wall": wall,
        "monotonic-resolution": monotonic_clock::resolution(),
        "wall-resolution": nanoseconds(wall_clock::resolution()),
    })
}

fn nanoseconds(time: wall_clock::Datetime) -> u64 {
    time.seconds * 1_000_000_000 + u64::from(time.nanoseconds)
}

/// Sleeps, and returns the elapsed time on its own clock.
fn sleep(duration: u64) -> Value {
    let began = monotonic_clock::now();
    monotonic_clock::subscribe_duration(duration).block();
    json!(monotonic_clock::now() - began)
}

/// Waits until its own clock has advanced by a duration. Returns how often it woke up.
fn wait_until(duration: u64) -> Value {
    let when = monotonic_clock::now() + duration;
    let mut woke = 0;
    while monotonic_clock::now() < when {
        monotonic_clock::subscribe_instant(when).block();
        woke += 1;
    }
    json!(woke)
}
