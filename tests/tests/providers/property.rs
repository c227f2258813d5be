//! Values that match an exported schema are hydrated to arguments that match the author's schema, or are refused with
//! the location of the mismatch.

#[path = "property/instances.rs"]
mod instances;

#[path = "property/strings.rs"]
mod strings;

#[path = "property/schemas.rs"]
mod schemas;

#[path = "property/bench.rs"]
mod bench;

#[path = "property/nulls.rs"]
mod nulls;

use crate::providers::answers::asking_for;
use bench::{Authoritative, Bench, Exported};
use instances::{Choices, instance};
use portcullis::plugins::Schema;
use portcullis::{Batch, Caller, Code, Output};
use portcullis_providers::{Format, Hydrated, HydratedCall};
use portcullis_tests::corpus;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use serde_json::Value;
use std::cell::{Cell, RefCell};

/// Values per schema and format. With the existing schemas that is some hundred thousand, in seconds.
const CASES: u32 = 48;

/// Minimum number of values that must match the export. A test without values would show nothing.
const FITTING_MIN: u32 = 8;

/// Number of random schemas.
const RANDOM_SCHEMAS: usize = 120;

/// Minimum number of strict tools in each strict format, so that its rules are tested.
const STRICT_MIN: usize = 3;

/// Minimum number of tools of the corpus without losses in a format.
const LOSSLESS_MIN: usize = 3;

/// Maximum number of reported failures.
const WRONG_TOLD_MAX: usize = 8;

/// Maximum number of choices for one value.
const CHOICES_MAX: usize = 96;

/// Uses a fixed seed, so that failures are reproducible.
fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn corpus_schemas() -> Vec<(String, Value)> {
    corpus::schemas().into_iter().map(|case| (case.name, case.schema)).collect()
}

/// Generates random schemas that the host accepts.
fn random_schemas() -> Vec<(String, Value)> {
    let found = RefCell::new(Vec::new());
    // A few are refused at load, because of their validation cost or an unresolved reference.
    let cases = u32::try_from(RANDOM_SCHEMAS * 2).unwrap();
    let made = runner(cases).run(&vec(any::<u8>(), 64..512), |bytes| {
        let schema = schemas::arguments(&mut Choices::new(&bytes));
        if Schema::of_arguments(&schema.to_string()).is_ok() {
            let mut found = found.borrow_mut();
            let label = format!("random {}", found.len());
            found.push((label, schema));
        }
        Ok(())
    });
    made.unwrap();
    let mut found = found.into_inner();
    assert!(found.len() >= RANDOM_SCHEMAS, "only {} schemas were accepted", found.len());
    found.truncate(RANDOM_SCHEMAS);
    found
}

/// The results for values that match an export.
#[derive(Default)]
struct Fate {
    /// Values whose hydrated arguments match the author's schema.
    kept: Vec<(String, HydratedCall)>,
    /// Values whose hydrated arguments do not.
    refused: Vec<(String, HydratedCall)>,
    /// Strict tools.
    strict: usize,
    /// Tools without losses.
    lossless: usize,
}

/// Asserts that every format exports every schema, and that every matching value is kept or refused correctly. Returns
/// for each format the number of tools without losses.
fn hold(schemas: &[(String, Value)]) -> Vec<(Format, usize)> {
    let bench = Bench::of(schemas);
    let (mut wrong, mut lossless) = (Vec::new(), Vec::new());
    for format in Format::ALL {
        let mut fate = Fate::default();
        for tool in &bench.tools {
            let held = match tool.exported(format) {
                Ok(Some(exported)) => hold_one(&bench, format, tool, &exported, &mut fate),
                // The export says that it leaves the tool out.
                Ok(None) => Ok(()),
                Err(why) => Err(why),
            };
            if let Err(why) = held {
                wrong.push(format!("{format}, {}: {why}\nThe author's schema: {}", tool.label, tool.schema.document()));
            }
        }
        assert_eq!(fate.strict >= STRICT_MIN, format.is_strict(), "{format}: {} tools are strict", fate.strict);
        run(&bench, format, &fate);
        lossless.push((format, fate.lossless));
    }
    let first = wrong.iter().take(WRONG_TOLD_MAX).map(String::as_str).collect::<Vec<_>>().join("\n\n");
    assert!(wrong.is_empty(), "{} exports are wrong:\n{first}", wrong.len());
    lossless
}

fn hold_one(
    bench: &Bench,
    format: Format,
    tool: &Authoritative,
    exported: &Exported,
    fate: &mut Fate,
) -> Result<(), String> {
    let fitting = Cell::new(0_u32);
    let samples = RefCell::new((None, None));
    let result = runner(CASES).run(&vec(any::<u8>(), 0..CHOICES_MAX), |bytes| {
        let arguments = instance(&exported.document, &mut Choices::new(&bytes));
        if !arguments.is_object() || !exported.allows(&arguments) {
            return Ok(());
        }
        fitting.set(fitting.get() + 1);
        let call = hydrated(bench, format, tool, &arguments);
        let kept = judge(tool, exported, &arguments, &call)
            .map_err(|why| TestCaseError::fail(format!("{why}\n{arguments}\nbecame {}", call.arguments)))?;
        let mut samples = samples.borrow_mut();
        if kept {
            samples.0 = Some(call)
        } else {
            samples.1 = Some(call)
        }
        Ok(())
    });
    let provider = || format!("The exported schema: {}", exported.document);
    if let Err(TestError::Fail(why, _) | TestError::Abort(why)) = result {
        return Err(format!("{why}\n{}", provider()));
    }
    if fitting.get() < FITTING_MIN {
        return Err(format!("only {} values of {CASES} fit it\n{}", fitting.get(), provider()));
    }
    fate.strict += usize::from(exported.strict);
    fate.lossless += usize::from(exported.lossless);
    let (kept, refused) = samples.into_inner();
    fate.kept.extend(kept.map(|call| (tool.label.clone(), call)));
    fate.refused.extend(refused.map(|call| (tool.label.clone(), call)));
    Ok(())
}

fn hydrated(bench: &Bench, format: Format, tool: &Authoritative, arguments: &Value) -> HydratedCall {
    let answer = asking_for(format, &[(&tool.name, arguments)]);
    let mut hydrated = tool.definitions.hydrate(format, &answer, &bench.host).unwrap();
    assert_eq!(hydrated.calls.len(), 1);
    hydrated.calls.remove(0)
}

/// Returns whether a call is kept. Fails if the hydration is wrong.
fn judge(tool: &Authoritative, exported: &Exported, before: &Value, call: &HydratedCall) -> Result<bool, String> {
    let provenance = &call.provenance;
    if call.refused.is_some() || provenance.is_repaired() {
        return Err("it is refused without a fault, or repaired".to_owned());
    }
    let after: Value = serde_json::from_str(&call.arguments).map_err(|error| error.to_string())?;
    let mut expected = before.clone();
    for pointer in provenance.nulls.iter().rev() {
        take_null(&mut expected, pointer)?;
    }
    if after != expected {
        return Err(format!("more was changed than the nulls at {:?}", provenance.nulls));
    }
    let mismatches = tool.schema.mismatches(&after);
    let Some(validation) = &provenance.validation else { return Err("it was not validated".to_owned()) };
    if validation.mismatches != mismatches {
        return Err(format!("it is said to have the faults {:?} and has {mismatches:?}", validation.mismatches));
    }
    if mismatches.is_empty() {
        return Ok(true);
    }
    if mismatches.iter().any(|mismatch| after.pointer(&mismatch.pointer).is_none()) {
        return Err(format!("a fault is nowhere: {mismatches:?}"));
    }
    if exported.lossless {
        return Err(format!("nothing is lost, and yet it does not fit: {mismatches:?}"));
    }
    Ok(false)
}

/// Removes a member that is null.
fn take_null(value: &mut Value, pointer: &str) -> Result<(), String> {
    let (parent, name) = pointer.rsplit_once('/').ok_or("the root was removed")?;
    let name = name.replace("~1", "/").replace("~0", "~");
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut).ok_or("there is no such member")?;
    match parent.remove(&name) {
        Some(Value::Null) => Ok(()),
        other => Err(format!("{pointer} was {other:?} and was removed")),
    }
}

/// Asserts that the host runs kept calls with exactly their arguments, and refuses others with the location.
fn run(bench: &Bench, format: Format, fate: &Fate) {
    let request = |calls: &[(String, HydratedCall)]| {
        let calls = calls.iter().map(|(_, call)| call.clone()).collect();
        Hydrated { format, calls }.requests(&Caller::new())
    };
    let replies = bench.runtime.block_on(bench.host.batch(Batch::new(request(&fate.kept))));
    assert!(replies.len() > bench.tools.len() / 2, "{format}: too few calls are kept");
    for (reply, (label, call)) in replies.iter().zip(&fate.kept) {
        assert_eq!(reply.code, Code::Completed, "{format}, {label}: {}", reply.message);
        let Some(Output::Text(echo)) = &reply.output else { panic!("{format}, {label}: {reply:?}") };
        let (echo, arguments): (Value, Value) =
            (serde_json::from_str(echo).unwrap(), serde_json::from_str(&call.arguments).unwrap());
        assert_eq!(echo, arguments, "{format}, {label}");
    }
    let replies = bench.runtime.block_on(bench.host.batch(Batch::new(request(&fate.refused))));
    for (reply, (label, call)) in replies.iter().zip(&fate.refused) {
        assert_eq!(reply.code, Code::InvalidArguments, "{format}, {label}: {}", reply.message);
        let mismatches = &call.provenance.validation.as_ref().unwrap().mismatches;
        for mismatch in mismatches {
            let place = if mismatch.pointer.is_empty() { "the arguments" } else { mismatch.pointer.as_str() };
            assert!(reply.message.contains(place), "{format}, {label}: {place} in {}", reply.message);
        }
    }
}

#[test]
fn values_that_match_an_export_match_the_author_or_are_refused_with_a_location() {
    for (format, tools) in hold(&corpus_schemas()) {
        assert!(tools >= LOSSLESS_MIN, "{format}: only {tools} tools lose nothing");
    }
}

#[test]
fn the_same_is_true_for_random_schemas() {
    hold(&random_schemas());
}
