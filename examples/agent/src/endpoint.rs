//! The model's endpoint. Sends one request with limits on time and size, and retries once if the server asks for it.

use crate::connection::{Answer, ConnectionError, Key, Target, TargetError};
use portcullis::text::OneLine;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Default time to wait before a retry.
const PAUSE: Duration = Duration::from_secs(1);

/// Maximum time to wait before a retry. A longer wait is reported as a failure instead.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Maximum bytes of a server's error to show.
const SAID_BYTES_MAX: usize = 500;

/// A server with the Chat Completions API.
pub(crate) struct Endpoint {
    target: Target,
    key: Option<Key>,
    answer_time: Duration,
}

/// Why the model has not answered. Text from the server is escaped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
    /// The connection failed.
    #[error("the model's server: {0}")]
    Connection(#[from] ConnectionError),
    /// The answer takes too long.
    #[error("the model has not answered in {} s", .0.as_secs())]
    Late(Duration),
    /// The server returned an error.
    #[error("the model's server says {status}: {said}")]
    Status {
        /// The status.
        status: u16,
        /// The server's text.
        said: String,
    },
    /// The answer is not text.
    #[error("the answer of the model's server is not text")]
    NoText,
}

impl Endpoint {
    /// Creates an endpoint for an address such as `http://127.0.0.1:11434/v1`.
    ///
    /// # Errors
    /// The address is invalid, or the key would be sent unencrypted.
    pub(crate) fn new(base: &str, key: Option<&str>, answer_time: Duration) -> Result<Self, TargetError> {
        let target = Target::of(base, "chat/completions")?;
        if key.is_some() && !target.is_private() {
            return Err(TargetError::KeyInTheClear);
        }
        let key = key.map(Key::of).transpose()?;
        Ok(Self { target, key, answer_time })
    }

    /// Asks the model. Retries once if the server is busy or has failed.
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

    /// Returns the text of an error without the key, which some servers repeat.
    fn said(&self, body: &[u8]) -> String {
        let mut said = String::from_utf8_lossy(body).into_owned();
        if let Some(key) = &self.key {
            said = key.hidden_in(&said);
        }
        OneLine(&said[..said.floor_char_boundary(SAID_BYTES_MAX)]).to_string()
    }
}

/// Returns the time to wait before a retry. `None` if the error is permanent, or the server asks for a longer wait than
/// [`PAUSE_MAX`].
fn pause(answer: &Answer) -> Option<Duration> {
    let transient = answer.status == 429 || (500..600).contains(&answer.status);
    let pause = answer.retry_after.map_or(PAUSE, Duration::from_secs);
    (transient && pause <= PAUSE_MAX).then_some(pause)
}
