//! Guests whose results violate the canonical ABI: S16, S17, S18, S20.

use portcullis::plugins::{Contract, LoadError};
use portcullis::{Code, LimitKind};
use portcullis_tests::{Attack, Manifest};

ends! {
    string_of_nine_mebibytes => Code::Limit(LimitKind::Transfer);
    string_beyond_memory => Code::Trapped;
    string_around_the_end => Code::Trapped;
    string_not_utf8 => Code::Trapped;
    list_without_end => Code::Trapped;
    output_out_of_range => Code::Trapped;
    failure_out_of_range => Code::Trapped;
    option_out_of_range => Code::Trapped;
    answer_misaligned => Code::Trapped;
    answer_beyond_memory => Code::Trapped;
    realloc_wild => Code::Trapped;
    realloc_misaligned => Code::Trapped;
    /// Small in the guest and large in the host. The limit on copied bytes or on the number of parts stops it.
    list_of_nothing => Code::InvalidOutput;
}

pub(crate) async fn enum_out_of_range(contract: Contract) {
    let manifest = Manifest::of("enum-out-of-range").directory("workspace", true);
    let says = Attack::with(contract, &manifest, "enum-out-of-range")
        .refused(|error| matches!(error, LoadError::Describe(_)))
        .await;
    assert!(says.contains("trapped"), "{says}");
}

/// The contract lets a host ignore unknown flags: the four known ones are declared.
pub(crate) async fn flags_out_of_range(contract: Contract) {
    let attack = Attack::by(contract, "flags_out_of_range");
    let host = attack.open().await;
    assert_eq!(attack.call(&host).await.code, Code::Completed);
    let tools: Vec<_> = host.catalog().tools().map(|(_, tool)| tool.permissions().to_string()).collect();
    assert!(tools.contains(&"read, write, execute, network".to_owned()), "{tools:?}");
}

in_every_contract! {
    tokio::test =>
        enum_out_of_range
        flags_out_of_range;
}
