//! Every importable function, called by a generated component under a policy that grants nothing.
//! `tests/data/imports.txt` lists the result of each. The test fails if the table lacks a function that the host
//! provides, or if a result differs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

use portcullis::plugins::{Contract, served_imports};
use portcullis::{Code, Output, Request};
use portcullis_tests::{Manifest, Site, allow_all, component, module_of, outcome_of, wit};
use std::collections::BTreeMap;
use std::fmt::Write;
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{Function, InterfaceId, Resolve};

/// The result of each function, maintained by hand: see [`Fate`].
const TABLE: &str = include_str!("../data/imports.txt");

/// Plugins per host: few enough that the first does not wait too long for the others to compile.
const PLUGINS_PER_HOST: usize = 48;

/// The result of a function without any grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It needs a handle, which the guest does not have, and traps.
    Handle,
    /// It returns an error.
    Refused,
    /// It returns something that reveals nothing outside: the time, random numbers, an empty list, a new object.
    Harmless,
    /// It ends the guest.
    Exits,
    /// It traps because of its arguments.
    Traps,
}

impl Fate {
    fn parse(text: &str) -> Self {
        match text {
            "handle" => Self::Handle,
            "refused" => Self::Refused,
            "harmless" => Self::Harmless,
            "exits" => Self::Exits,
            "traps" => Self::Traps,
            _ => panic!("{text} is not a fate"),
        }
    }
}

/// An importable function, and the core module that calls it.
struct Import {
    /// The contract version of the guest that calls it.
    contract: Contract,
    name: String,
    module: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_import_without_a_grant_has_the_result_in_the_table() {
    let expected: BTreeMap<&str, Fate> = TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap_or_else(|| panic!("{line}")))
        .map(|(name, fate)| (name, Fate::parse(fate.trim())))
        .collect();
    let imports = imports();
    let mut wrong = String::new();
    for name in expected.keys() {
        if !imports.iter().any(|import| import.name == *name) {
            let _ = writeln!(wrong, "{name} is in the table, and the host does not serve it");
        }
    }
    for chunk in imports.chunks(PLUGINS_PER_HOST) {
        for (import, (fate, told)) in chunk.iter().zip(call_all(chunk).await) {
            if expected.get(import.name.as_str()) != Some(&fate) {
                let _ = writeln!(wrong, "{} {fate:?} ({told}), not {:?}", import.name, expected.get(&*import.name));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Calls each import from its own plugin. All plugins belong to one host.
async fn call_all(imports: &[Import]) -> Vec<(Fate, String)> {
    let site = Site::new();
    for (index, import) in imports.iter().enumerate() {
        let manifest = Manifest::of(&format!("f{index}")).tool(|tool| tool.required = 15);
        site.plugin(&manifest.name, &component(&module_of(import.contract, &import.module, &manifest)));
    }
    let host = site.open(&allow_all("time = \"5 s\"")).await;
    let mut fates = Vec::new();
    let catalog = host.catalog();
    for (index, import) in imports.iter().enumerate() {
        let refusal = catalog.refusal(&format!("f{index}"));
        assert!(refusal.is_none(), "{}: {refusal:?}", import.name);
        let reply = host.call(Request::new(format!("f{index}.run"), "{}")).await;
        let outcome = outcome_of(&host, &reply.id);
        assert!(outcome.get("http").is_none() && outcome.get("services").is_none(), "{}: {outcome}", import.name);
        let detail = outcome["detail"].as_str().unwrap_or_default().to_owned();
        let fate = match (&reply.code, &reply.output) {
            (Code::Completed, Some(Output::Text(text))) if text == "error" => Fate::Refused,
            (Code::Completed, _) => Fate::Harmless,
            (Code::Exited, _) => Fate::Exits,
            (Code::Trapped, _) if detail.contains("unknown handle index") => Fate::Handle,
            (Code::Trapped, _) => Fate::Traps,
            (code, _) => panic!("{}: {code:?}: {}", import.name, reply.message),
        };
        fates.push((fate, detail));
    }
    fates
}

/// Returns every function of every interface that the host provides.
fn imports() -> Vec<Import> {
    // Interfaces outside the contract are the same in all its versions.
    let contracts = Contract::ALL.map(|contract| (contract, wit(contract).0));
    let mut imports = Vec::new();
    for served in served_imports() {
        let found = contracts.iter().find_map(|(contract, resolve)| {
            let mut interfaces = resolve.interfaces.iter();
            let (id, interface) = interfaces.find(|(id, _)| resolve.id_of(*id).as_deref() == Some(&*served))?;
            Some((*contract, resolve, id, interface))
        });
        let (contract, resolve, id, interface) =
            found.unwrap_or_else(|| panic!("{served} is served, and wit/ does not have it"));
        imports.extend(interface.functions.values().map(|function| of_function(contract, resolve, id, function)));
        let resources = interface
            .types
            .iter()
            .filter(|(_, ty)| matches!(resolve.types[**ty].kind, wit_parser::TypeDefKind::Resource));
        imports.extend(resources.map(|(name, _)| of_drop(contract, &served, name)));
    }
    imports
}

fn of_drop(contract: Contract, interface: &str, resource: &str) -> Import {
    let function = format!("[resource-drop]{resource}");
    let module = format!(
        "(import \"{interface}\" \"{function}\" (func $f (param i32)))
         (func $execute (param i32 i32 i32 i32) (result i32)
           (call $f (i32.const 0))
           (call $answer (i32.const 0) (i32.const 2048) (i32.const 0)))"
    );
    Import { contract, name: format!("{interface}#{function}"), module }
}

/// Builds a module that calls a function with zeros, and returns `error` if the result is an error.
fn of_function(contract: Contract, resolve: &Resolve, interface: InterfaceId, function: &Function) -> Import {
    let signature = resolve.wasm_signature(AbiVariant::GuestImport, function);
    let interface = resolve.id_of(interface).unwrap();
    let types = |types: &[WasmType]| types.iter().map(|ty| core_type(*ty)).collect::<Vec<_>>().join(" ");
    let mut zeros: Vec<String> = signature.params.iter().map(|ty| format!("({}.const 0)", core_type(*ty))).collect();
    if signature.retptr {
        // The address for the result, which is the last parameter.
        *zeros.last_mut().unwrap() = "(i32.const 2048)".to_owned();
    }
    let call = format!("(call $f {})", zeros.join(" "));
    let run = match signature.results.as_slice() {
        [] => call,
        [ty] => format!("({}.store (i32.const 2048) {call})", core_type(*ty)),
        more => panic!("{} has {} results", function.name, more.len()),
    };
    // The first byte of a result is its discriminant.
    let fails =
        if answers_with_a_result(resolve, function) { "(i32.load8_u (i32.const 2048))" } else { "(i32.const 0)" };
    let module = format!(
        "(import \"{interface}\" \"{name}\" (func $f (param {params}) (result {results})))
         (data (i32.const 2040) \"error\")
         (func $execute (param i32 i32 i32 i32) (result i32)
           {run}
           (call $answer (i32.const 0) (i32.const 2040) (i32.mul {fails} (i32.const 5))))",
        name = function.name,
        params = types(&signature.params),
        results = types(&signature.results),
    );
    Import { contract, name: format!("{interface}#{}", function.name), module }
}

fn answers_with_a_result(resolve: &Resolve, function: &Function) -> bool {
    let Some(wit_parser::Type::Id(id)) = function.result else { return false };
    matches!(resolve.types[id].kind, wit_parser::TypeDefKind::Result(_))
}

fn core_type(ty: WasmType) -> &'static str {
    match ty {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
    }
}
