//! Bindings for WASI proposals that wasmtime-wasi does not provide.

mod generated {
    #![allow(missing_docs, unreachable_pub, clippy::all, reason = "written by a macro from wit/v0.1/deps")]

    wasmtime::component::bindgen!({
        inline: "
            package portcullis:host;
            world stores {
                import wasi:keyvalue/store@0.2.0-draft;
                import wasi:keyvalue/atomics@0.2.0-draft;
                import wasi:config/store@0.2.0-rc.1;
                import wasi:logging/logging@0.1.0-draft;
            }
        ",
        path: [
            "../../wit/v0.1/deps/keyvalue.wit",
            "../../wit/v0.1/deps/config.wit",
            "../../wit/v0.1/deps/logging.wit",
        ],
        imports: {
            "wasi:keyvalue/store": async | trappable,
            "wasi:keyvalue/atomics": async | trappable,
            default: trappable,
        },
        with: { "wasi:keyvalue/store.bucket": crate::keyvalue::Bucket },
        require_store_data_send: true,
    });
}

#[expect(unreachable_pub, reason = "the bindings of the contract name them as public")]
pub use generated::wasi::{config, keyvalue, logging};
