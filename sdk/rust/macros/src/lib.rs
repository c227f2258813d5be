//! The attribute macros of portcullis-sdk.
