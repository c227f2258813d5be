//! What is a pinned package, and what is not.

use portcullis_packages::{PackageKind, PackageSpec, SpecProblem};

#[test]
fn an_exact_version_of_a_registry_is_a_pinned_package() {
    for text in [
        "npm:@modelcontextprotocol/server-github@2025.4.8",
        "npm:left-pad@1.3.0",
        "npm:a@1.0.0-beta.1",
        "pypi:mcp-server-git==2025.1.14",
        "pypi:a==1.0rc1",
        "pypi:a==1!2.0.post1+cpu",
    ] {
        let spec: PackageSpec = text.parse().unwrap();
        assert_eq!(spec.to_string(), text);
        assert_eq!(serde_json::from_value::<PackageSpec>(serde_json::to_value(&spec).unwrap()).unwrap(), spec);
    }
    let spec: PackageSpec = "pypi:MCP_Server.Git==2025.1.14".parse().unwrap();
    assert_eq!((spec.kind(), spec.name(), spec.version()), (PackageKind::Pypi, "mcp-server-git", "2025.1.14"));
}

/// Checks that texts are refused for the given reasons.
fn assert_refused(texts: &[(&str, SpecProblem)]) {
    for (text, problem) in texts {
        let error = text.parse::<PackageSpec>().unwrap_err();
        assert_eq!(error.problem(), *problem, "{text}");
        assert!(error.to_string().contains("Write for example "), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn another_text_is_no_package_of_npm() {
    let long = format!("npm:a@1.0.0-{}", "a".repeat(100));
    assert_refused(&[
        ("left-pad@1.0.0", SpecProblem::Prefix),
        ("npm@1.0.0", SpecProblem::Prefix),
        ("cargo:a@1.0.0", SpecProblem::Prefix),
        ("npm:a", SpecProblem::NoVersion),
        ("npm:@a/b", SpecProblem::NoVersion),
        ("npm:a@", SpecProblem::NoVersion),
        ("npm:a@latest", SpecProblem::NotExact),
        ("npm:a@^1.0.0", SpecProblem::NotExact),
        ("npm:a@~1.0.0", SpecProblem::NotExact),
        ("npm:a@1.x", SpecProblem::NotExact),
        ("npm:a@*", SpecProblem::NotExact),
        ("npm:a@1.0", SpecProblem::NotExact),
        ("npm:a@v1.0.0", SpecProblem::NotExact),
        ("npm:a@01.0.0", SpecProblem::NotExact),
        ("npm:a@1.0.0 --ignore-scripts=false", SpecProblem::NotExact),
        ("npm:a@1.0.0 || 2.0.0", SpecProblem::NotExact),
        ("npm:a@npm:b@1.0.0", SpecProblem::Address),
        ("npm:git+https://example.com/a.git", SpecProblem::Address),
        ("npm:a@https://example.com/a.tgz", SpecProblem::Address),
        ("npm:a@file:../a", SpecProblem::Address),
        ("npm:../a@1.0.0", SpecProblem::Address),
        ("npm:user/repository@1.0.0", SpecProblem::Name),
        ("npm:-g@1.0.0", SpecProblem::Name),
        ("npm:--prefix=@1.0.0", SpecProblem::Name),
        ("npm:@../a@1.0.0", SpecProblem::Address),
        ("npm:@a/..@1.0.0", SpecProblem::Name),
        ("npm:@a/b/c@1.0.0", SpecProblem::Name),
        ("npm:node_modules@1.0.0", SpecProblem::Name),
        ("npm:A@1.0.0", SpecProblem::Name),
        ("npm:a\n@1.0.0", SpecProblem::Name),
        ("npm:@1.0.0", SpecProblem::Name),
        (&long, SpecProblem::TooLong),
    ]);
    let error = "npm:a@latest".parse::<PackageSpec>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "`npm:a@latest` is not a pinned package: its version is not exact; ranges and tags such as `latest` change over \
         time. Write for example npm:@modelcontextprotocol/server-github@2025.4.8"
    );
}

#[test]
fn another_text_is_no_package_of_pypi() {
    assert_refused(&[
        ("pypi:a", SpecProblem::NoVersion),
        ("pypi:a==", SpecProblem::NoVersion),
        ("pypi:a>=1.0", SpecProblem::NotExact),
        ("pypi:a==1.*", SpecProblem::NotExact),
        ("pypi:a==1.0,<2", SpecProblem::NotExact),
        ("pypi:a===1.0", SpecProblem::NotExact),
        ("pypi:a@1.0", SpecProblem::NotExact),
        ("pypi:a==latest", SpecProblem::NotExact),
        ("pypi:a==1.0; python_version > '3'", SpecProblem::NotExact),
        ("pypi:a[cli]==1.0", SpecProblem::Extras),
        ("pypi:a @ https://example.com/a.whl", SpecProblem::Address),
        ("pypi:git+https://example.com/a", SpecProblem::Address),
        ("pypi:-r==1.0", SpecProblem::Name),
        ("pypi:a-==1.0", SpecProblem::Name),
        ("pypi:a/b==1.0", SpecProblem::Name),
        ("pypi:==1.0", SpecProblem::Name),
    ]);
}
