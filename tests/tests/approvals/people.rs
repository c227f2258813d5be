//! Approvers: with a fixed answer, with a changing answer, or silent.

use portcullis::approvals::Answering;
use portcullis::{Answer, Approver, Question};
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, Semaphore};

/// Gives the answer that the test has set, immediately, and records the requests.
pub(crate) struct Person {
    answer: Mutex<Answer>,
    asked: Mutex<Vec<Question>>,
}

impl Person {
    pub(crate) fn who_says(answer: Answer) -> Arc<Self> {
        Arc::new(Self { answer: Mutex::new(answer), asked: Mutex::default() })
    }

    /// Sets the answer.
    pub(crate) fn says(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }

    /// Returns the requests since the last call.
    pub(crate) fn asked(&self) -> Vec<Question> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Approver for Person {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        self.asked.lock().unwrap().push(question.clone());
        Box::pin(std::future::ready(self.answer.lock().unwrap().clone()))
    }
}

/// Approves as often as it has permits, and waits in between.
pub(crate) struct Thinker {
    pub(crate) yes: Semaphore,
    asked: Mutex<Vec<Question>>,
    happened: Notify,
}

impl Thinker {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { yes: Semaphore::new(0), asked: Mutex::default(), happened: Notify::new() })
    }

    /// Waits for the first request.
    pub(crate) async fn question(&self) -> Question {
        loop {
            let happened = self.happened.notified();
            if let Some(question) = self.asked.lock().unwrap().first() {
                return question.clone();
            }
            happened.await;
        }
    }
}

impl Approver for Thinker {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        self.asked.lock().unwrap().push(question.clone());
        self.happened.notify_one();
        Box::pin(async {
            self.yes.acquire().await.unwrap().forget();
            Answer::Yes
        })
    }
}

pub(crate) fn no() -> Answer {
    Answer::No { note: None }
}
