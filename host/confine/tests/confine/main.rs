//! Programs that the operating system confines: what they see, what they reach, and how they end.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make the files and processes that programs must not reach, and a test may panic"
)]

mod another_user;
mod bypasses;
mod cells;
mod ending;
mod filter;
mod lab;
mod limits;
mod mounts;
mod outside;
mod own_process;
mod privileges;
mod published_bypasses;
mod reach;
mod shared;
mod view;
#[cfg(target_arch = "x86_64")]
mod x32;
