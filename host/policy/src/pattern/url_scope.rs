//! The URLs that a remembered approval covers: every query of one path, or every path of one scheme, host and port.
//!
//! Never compare the text of URLs here. Each is parsed as the network code parses it. So two spellings of a destination
//! are the same, and a host that only looks like the approved one is different.

use std::fmt;

use super::error::PatternError;
use super::limits::RESOURCE_PATH_BYTES;
use crate::destination::Destination;

/// The URLs that an approval covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UrlScope {
    /// This path of this scheme, host and port, with any query.
    Path(Destination),
    /// Every path of this scheme, host and port.
    Origin(Destination),
}

impl UrlScope {
    /// Returns the scopes around a URL, from narrow to wide. A path that is too long to read is left out.
    pub(super) fn around(url: &Destination) -> impl Iterator<Item = Self> + use<> {
        let path = path_text(url);
        let path = Some(path).filter(|text| text.len() <= RESOURCE_PATH_BYTES).and_then(|text| Self::path(&text).ok());
        path.into_iter().chain(Self::origin(&url.origin()).ok())
    }

    /// Parses the scope of a path from the text that [`Self::text`] writes.
    pub(super) fn path(text: &str) -> Result<Self, PatternError> {
        let url = Destination::from_url(text).map_err(|_| PatternError::Url)?;
        // The host stores only this plain form, so it has not written any other.
        let is_plain = text.len() <= RESOURCE_PATH_BYTES && path_text(&url) == text;
        if is_plain { Ok(Self::Path(url)) } else { Err(PatternError::Url) }
    }

    /// Parses the scope of an origin from the text that [`Self::text`] writes.
    pub(super) fn origin(text: &str) -> Result<Self, PatternError> {
        let url = Destination::from_url(text).map_err(|_| PatternError::Url)?;
        if url.origin() == text { Ok(Self::Origin(url)) } else { Err(PatternError::Url) }
    }

    /// Returns its plain form, including the port.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Path(url) => path_text(url),
            Self::Origin(url) => url.origin(),
        }
    }

    /// Returns whether the approval covers this URL.
    pub(super) fn covers(&self, url: &str) -> bool {
        let Ok(url) = Destination::from_url(url) else { return false };
        match self {
            Self::Path(approved) => approved.same_origin(&url) && approved.path() == url.path(),
            Self::Origin(approved) => approved.same_origin(&url),
        }
    }
}

impl fmt::Display for UrlScope {
    /// The text is visible ASCII without blanks, so it needs no quotes.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(_) => write!(formatter, "{} with any query", self.text()),
            Self::Origin(_) => write!(formatter, "every path of {}", self.text()),
        }
    }
}

fn path_text(url: &Destination) -> String {
    url.origin() + url.path()
}
