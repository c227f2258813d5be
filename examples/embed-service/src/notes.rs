//! The service that plugins get: two methods on the caller's own notes in the database.

use crate::database::Database;
use portcullis::BoxFuture;
use portcullis::services::{CallFacts, Key, Service, ServiceError};
use serde_json::{Value, json};
use std::sync::Arc;

/// The key of the notes of one person, for one call.
pub(crate) const NOTES: Key<Notes> = Key::new("notes");

/// Maximum notes per search.
const FOUND_MAX: u32 = 50;

/// The notes of one person.
pub(crate) struct Notes {
    owner: String,
    database: Arc<Database>,
}

impl Notes {
    pub(crate) fn of(owner: &str, database: Arc<Database>) -> Self {
        Self { owner: owner.to_owned(), database }
    }

    async fn search(&self, input: &Value) -> Result<Value, ServiceError> {
        let text = input["text"].as_str().ok_or_else(|| ServiceError::invalid_input("pass the text to look for"))?;
        let limit = input["limit"].as_u64().and_then(|limit| u32::try_from(limit).ok()).unwrap_or(FOUND_MAX);
        let found =
            self.database.search(&self.owner, text, limit.min(FOUND_MAX)).await.map_err(|error| unavailable(&error))?;
        Ok(found.iter().map(|note| json!({ "title": note.title, "excerpt": note.excerpt })).collect())
    }

    async fn add(&self, input: &Value) -> Result<Value, ServiceError> {
        let (Some(title), Some(text)) = (input["title"].as_str(), input["text"].as_str()) else {
            return Err(ServiceError::invalid_input("pass the strings `title` and `text`"));
        };
        Ok(self.database.add(&self.owner, title, text).await.map_err(|error| unavailable(&error))?.into())
    }
}

impl Service for Notes {
    fn call<'a>(
        &'a self,
        _: &'a CallFacts,
        method: &'a str,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, ServiceError>> {
        Box::pin(async move {
            match method {
                "search" => self.search(&input).await,
                "add" => self.add(&input).await,
                _ => Err(ServiceError::unknown_method(method)),
            }
        })
    }
}

/// Returns the error for the model. The message of SQLite goes only to the operator's log.
fn unavailable(error: &anyhow::Error) -> ServiceError {
    ServiceError::unavailable("the notes cannot be reached; try again later").with_detail(format!("{error:#}"))
}
