//! People who answer: always the same, something else later, or not at all.

use portcullis::approvals::Answering;
use portcullis::{Answer, Approver, Question};
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, Semaphore};

/// Answers what a test last told them to, at once, and remembers what they were asked.
pub(crate) struct Person {
    answer: Mutex<Answer>,
    asked: Mutex<Vec<Question>>,
}

impl Person {
    pub(crate) fn who_says(answer: Answer) -> Arc<Self> {
        Arc::new(Self { answer: Mutex::new(answer), asked: Mutex::default() })
    }

    /// Says this from now on.
    pub(crate) fn says(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }

    /// What they were asked since the last time.
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

/// Says yes as often as they are let, and until then thinks.
pub(crate) struct Thinker {
    pub(crate) yes: Semaphore,
    asked: Mutex<Vec<Question>>,
    happened: Notify,
}

impl Thinker {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { yes: Semaphore::new(0), asked: Mutex::default(), happened: Notify::new() })
    }

    /// The first question they were asked, once they are.
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
