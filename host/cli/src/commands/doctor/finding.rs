//! One result of a check.

/// How bad a finding is. The order is from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FindingLevel {
    Ok,
    Warning,
    Error,
}

impl FindingLevel {
    /// Returns the word for it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One result of a check.
#[derive(Clone, Debug)]
pub(super) struct DoctorFinding {
    pub(super) level: FindingLevel,
    /// What was checked.
    pub(super) what: &'static str,
    /// What was found. May contain text of files.
    pub(super) message: String,
    /// What to do about it.
    pub(super) remedy: Option<String>,
}

impl DoctorFinding {
    /// Everything is as it should be, or this is only information.
    pub(super) fn ok(what: &'static str, message: impl Into<String>) -> Self {
        Self { level: FindingLevel::Ok, what, message: message.into(), remedy: None }
    }

    /// Something does not work as the user may expect.
    pub(super) fn warning(what: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: FindingLevel::Warning, what, message: message.into(), remedy: Some(remedy.into()) }
    }

    /// Something does not work.
    pub(super) fn error(what: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: FindingLevel::Error, what, message: message.into(), remedy: Some(remedy.into()) }
    }
}
