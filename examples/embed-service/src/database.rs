//! What the program has anyway: a database of notes. It knows nothing of hosts or plugins.

use anyhow::Context;
use portcullis::services::Key;
use rusqlite::{Connection, params};
use std::sync::{Arc, Mutex, PoisonError};

/// The program's database. A test would put another in its place with `Request::provide`.
pub(crate) const DATABASE: Key<Database> = Key::new("database");

/// Notes of many people.
pub(crate) struct Database {
    connection: Arc<Mutex<Connection>>,
}

/// One note that was found.
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

    /// Keeps a note, and gives its number.
    pub(crate) async fn add(&self, owner: &str, title: &str, text: &str) -> anyhow::Result<i64> {
        let (owner, title, text) = (owner.to_owned(), title.to_owned(), text.to_owned());
        self.with(move |connection| {
            connection
                .execute("INSERT INTO note (owner, title, text) VALUES (?, ?, ?)", params![owner, title, text])?;
            Ok(connection.last_insert_rowid())
        })
        .await
    }

    /// The notes of one person that have all words, the best first.
    pub(crate) async fn search(&self, owner: &str, words: &str, limit: u32) -> anyhow::Result<Vec<Found>> {
        // Each word quoted: to the index it is a word, whatever it looks like.
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

    /// Works on the database where it may block.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let connection = Arc::clone(&self.connection);
        let work = move || work(&connection.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(tokio::task::spawn_blocking(work).await??)
    }
}
