//! Programs that the operating system confines: what they see, what they reach, and how they end.

#![cfg(target_os = "linux")]

mod ending;
mod lab;
mod view;
