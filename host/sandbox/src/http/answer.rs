//! Removes the host's secrets from what a run returns and prints.

use super::Traffic;
use super::call::NetworkCall;
use super::network::Network;
use super::watch::PluginSecrets;
use crate::log::Log;
use portcullis_definitions::manifest::{
    Answer, Failure as Answered, FileChange, Output, Part, Preview, Success, Verdict,
};
use std::sync::Arc;

impl Network {
    /// Removes every secret that a client of the host has opened from the answer of a tool that runs without a sandbox.
    /// Returns also the traffic to record, which counts what was removed.
    pub fn redact_answer(&self, answer: Answer) -> (Answer, Traffic) {
        let call = NetworkCall::new(Some(Arc::new(PluginSecrets::new(self, []))));
        let answer = call.redact_answer(answer);
        (answer, call.traffic())
    }
}

impl NetworkCall {
    /// Removes the host's secrets from a tool's output.
    pub(crate) fn redact_answer(&self, answer: Result<Success, Answered>) -> Result<Success, Answered> {
        if self.outgoing().is_none() {
            return answer;
        }
        let text = |text: String| self.redact_text(text);
        answer
            .map(|success| Success {
                title: success.title.map(text),
                output: match success.output {
                    Output::Text(output) => Output::Text(text(output)),
                    Output::Json(output) => Output::Json(text(output)),
                    Output::Parts(parts) => {
                        Output::Parts(parts.into_iter().map(|part| self.redact_part(part)).collect())
                    }
                },
                metadata: success.metadata.map(text),
            })
            .map_err(|failure| self.redact_failure(failure))
    }

    fn redact_failure(&self, failure: Answered) -> Answered {
        let text = |text: String| self.redact_text(text);
        match failure {
            Answered::InvalidArguments(reason) => Answered::InvalidArguments(text(reason)),
            Answered::Denied(reason) => Answered::Denied(text(reason)),
            Answered::Unavailable { message, retry_after } => {
                Answered::Unavailable { message: text(message), retry_after }
            }
            Answered::Cancelled => Answered::Cancelled,
            Answered::Failed(reason) => Answered::Failed(text(reason)),
        }
    }

    /// Returns what a call would change, or an error if it contains one of the host's secrets. A redacted text cannot
    /// be shown instead, because it differs from what the call would write.
    pub(crate) fn redact_preview(&self, preview: Preview) -> Preview {
        let changes = preview.map_err(|failure| self.redact_failure(failure))?;
        let Some(redactor) = self.outgoing() else { return Ok(changes) };
        let found = |FileChange { directory, path, content }: &FileChange| {
            [directory, path].into_iter().chain(content).any(|text| redactor.text(text).is_some())
        };
        if changes.iter().any(found) {
            return Err(Answered::Denied("it contains one of the host's secrets".to_owned()));
        }
        Ok(changes)
    }

    /// Removes the host's secrets from a reviewer's verdict.
    pub(crate) fn redact_verdict(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Clear => Verdict::Clear,
            Verdict::Ask(request) => Verdict::Ask(request.map_texts(|text| self.redact_text(text))),
            Verdict::Refuse(reason) => Verdict::Refuse(self.redact_text(reason)),
        }
    }

    fn redact_part(&self, part: Part) -> Part {
        let blob = |mut blob: portcullis_definitions::manifest::Blob| {
            blob.name = blob.name.map(|name| self.redact_text(name));
            blob.media_type = self.redact_text(blob.media_type);
            blob.data = self.redact_bytes(blob.data);
            blob
        };
        match part {
            Part::Text(text) => Part::Text(self.redact_text(text)),
            Part::Image(image) => Part::Image(blob(image)),
            Part::File(file) => Part::File(blob(file)),
        }
    }

    /// Removes the host's secrets from what the guest printed, including the beginning of a secret at the end of a
    /// truncated log.
    pub(crate) fn redact_log(&self, mut log: Log) -> Log {
        if let Some(redactor) = self.outgoing().filter(|_| log.dropped_bytes > 0) {
            // The search finds only whole secrets. No guest reads the log, so the cut may depend on its bytes.
            let end = redactor.cut_off(&log.bytes);
            log.dropped_bytes += (log.bytes.len() - end) as u64;
            log.bytes.truncate(end);
        }
        log.bytes = self.redact_bytes(log.bytes);
        log
    }
}
