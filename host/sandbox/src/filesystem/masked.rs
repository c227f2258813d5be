//! The masks that apply to one place in a directory, and what a guest may do there.
//!
//! A handle keeps the masks that applied to its directory when it was opened. They stay correct, because no masked
//! handle can move a directory to a place with other masks (`naming.rs`).

use super::uses::PlaceUse;
use portcullis_policy::{MaskTrail, Masks};
use std::sync::Arc;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// The position of a place among the masks.
#[derive(Clone, Debug)]
pub(super) struct MaskPosition {
    masks: Arc<Masks>,
    trail: MaskTrail,
    /// The parent directory and the name of the place. None if the place is a directory that was opened or passed
    /// through.
    named: Option<(MaskTrail, Box<str>)>,
}

impl MaskPosition {
    /// Makes the standing at the end of these steps from the directory that has the masks.
    pub(super) fn at(masks: Arc<Masks>, steps: &[Box<str>]) -> Self {
        let start = Self { trail: masks.start(), masks, named: None };
        steps.iter().fold(start, |standing, step| standing.step(step))
    }

    /// Makes the standing of a name in the directory of this one.
    pub(super) fn step(&self, name: &str) -> Self {
        let trail = self.masks.step(&self.trail, name);
        Self { masks: Arc::clone(&self.masks), trail, named: Some((self.trail.clone(), name.into())) }
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.trail.is_hidden()
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.trail.is_read_only()
    }

    /// Returns whether a mask may hide something in this directory.
    pub(super) fn may_hide(&self) -> bool {
        self.masks.hide_something()
    }

    /// Refuses a use that the masks forbid, whether or not something exists at the place.
    pub(super) fn check(&self, of: PlaceUse) -> Result<(), ErrorCode> {
        if self.is_hidden() {
            return Err(ErrorCode::NoEntry);
        }
        match of {
            // An open is checked later, when it is known whether it writes.
            PlaceUse::Look | PlaceUse::Open | PlaceUse::ReadLink | PlaceUse::List | PlaceUse::Sync => Ok(()),
            PlaceUse::MakeDirectory | PlaceUse::SetTimes | PlaceUse::RemoveDirectory | PlaceUse::Name => {
                self.check_change()
            }
            PlaceUse::Unlink => self.check_file(),
        }
    }

    /// Refuses to change the place.
    pub(super) fn check_change(&self) -> Result<(), ErrorCode> {
        if self.is_read_only() { Err(ErrorCode::ReadOnly) } else { Ok(()) }
    }

    /// Refuses to create, change or remove anything but a directory at the place. A file `.git` names the directory
    /// that git reads its settings from, so it is as powerful as the settings.
    pub(super) fn check_file(&self) -> Result<(), ErrorCode> {
        self.check_change()?;
        let stands_in = self.named.as_ref().is_some_and(|(around, name)| self.masks.name_on_the_way(around, name));
        if stands_in { Err(ErrorCode::ReadOnly) } else { Ok(()) }
    }

    /// Refuses to create a link at the place. Its target would be reachable where other masks apply.
    pub(super) fn check_link(&self) -> Result<(), ErrorCode> {
        self.check_file()?;
        if self.masks.tell_apart(&self.trail) { Err(ErrorCode::ReadOnly) } else { Ok(()) }
    }

    /// Returns whether the same masks apply below both places. `None` is a place in a directory without masks.
    pub(super) fn is_same_below(one: Option<&Self>, other: Option<&Self>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) if Arc::ptr_eq(&one.masks, &other.masks) => one.trail == other.trail,
            (one, other) => [one, other].into_iter().flatten().all(|standing| standing.trail.is_clear()),
        }
    }
}
