//! The document about the versions matches the contracts.

use portcullis::plugins::Contract;
use portcullis_tests::wit;
use std::collections::BTreeMap;
use wit_parser::{Resolve, TypeDefKind, TypeId, WorldItem};

/// The document about the versions.
const DOCUMENT: &str = include_str!("../../../docs/contract.md");

/// The text of the contracts.
const WRITTEN: [(Contract, &str); 2] = [
    (Contract::V0_1, include_str!("../../../wit/v0.1/tool.wit")),
    (Contract::V0_2, include_str!("../../../wit/v0.2/tool.wit")),
];

/// Returns the declarations of a contract, without comments and without the version.
fn declarations(contract: Contract, text: &str) -> Vec<String> {
    let declared = |line: &str| line.trim().replace(&format!("@{contract}.0;"), "@VERSION;");
    text.lines().map(declared).filter(|line| !line.is_empty() && !line.starts_with("///")).collect()
}

/// The document contains every line that differs between 0.1 and 0.2, and no other line differs.
#[test]
fn the_document_lists_every_difference() {
    let [one, other] = WRITTEN.map(|(contract, text)| declarations(contract, text));
    let only = |lines: &[String], beside: &[String]| -> Vec<String> {
        lines.iter().filter(|line| !beside.contains(line)).cloned().collect()
    };
    let gone: Vec<String> = only(&one, &other);
    let come: Vec<String> = only(&other, &one);
    assert!(!gone.is_empty() && !come.is_empty());
    let told = |sign: char| -> Vec<String> {
        let lines = DOCUMENT.lines().filter_map(|line| line.strip_prefix(sign));
        lines.filter(|line| line.starts_with(' ')).map(|line| line.trim().to_owned()).collect()
    };
    for line in &gone {
        assert!(told('-').contains(line), "the document does not list as removed: {line}");
    }
    for line in &come {
        assert!(told('+').contains(line), "the document does not list as added: {line}");
    }
}

/// The document names each supported version and its folder.
#[test]
fn the_document_names_every_version() {
    for contract in Contract::ALL {
        assert!(DOCUMENT.contains(&format!("| {contract} |")), "{contract}");
        assert!(DOCUMENT.contains(&format!("wit/v{contract}")), "{contract}");
    }
}

/// Returns the functions of an interface with the shapes of their types, without the version in the contract's names.
fn functions(contract: Contract) -> BTreeMap<String, String> {
    let (resolve, _) = wit(contract);
    let mut functions = BTreeMap::new();
    for (id, interface) in &resolve.interfaces {
        let Some(name) = resolve.id_of(id).filter(|name| name.starts_with("portcullis:tool/")) else { continue };
        let name = name.split('@').next().unwrap_or_default().to_owned();
        for function in interface.functions.values() {
            let types: Vec<_> = function.params.iter().map(|param| param.ty).chain(function.result).collect();
            let shapes: Vec<String> = types.iter().map(|ty| shape(&resolve, ty)).collect();
            functions.insert(format!("{name}#{}", function.name), shapes.join(" "));
        }
    }
    functions
}

fn shape(resolve: &Resolve, ty: &wit_parser::Type) -> String {
    match ty {
        wit_parser::Type::Id(id) => shape_of(resolve, *id),
        other => format!("{other:?}"),
    }
}

fn shape_of(resolve: &Resolve, id: TypeId) -> String {
    let ty = &resolve.types[id];
    let some = |ty: &Option<wit_parser::Type>| ty.as_ref().map(|ty| shape(resolve, ty)).unwrap_or_default();
    match &ty.kind {
        TypeDefKind::Type(ty) => shape(resolve, ty),
        TypeDefKind::Record(record) => {
            let fields = record.fields.iter().map(|field| format!("{}: {}", field.name, shape(resolve, &field.ty)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        TypeDefKind::Variant(variant) => {
            let cases = variant.cases.iter().map(|case| format!("{}({})", case.name, some(&case.ty)));
            format!("<{}>", cases.collect::<Vec<_>>().join(" | "))
        }
        TypeDefKind::Option(ty) => format!("{}?", shape(resolve, ty)),
        TypeDefKind::List(ty) => format!("[{}]", shape(resolve, ty)),
        TypeDefKind::Result(result) => format!("{}!{}", some(&result.ok), some(&result.err)),
        TypeDefKind::Enum(cases) => cases.cases.iter().map(|case| &*case.name).collect::<Vec<_>>().join("|"),
        TypeDefKind::Flags(flags) => flags.flags.iter().map(|flag| &*flag.name).collect::<Vec<_>>().join("+"),
        other => format!("{} {}", ty.name.as_deref().unwrap_or_default(), other.as_str()),
    }
}

/// The functions of programs, which only 0.2 has.
const PROGRAMS: [&str; 9] = [
    "[method]program.start",
    "[method]program.start-with",
    "[method]running.exit",
    "[method]running.kill",
    "[method]running.stderr",
    "[method]running.stdin",
    "[method]running.stdout",
    "[method]running.subscribe",
    "open-program",
];

/// The functions of other tools, which only 0.2 has.
const TOOLS: [&str; 8] = [
    "[method]toolset.approve",
    "[method]toolset.call",
    "[method]toolset.call-all",
    "[method]toolset.definition",
    "[method]toolset.foresee",
    "[method]toolset.list",
    "[method]toolset.search",
    "open-tools",
];

/// A plugin that moves to 0.2 changes only the results of its exports, and none of its imports. It may also preview its
/// calls, generate and prepare tools, propose patterns, keep files, run programs and call other tools.
#[test]
fn only_the_result_types_differ() {
    let (one, mut other) = (functions(Contract::V0_1), functions(Contract::V0_2));
    assert!(other.remove("portcullis:tool/previewer#preview").is_some());
    assert!(other.remove("portcullis:tool/generator#generate").is_some());
    assert!(other.remove("portcullis:tool/preparer#prepare").is_some());
    assert!(other.remove("portcullis:tool/context#ask-with-patterns").is_some());
    assert!(other.remove("portcullis:tool/context#keep").is_some());
    for name in PROGRAMS {
        assert!(other.remove(&format!("portcullis:tool/programs#{name}")).is_some(), "{name}");
    }
    for name in TOOLS {
        assert!(other.remove(&format!("portcullis:tool/tools#{name}")).is_some(), "{name}");
    }
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let changed: Vec<&str> =
        one.iter().filter(|(name, shape)| other[*name] != **shape).map(|(name, _)| &**name).collect();
    let exports =
        ["portcullis:tool/handler#describe", "portcullis:tool/handler#execute-raw", "portcullis:tool/reviewer#review"];
    assert_eq!(changed, exports);
}

/// Plugins of every version may import the same interfaces, and those of 0.2 also `programs` and `tools`.
#[test]
fn every_world_imports_the_same() {
    let names = |contract: Contract| -> Vec<String> {
        let (resolve, package) = wit(contract);
        let world = resolve.select_world(&[package], Some("guest")).unwrap();
        let interfaces = resolve.worlds[world].imports.values().filter_map(|item| match item {
            WorldItem::Interface { id, .. } => resolve.id_of(*id),
            _ => None,
        });
        let mut names: Vec<String> = interfaces
            .map(|name| {
                if name.starts_with("portcullis:tool/") { name.replace(&contract.to_string(), "VERSION") } else { name }
            })
            .collect();
        names.sort();
        names
    };
    let mut expected = names(Contract::V0_1);
    expected.push("portcullis:tool/programs@VERSION.0".to_owned());
    expected.push("portcullis:tool/tools@VERSION.0".to_owned());
    expected.sort();
    assert_eq!(expected, names(Contract::V0_2));
}
