//! The model behind its endpoint: one request, one answer, each bounded, and one more try where the server asks for it.

use crate::connection::{Answer, ConnectionError, Key, Target, TargetError};
use portcullis::text::OneLine;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How long a server is waited for that is busy or has failed, where it does not say.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest that it may ask to be waited for: after that, a person would rather know.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How much of a failure a person is shown, in bytes.
const SAID_BYTES_MAX: usize = 500;

/// A server that speaks Chat Completions.
pub(crate) struct Endpoint {
    target: Target,
    key: Option<Key>,
    answer_time: Duration,
}

/// Why the model has not answered. Its words are encoded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
    /// The server cannot be talked to.
    #[error("the model's server: {0}")]
    Connection(#[from] ConnectionError),
    /// It takes too long.
    #[error("the model has not answered in {} s", .0.as_secs())]
    Late(Duration),
    /// It answers with a failure.
    #[error("the model's server says {status}: {said}")]
    Status {
        /// The status.
        status: u16,
        /// What it says about it.
        said: String,
    },
    /// It answers with what is no text.
    #[error("the model's server answers with what is no text")]
    NoText,
}

impl Endpoint {
    /// The server at an address such as `http://127.0.0.1:11434/v1`.
    ///
    /// # Errors
    /// It is no such address, or the key would travel to it in the clear.
    pub(crate) fn new(base: &str, key: Option<&str>, answer_time: Duration) -> Result<Self, TargetError> {
        let target = Target::of(base, "chat/completions")?;
        if key.is_some() && !target.is_private() {
            return Err(TargetError::KeyInTheClear);
        }
        let key = key.map(Key::of).transpose()?;
        Ok(Self { target, key, answer_time })
    }

    /// Asks the model, and once more where the server is busy or has failed.
    ///
    /// # Errors
    /// There is no answer.
    pub(crate) async fn complete(&self, request: &Value) -> Result<String, EndpointError> {
        let body = request.to_string();
        let first = self.post(&body).await?;
        let answer = match pause(&first) {
            None => first,
            Some(pause) => {
                sleep(pause).await;
                self.post(&body).await?
            }
        };
        if answer.status != 200 {
            return Err(EndpointError::Status { status: answer.status, said: self.said(&answer.body) });
        }
        String::from_utf8(answer.body).map_err(|_| EndpointError::NoText)
    }

    async fn post(&self, body: &str) -> Result<Answer, EndpointError> {
        let answer = timeout(self.answer_time, self.target.post(self.key.as_ref(), body)).await;
        Ok(answer.map_err(|_| EndpointError::Late(self.answer_time))??)
    }

    /// What a failure says, without the key: some servers repeat it.
    fn said(&self, body: &[u8]) -> String {
        let mut said = String::from_utf8_lossy(body).into_owned();
        if let Some(key) = &self.key {
            said = key.hidden_in(&said);
        }
        OneLine(&said[..said.floor_char_boundary(SAID_BYTES_MAX)]).to_string()
    }
}

/// How long to wait before one more try, where there is one: the server is busy or has failed, and does not ask for
/// more patience than anybody has.
fn pause(answer: &Answer) -> Option<Duration> {
    let transient = answer.status == 429 || (500..600).contains(&answer.status);
    let pause = answer.retry_after.map_or(PAUSE, Duration::from_secs);
    (transient && pause <= PAUSE_MAX).then_some(pause)
}
