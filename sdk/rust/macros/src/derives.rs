//! `#[arguments]` and `#[output]`: the derives with the paths of their crates, so that a plugin depends only on the
//! SDK.

use proc_macro2::TokenStream;
use quote::quote;

pub(crate) fn arguments(item: &TokenStream) -> TokenStream {
    quote! {
        #[derive(Debug, ::portcullis_sdk::serde::Deserialize, ::portcullis_sdk::schemars::JsonSchema)]
        #[serde(crate = "::portcullis_sdk::serde")]
        #[schemars(crate = "::portcullis_sdk::schemars")]
        #item
    }
}

pub(crate) fn output(item: &TokenStream) -> TokenStream {
    quote! {
        #[derive(Debug, ::portcullis_sdk::serde::Serialize, ::portcullis_sdk::schemars::JsonSchema)]
        #[serde(crate = "::portcullis_sdk::serde")]
        #[schemars(crate = "::portcullis_sdk::schemars")]
        #item
    }
}
