//! The kinds of JSON documents that commands print, each with a schema in `docs/json`.

/// Declares the kinds, each with the name of its schema and its version.
macro_rules! document_kinds {
    ($($kind:ident $name:literal $version:literal,)+) => {
        /// A kind of document. Programs read them, so a change that breaks a reader raises the version of its kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum DocumentKind {
            $(#[doc = concat!("`docs/json/", $name, ".schema.json`")] $kind,)+
        }

        impl DocumentKind {
            /// Returns the version of the kind.
            pub(crate) fn version(self) -> u32 {
                match self {
                    $(Self::$kind => $version,)+
                }
            }
        }

        /// The kinds with their schemas. A kind without a schema does not compile.
        #[cfg(test)]
        const SCHEMAS: &[(DocumentKind, &str)] = &[
            $((DocumentKind::$kind, include_str!(concat!("../../../../docs/json/", $name, ".schema.json"))),)+
        ];
    };
}

document_kinds! {
    Init "init" 1,
    Undo "undo" 1,
    Doctor "doctor" 1,
    Tools "list" 1,
    ToolTokens "list-tokens" 1,
    Plugin "inspect" 1,
    Check "check" 1,
    Reply "call" 1,
    Export "export" 1,
    Explanation "explain" 1,
    Server "serve" 1,
    ServerEdit "server-add" 1,
    ServerInstall "server-install" 1,
    Servers "server-list" 1,
    ServerRemoval "server-remove" 1,
    Login "login" 1,
    Logout "logout" 1,
    Import "import" 1,
    ConsoleLink "console" 1,
    Approvals "approvals-list" 1,
    ApprovalRequest "approvals-request" 1,
    RememberedApproval "approvals-remembered" 1,
    ApprovalChange "approvals-change" 1,
    Trust "trust" 1,
    Accepted "accept" 1,
    LoggedCall "log" 1,
    LoggedCallDetails "log-show" 1,
    WatchEvent "watch" 1,
    Pause "pause" 1,
    PolicyEdit "policy-edit" 1,
    Suggestion "suggest" 1,
    AuditEntry "audit-entry" 1,
    AuditVerification "audit-verify" 1,
    AllAuditsVerification "audit-verify-all" 1,
    NewProject "new" 1,
    Build "build" 1,
    TestReport "test" 1,
    Bench "bench" 1,
    DevEvent "dev" 1,
    Completions "completions" 1,
    ManPages "man" 1,
    Help "help" 1,
    Version "version" 1,
    Error "error" 1,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_schema_has_the_version_of_its_kind_and_a_description() {
        for (kind, schema) in SCHEMAS {
            let schema: Value = serde_json::from_str(schema).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
            let alternatives = schema["oneOf"].as_array().cloned().unwrap_or_else(|| vec![schema.clone()]);
            for alternative in alternatives {
                assert_eq!(alternative["properties"]["version"]["const"], kind.version(), "{kind:?}");
                assert!(alternative["required"].as_array().unwrap().contains(&"version".into()), "{kind:?}");
            }
            assert!(schema["description"].as_str().is_some_and(|text| text.ends_with('.')), "{kind:?}");
        }
    }
}
