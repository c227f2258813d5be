//! The reasons why a specification is refused.

/// The reason why a specification is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecProblem {
    /// The text does not begin with a registry.
    #[error("it does not begin with npm: or pypi:")]
    Prefix,
    /// The text names a place.
    #[error("URLs, git repositories, files and aliases are not supported, only packages of the registry")]
    Address,
    /// The name has another form than the registry's names.
    #[error("the name has a form that the registry does not allow")]
    Name,
    /// The name has extras.
    #[error("extras in brackets are not supported")]
    Extras,
    /// There is no version.
    #[error("it has no version")]
    NoVersion,
    /// The version is a range, a tag or a wildcard.
    #[error("its version is not exact; ranges and tags such as `latest` change over time")]
    NotExact,
    /// The text is too long.
    #[error("it is too long")]
    TooLong,
}
