//! Components that import what this host does not provide: S12, S15, S31, S38.

use portcullis::plugins::{Contract, LoadError, Refusal};
use portcullis::{Code, Compiler, Request};
use portcullis_tests::{Manifest, Site, allow_all, guest_of};

/// The error lists every unknown import, before compilation: the compiler does not exist here.
pub(crate) async fn unknown_imports(contract: Contract) {
    let site = Site::new();
    site.plugin("unknown-imports", &guest_of(contract, "unknown-imports", &Manifest::of("unknown-imports")));
    let compiler = Compiler::Program { program: "/nonexistent/compiler".into(), arguments: Vec::new() };
    let host = site.builder_with(&allow_all(""), compiler).open().await.unwrap();
    let catalog = host.catalog();
    let Some(LoadError::Refused(Refusal::UnknownImports(names))) =
        catalog.refusal("unknown-imports").map(|refusal| &*refusal.error)
    else {
        panic!("{:?}", catalog.refused());
    };
    let expected = [
        "wasi:sockets/tcp@0.3.0",
        "wasi:http/incoming-handler@0.2.12",
        "wasi:keyvalue/store@0.2.0-draft2",
        "wasi:clocks/monotonic-clock@0.3.0",
        "acme:spy/listen@1.0.0",
        "portcullis:tool/context@0.3.0",
        "plain",
    ];
    assert_eq!(names, &expected);
    // The good plugin got as far as the compiler.
    let good = &*catalog.refusal("good").unwrap().error;
    assert!(matches!(good, LoadError::Compile(portcullis::plugins::CompileError::Worker(_))), "{good:?}");
    let reply = host.call(Request::new("unknown-imports.run", "{}")).await;
    assert_eq!(reply.code, Code::PluginRefused);
}

refused! {
    unknown_function => LoadError::Refused(Refusal::Mismatch(_)), "leak";
    memory64 => LoadError::Compile(_), "memory64";
    shared_memory => LoadError::Compile(_), "threads";
    multi_memory => LoadError::Compile(_), "multi";
    gc => LoadError::Compile(_), "gc";
    exceptions => LoadError::Compile(_), "exceptions";
    tail_call => LoadError::Compile(_), "tail calls";
    relaxed_simd => LoadError::Compile(_), "relaxed SIMD";
    custom_page_size => LoadError::Compile(_), "custom page sizes";
    wide_arithmetic => LoadError::Compile(_), "wide arithmetic";
    async_component => LoadError::Compile(_), "async";
}

in_every_contract! {
    tokio::test =>
        unknown_imports;
}
