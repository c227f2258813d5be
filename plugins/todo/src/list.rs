//! The list: its rules, its storage and its text form.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde::Serialize;
use portcullis_sdk::serde_json::Value;

/// Maximum number of items. An agent does not follow a longer plan.
pub(crate) const ITEMS_MAX: usize = 100;

/// Maximum length of an item in characters: a line or two.
pub(crate) const CONTENT_CHARACTERS_MAX: usize = 500;

/// The store key of the list.
const KEY: &str = "list";

/// How far an item has come.
#[arguments]
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// Not begun.
    Pending,
    /// Being worked on; at most one item.
    InProgress,
    /// Done.
    Completed,
}

/// Something to be done.
#[arguments]
#[derive(Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Item {
    /// What is to be done, in one line.
    #[schemars(length(min = 1, max = 500))]
    pub(crate) content: String,
    /// How far it has come.
    pub(crate) status: Status,
}

/// All items, in the order in which they were written.
#[derive(Debug, Default)]
pub(crate) struct List {
    items: Vec<Item>,
}

impl List {
    /// Checks the items, and makes a list of them.
    pub(crate) fn new(items: Vec<Item>) -> Result<Self, Failure> {
        if items.len() > ITEMS_MAX {
            let text = format!("a list may have at most {ITEMS_MAX} items; this one has {}", items.len());
            return Err(Failure::invalid(text));
        }
        for (number, item) in (1..).zip(&items) {
            check(number, &item.content)?;
        }
        let numbered = (1..).zip(&items).filter(|(_, item)| item.status == Status::InProgress);
        let in_progress: Vec<usize> = numbered.map(|(number, _)| number).collect();
        if let [first, second, ..] = in_progress.as_slice() {
            let text = format!("items {first} and {second} are both in_progress; set all but one to pending");
            return Err(Failure::invalid(text));
        }
        Ok(Self { items })
    }

    /// Reads the stored list; an empty one if there is none.
    pub(crate) fn kept(store: &Store) -> Result<Self, Failure> {
        Ok(Self { items: store.get_json(KEY)?.unwrap_or_default() })
    }

    /// Stores the list, and replaces the previous one.
    pub(crate) fn keep(&self, store: &Store) -> Result<(), Failure> {
        if self.items.is_empty() {
            return store.delete(KEY);
        }
        store.set_json(KEY, &self.items).map_err(|failure| match failure {
            Failure::Failed(full) => Failure::failed(format!("{full}; write fewer or shorter items")),
            other => other,
        })
    }

    /// Returns one line for each item, and a summary.
    pub(crate) fn text(&self) -> String {
        if self.items.is_empty() {
            return "(the list is empty)\n".to_owned();
        }
        let lines = self.items.iter().map(|item| format!("{} {}\n", mark(item.status), item.content));
        format!("{}\n{}\n", lines.collect::<String>(), self.summary())
    }

    /// Returns how many items are completed, in a few words.
    pub(crate) fn summary(&self) -> String {
        match self.items.len() {
            0 => "nothing to do".to_owned(),
            all => format!("{} of {all} completed", self.count(Status::Completed)),
        }
    }

    /// Returns the list for the metadata.
    pub(crate) fn metadata(&self) -> Value {
        json!({
            "items": self.items,
            "pending": self.count(Status::Pending),
            "in_progress": self.count(Status::InProgress),
            "completed": self.count(Status::Completed),
        })
    }

    fn count(&self, status: Status) -> usize {
        self.items.iter().filter(|item| item.status == status).count()
    }
}

fn mark(status: Status) -> &'static str {
    match status {
        Status::Pending => "[ ]",
        Status::InProgress => "[>]",
        Status::Completed => "[x]",
    }
}

/// Checks an item. It must be one line, so that no item can look like two.
fn check(number: usize, content: &str) -> Result<(), Failure> {
    let characters = content.chars().count();
    if content.trim().is_empty() {
        return Err(Failure::invalid(format!("item {number} is empty")));
    }
    if characters > CONTENT_CHARACTERS_MAX {
        let text = format!("item {number} has {characters} characters; the maximum is {CONTENT_CHARACTERS_MAX}");
        return Err(Failure::invalid(text));
    }
    if content.chars().any(char::is_control) {
        return Err(Failure::invalid(format!("item {number} is not one line; leave out line breaks and tabs")));
    }
    Ok(())
}
