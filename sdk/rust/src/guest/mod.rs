//! The contract with the host, one module per version. Nothing outside these modules names a binding.

pub mod v0_2;
