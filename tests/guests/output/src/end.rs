//! How a tool ends.

use portcullis_sdk::prelude::*;

/// How a tool ends.
#[arguments]
#[derive(Default)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum End {
    /// With no text more.
    #[default]
    Nothing,
    /// With this text.
    Text(String),
    /// With a JSON document.
    Json,
    /// With parts.
    Parts,
    /// With a failure that says this.
    Fail(String),
    /// With a trap.
    Trap,
    /// Not: it computes.
    Compute,
    /// Not: it waits.
    Wait,
}

impl End {
    pub(crate) fn end(self, context: &Context) -> Result<Success, Failure> {
        match self {
            Self::Nothing => String::new().into_success(),
            Self::Text(text) => text.into_success(),
            Self::Json => json!({ "json": true }).into_success(),
            Self::Parts => Parts(vec![Part::Text("a part".to_owned())]).into_success(),
            Self::Fail(text) => Err(Failure::failed(text)),
            Self::Trap => panic!("as it was told to"),
            Self::Compute => loop {
                std::hint::black_box(0);
            },
            Self::Wait => {
                context.progress(Progress::title("waiting"));
                std::thread::sleep(std::time::Duration::from_secs(3600));
                String::new().into_success()
            }
        }
    }
}
