//! Components with a wrong version, or with several: each is refused with an error that names it.

use portcullis::Compiler;
use portcullis::plugins::{Contract, LoadError, Refusal};
use portcullis_tests::{Manifest, Site, allow_all, guest_of};

/// Replaces every occurrence of a name in a component with another name of the same length.
fn renamed(component: &[u8], from: &str, to: &str) -> Vec<u8> {
    let (component, count) = portcullis_tests::renamed(component, from, to);
    assert!(count > 0, "{from} is not in the component");
    component
}

fn good(contract: Contract) -> Vec<u8> {
    guest_of(contract, "good", &Manifest::of("odd"))
}

fn other(contract: Contract) -> Contract {
    match contract {
        Contract::V0_1 => Contract::V0_2,
        Contract::V0_2 => Contract::V0_1,
    }
}

/// Returns the plugin's refusal. If it is refused before compilation, the host needs no compiler.
async fn refusal(component: &[u8], compiler: Compiler) -> (Refusal, String) {
    let site = Site::new();
    site.plugin("odd", component);
    let host = site.builder_with(&allow_all(""), compiler).open().await.unwrap();
    let catalog = host.catalog();
    let error = &*catalog.refusal("odd").expect("the plugin is refused").error;
    let LoadError::Refused(refusal) = error else { panic!("{error:?}") };
    (refusal.clone(), error.to_string())
}

async fn refused_unseen(component: &[u8]) -> (Refusal, String) {
    refusal(component, Compiler::Program { program: "/nonexistent/compiler".into(), arguments: Vec::new() }).await
}

#[tokio::test]
async fn an_unsupported_version_is_refused_with_the_supported_ones() {
    // A component that also imports the contract.
    let guest = guest_of(Contract::V0_2, "waits-for-cancellation", &Manifest::of("odd"));
    for version in ["@0.3.0", "@1.2.0", "@0.0.1"] {
        let (refusal, says) = refused_unseen(&renamed(&guest, "@0.2.0", version)).await;
        let name = format!("portcullis:tool/handler{version}");
        assert_eq!(refusal, Refusal::NoHandler(Some(name.clone())));
        assert!(says.contains(&name) && says.contains("0.1 and 0.2"), "{says}");
    }
}

#[tokio::test]
async fn a_plugin_that_imports_another_version_than_it_exports_is_refused() {
    for contract in Contract::ALL {
        let guest = guest_of(contract, "waits-for-cancellation", &Manifest::of("odd"));
        let context = |contract: Contract| format!("portcullis:tool/context@{contract}.0");
        let (refusal, says) = refused_unseen(&renamed(&guest, &context(contract), &context(other(contract)))).await;
        let Refusal::MixedContracts(names) = refusal else { panic!("{refusal:?}") };
        assert!(names.contains(&context(other(contract))), "{names:?}");
        assert!(names.contains(&format!("portcullis:tool/handler@{contract}.0")), "{names:?}");
        assert!(names.iter().all(|name| says.contains(name)), "{says}");
    }
}

/// A reviewer of another version would never be called, although its author relies on it.
#[tokio::test]
async fn a_reviewer_of_another_version_is_refused() {
    for contract in Contract::ALL {
        let guest = guest_of(contract, "review-refuses", &Manifest::of("odd"));
        for version in [format!("@{}.0", other(contract)), "@0.9.0".to_owned()] {
            let from = format!("portcullis:tool/reviewer@{contract}.0");
            let (refusal, _) =
                refused_unseen(&renamed(&guest, &from, &format!("portcullis:tool/reviewer{version}"))).await;
            assert!(matches!(refusal, Refusal::MixedContracts(_)), "{refusal:?}");
        }
    }
}

/// Nor would a misspelt reviewer be called.
#[tokio::test]
async fn a_misspelt_export_of_the_contract_is_refused() {
    for contract in Contract::ALL {
        let guest = guest_of(contract, "review-refuses", &Manifest::of("odd"));
        let reviewer = format!("portcullis:tool/reviewer@{contract}.0");
        for name in ["rewiewer", "REVIEWER", "reviewed"] {
            let misspelt = reviewer.replace("reviewer", name);
            let (refusal, says) = refused_unseen(&renamed(&guest, &reviewer, &misspelt)).await;
            assert_eq!(refusal, Refusal::UnknownExports(vec![misspelt.clone()]));
            assert!(says.contains(&misspelt), "{says}");
        }
    }
}

/// In version 0.1, a previewer, a generator or a preparer would never be called. In 0.2, one with other types is
/// invalid.
#[tokio::test]
async fn an_export_that_would_never_be_called_is_refused() {
    for interface in ["previewer", "generator", "preparer"] {
        let exporting = |contract| {
            let guest = guest_of(contract, "review-refuses", &Manifest::of("odd"));
            let text = wasmprinter::print_bytes(guest).unwrap();
            let exported = format!("portcullis:tool/{interface}@");
            wat::parse_str(text.replace("portcullis:tool/reviewer@", &exported)).unwrap()
        };
        let (refused, says) = refused_unseen(&exporting(Contract::V0_1)).await;
        let unknown = vec![format!("portcullis:tool/{interface}@0.1.0")];
        assert_eq!(refused, Refusal::UnknownExports(unknown), "{says}");
        let (refused, says) = refusal(&exporting(Contract::V0_2), Compiler::InProcess).await;
        assert!(matches!(refused, Refusal::Mismatch(_)), "{says}");
    }
}

/// With two handlers, the plugin's behaviour would depend on its caller.
#[tokio::test]
async fn a_plugin_with_two_handlers_is_refused() {
    for contract in Contract::ALL {
        for version in [format!("{}.0", other(contract)), "0.9.0".to_owned(), format!("{contract}.7")] {
            let text = wasmprinter::print_bytes(good(contract)).unwrap();
            let handler = format!("\"portcullis:tool/handler@{contract}.0\"");
            let export = text.lines().find(|line| line.contains("(export") && line.contains(&handler)).unwrap();
            let (_, exported) = export.trim().split_once(&handler).unwrap();
            let fields = format!("(export \"portcullis:tool/handler@{version}\"{exported}");
            let both = portcullis_tests::with_fields(&good(contract), &fields);
            let (refusal, says) = refused_unseen(&both).await;
            let Refusal::MixedContracts(names) = refusal else { panic!("{says}") };
            assert_eq!(names.iter().filter(|name| name.contains("/handler@")).count(), 2, "{says}");
        }
    }
}

/// One version's types under another version's name.
#[tokio::test]
async fn the_types_of_one_version_are_not_accepted_for_another() {
    for contract in Contract::ALL {
        let (from, to) = (format!("@{contract}.0"), format!("@{}.0", other(contract)));
        let interface = "portcullis:tool/handler";
        let mut posing = good(contract);
        for name in [interface, "portcullis:tool/types"] {
            let (from, to) = (format!("{name}{from}"), format!("{name}{to}"));
            if portcullis_tests::holds(&posing, &from) {
                posing = renamed(&posing, &from, &to);
            }
        }
        let (refusal, says) = refusal(&posing, Compiler::InProcess).await;
        assert!(matches!(refusal, Refusal::Mismatch(_)), "{says}");
        assert!(says.contains("describe of portcullis:tool/handler"), "{says}");
    }
}
