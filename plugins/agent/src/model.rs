//! One exchange with the server of the model.

use std::thread::sleep;
use std::time::Duration;

use portcullis_sdk::http::{Body, Client, Request, Response};
use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{self, Value};

use crate::budget::{Budget, Spent};
use crate::format::Malformed;
use crate::message::{ModelAnswer, ModelRequest, Usage};
use crate::settings::Settings;

/// Maximum length of an answer, in bytes. The longest answer that a policy can allow has 128,000 tokens, about 512 KiB.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Maximum time of one exchange. A model that writes long answers takes a few minutes.
const EXCHANGE_TIME_MAX: Duration = Duration::from_secs(600);

/// How often a busy server is asked again in one turn.
const RETRIES_MAX: u32 = 3;

/// The wait before the first retry, if the server proposes none. Each further one is twice as long.
const RETRY_WAIT: Duration = Duration::from_secs(1);

/// Maximum length of a server's own words in a failure, in bytes.
const WORDS_BYTES_MAX: usize = 500;

/// Bytes of one token in an estimate. Tokens of text and of JSON are longer on average, so the estimate is too high.
const TOKEN_BYTES: u64 = 2;

/// The server of the model, for one run.
pub(crate) struct Model<'a> {
    pub(crate) client: &'a Client,
    pub(crate) settings: &'a Settings,
    pub(crate) budget: &'a Budget,
    pub(crate) context: &'a Context,
}

/// What the server said.
pub(crate) enum Exchange {
    Answered(ModelAnswer),
    /// An answer that cannot be used.
    Malformed(Malformed),
}

impl Model<'_> {
    /// Asks the model, and counts what that used. A busy server is asked again, while there is time.
    pub(crate) fn ask(&self, request: &ModelRequest<'_>, spent: &mut Spent) -> Result<Exchange, Failure> {
        // Count the turn first, because a request that fails is in the answer too.
        spent.turns += 1;
        let body = self.settings.format.body(request);
        let bytes = serde_json::to_vec(&body)?;
        let response = self.send(&bytes, spent)?;
        let (content, answered) = match response.read(ANSWER_BYTES_MAX)? {
            Body::Whole(content) => {
                let answered = self.read(&content);
                (content, answered)
            }
            Body::Cut(content) => (content, Err(Malformed("it is too long".to_owned()))),
        };
        let usage = match &answered {
            Ok(ModelAnswer { usage: Some(usage), .. }) => *usage,
            _ => {
                spent.is_estimate = true;
                // No server counts more than the maximum of the request, however long its answer is.
                let output = estimate(content.len()).min(request.tokens_max);
                Usage { input: estimate(bytes.len()), output }
            }
        };
        spent.add(usage);
        Ok(match answered {
            Ok(answer) => Exchange::Answered(answer),
            Err(why) => Exchange::Malformed(why),
        })
    }

    fn read(&self, content: &[u8]) -> Result<ModelAnswer, Malformed> {
        let answer = serde_json::from_slice::<Value>(content).map_err(|_| Malformed("it is not JSON".to_owned()))?;
        self.settings.format.read(&answer)
    }

    fn send(&self, body: &[u8], spent: &Spent) -> Result<Response, Failure> {
        let mut wait = RETRY_WAIT;
        for retry in 0.. {
            self.context.check_cancelled()?;
            let left = self.budget.time_left(spent).min(EXCHANGE_TIME_MAX);
            let mut request = Request::post(self.settings.url.to_string()).header("content-type", "application/json");
            for (name, value) in self.settings.format.headers() {
                request = request.header(*name, *value);
            }
            let response = self.client.send(request.body(body).timeout(left))?;
            if response.is_success() {
                return Ok(response);
            }
            // Anthropic answers 529 when it is overloaded.
            let busy = matches!(response.status(), 429 | 500 | 502 | 503 | 504 | 529);
            let proposed = response.header("retry-after").and_then(|text| text.parse().ok()).map(Duration::from_secs);
            // `retry-after` can be a date too (RFC 9110, section 10.2.3). The wait of this plugin applies then.
            let next = proposed.unwrap_or(wait);
            if !busy || retry >= RETRIES_MAX || next >= self.budget.time_left(spent) {
                return Err(refused(response, busy));
            }
            sleep(next);
            wait *= 2;
        }
        Err(Failure::unavailable("the model did not answer"))
    }
}

fn refused(response: Response, busy: bool) -> Failure {
    let status = response.status();
    // The beginning of what the server says is enough. If it is not readable, its status has to do.
    let words = match response.read(WORDS_BYTES_MAX) {
        Ok(Body::Whole(words) | Body::Cut(words)) => words,
        Err(_) => Vec::new(),
    };
    let words = String::from_utf8_lossy(&words).replace(char::is_control, " ");
    let text = match status {
        401 | 403 => format!("the server of the model refused the key (status {status}). {words}"),
        _ => format!("the server of the model answered with status {status}. {words}"),
    };
    match busy {
        true => Failure::unavailable(text.trim()),
        false => Failure::failed(text.trim()),
    }
}

fn estimate(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(TOKEN_BYTES)
}
