//! Edits the text of a policy in place, and says what an edit changes: text in, text out, no I/O.
//!
//! An edit replaces or inserts a few bytes and copies all others, so comments, order and formatting survive. Every
//! result is parsed by `portcullis-policy`. An edit is refused if its result is not a policy, if it changes the meaning
//! of anything else, or if a stricter rule leaves it without effect. This crate must not know files, a clock, or who
//! asks for an edit.
//!
//! ```
//! use portcullis_policy::{Decision, Layers};
//! use portcullis_policy_edit::{PolicyEdit, RuleEdit, apply};
//!
//! let text = "# my rules\n[[rule]]\ntool = \"files.write\"\ndecision = \"ask\" # for now\n";
//! let layers = Layers { user: Some(text), ..Layers::default() };
//! let edit = PolicyEdit::Rule(RuleEdit::new(Decision::Allow, "files.write"));
//! let edited = apply(&layers, &edit, &[]).unwrap();
//! assert_eq!(edited.text, text.replace("\"ask\"", "\"allow\""));
//! ```

// What is edited.
mod edit;
mod error;
mod server_edit;

// The text, and the places in it.
mod document;
mod quote;
mod splice;

// One file per edit.
mod grant;
mod mask;
mod pause;
mod rule;
mod server;
mod written;

// What an edit means.
mod changes;
mod meaning;
mod overruled;
mod sample;

mod apply;

// What people approved.
mod suggest;

pub use apply::{EditedPolicy, apply};
pub use changes::{ArgumentSample, DecisionChange, decision_changes};
pub use edit::{GrantBinding, GrantEdit, MaskEdit, PolicyEdit, RuleEdit, WhenValue};
pub use error::{EditError, OverrulingRule};
pub use rule::lines as rule_lines;
pub use server::lines as server_lines;
pub use server_edit::{ServerAddressEdit, ServerDirectory, ServerEdit, ServerSecretEdit, ServerStart};
pub use suggest::{ApprovedCall, PROPOSALS_MAX, RuleProposal, proposals};
