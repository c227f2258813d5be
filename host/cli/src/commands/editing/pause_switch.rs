//! What the console can do with the pause of the user's policy: the same as `portcullis pause` and `portcullis resume`.

use crate::environment::PolicyPlaces;
use crate::policy_pause::{self, REASON_DEFAULT, Resumption};
use crate::style::Style;
use crate::unified_diff::unified;
use portcullis::policy::recovery::RecoverMutex;
use portcullis::policy::{Pause, Principal};
use portcullis_console::{PauseSwitch, ResumePreview};
use std::sync::Mutex;

/// Pauses and resumes the policy in its file.
#[derive(Debug)]
pub(in crate::commands) struct FilePauseSwitch {
    places: PolicyPlaces,
    /// Held while the file is replaced. The new file has the number of the process in its name.
    replacing: Mutex<()>,
}

impl FilePauseSwitch {
    pub(in crate::commands) fn new(places: &PolicyPlaces) -> Self {
        Self { places: places.clone(), replacing: Mutex::new(()) }
    }
}

impl PauseSwitch for FilePauseSwitch {
    fn pause_of_files(&self) -> Option<Pause> {
        policy_pause::of_files(&self.places)
    }

    fn pause(&self, by: Option<&Principal>) -> Result<(), String> {
        let _replacing = self.replacing.lock_recovered();
        let reason = by.map_or_else(|| REASON_DEFAULT.to_owned(), |by| format!("paused by {by}"));
        policy_pause::pause(&self.places, &reason).map(drop).map_err(|error| format!("{error:#}"))
    }

    fn preview(&self) -> Result<ResumePreview, String> {
        let resumption = Resumption::read(&self.places).map_err(|error| format!("{error:#}"))?;
        let path = resumption.shown().to_string_lossy().into_owned();
        let difference = unified(&path, Some(resumption.old_text()), &resumption.text, Style::Plain);
        Ok(ResumePreview { path, difference, sha256: resumption.sha256() })
    }

    fn resume(&self, sha256: &str) -> Result<(), String> {
        let _replacing = self.replacing.lock_recovered();
        let resumption = Resumption::read(&self.places).map_err(|error| format!("{error:#}"))?;
        resumption.write(sha256).map_err(|error| format!("{error:#}"))
    }
}
