//! The commands that edit the user's policy. Each shows the difference and what it changes, asks, and replaces the file
//! at once. A running server reloads it.
//!
//! `portcullis-policy-edit` makes the new text. These files must not know TOML.

mod effects;
mod grant;
mod known;
mod pause;
mod pause_switch;
mod review;
mod rule;

pub(crate) use known::{KnownPolicy, with_user};
pub(crate) use review::{ReviewedEdit, review};

pub(super) use grant::run as grant;
pub(super) use pause::{pause, resume};
pub(super) use pause_switch::FilePauseSwitch;
pub(super) use rule::run as rule;
