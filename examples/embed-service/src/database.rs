//! The program's own database of notes. It does not depend on the host or on plugins.

use anyhow::Context;
use portcullis::services::Key;
use rusqlite::{Connection, params};
use std::sync::{Arc, Mutex, PoisonError};

/// The key of the program's database. A test can replace the database with `Request::provide`.
pub(crate) const DATABASE: Key<Database> = Key::new("database");

/// A database with the notes of many people.
pub(crate) struct Database {
    connection: Arc<Mutex<Connection>>,
}

/// A note that matches a search.
pub(crate) struct Found {
    pub(crate) title: String,
    pub(crate) excerpt: String,
}

impl Database {
    pub(crate) fn in_memory() -> anyhow::Result<Self> {
        let connection = Connection::open_in_memory().context("SQLite does not start")?;
        connection.execute_batch("CREATE VIRTUAL TABLE note USING fts5(owner UNINDEXED, title, text)")?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)) })
    }

    /// Stores a note and returns its number.
    pub(crate) async fn add(&self, owner: &str, title: &str, text: &str) -> anyhow::Result<i64> {
        let (owner, title, text) = (owner.to_owned(), title.to_owned(), text.to_owned());
        self.with(move |connection| {
            connection
                .execute("INSERT INTO note (owner, title, text) VALUES (?, ?, ?)", params![owner, title, text])?;
            Ok(connection.last_insert_rowid())
        })
        .await
    }

    /// Returns the notes of one person that contain all words, the best match first.
    pub(crate) async fn search(&self, owner: &str, words: &str, limit: u32) -> anyhow::Result<Vec<Found>> {
        // Quote each word, so that the index does not parse it as an operator.
        let query: Vec<String> =
            words.split_whitespace().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
        let (owner, query) = (owner.to_owned(), query.join(" "));
        self.with(move |connection| {
            let mut select = connection.prepare(
                "SELECT title, snippet(note, 2, '', '', '...', 12) FROM note \
                 WHERE note MATCH ? AND owner = ? ORDER BY rank LIMIT ?",
            )?;
            let found = select.query_map(params![query, owner, limit], |row| {
                Ok(Found { title: row.get(0)?, excerpt: row.get(1)? })
            })?;
            found.collect()
        })
        .await
    }

    /// Runs a database operation on a thread that may block.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let connection = Arc::clone(&self.connection);
        let work = move || work(&connection.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(tokio::task::spawn_blocking(work).await??)
    }
}
