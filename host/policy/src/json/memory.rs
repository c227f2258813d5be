//! How much memory a document may take once it is read. A list of `{"":0}` takes a hundred bytes for each byte of text.

use crate::limits::{JSON_MEMORY_FACTOR, JSON_SMALL_TEXT_BYTES};
use serde_json::Value;
use std::cell::Cell;

/// An allocation beside its bytes: the allocator's header and rounding.
const ALLOCATION_BYTES: usize = 24;

/// The items that the first allocation of a list has room for. It grows by doubling.
const ITEMS_FIRST: usize = 4;

/// A node of the tree that an object is, which has room for eleven members.
const NODE_BYTES: usize = 11 * (size_of::<String>() + size_of::<Value>()) + ALLOCATION_BYTES;

/// A member of an object past the first node: nodes are half full at worst.
const MEMBER_BYTES: usize = NODE_BYTES / 5;

/// What is left of a document's memory while it is read. Counting goes before allocating.
pub(super) struct DocumentMemory {
    left: Cell<usize>,
    is_spent: Cell<bool>,
}

impl DocumentMemory {
    /// For a text of this many bytes.
    pub(super) fn of(text_bytes: usize) -> Self {
        let bytes = text_bytes.max(JSON_SMALL_TEXT_BYTES).saturating_mul(JSON_MEMORY_FACTOR);
        Self { left: Cell::new(bytes), is_spent: Cell::new(false) }
    }

    /// Whether the document was refused because of its memory.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }

    /// Takes the bytes of a string.
    pub(super) fn take_text(&self, text: &str) -> bool {
        self.take(if text.is_empty() { 0 } else { text.len() + ALLOCATION_BYTES })
    }

    /// Takes one more item of a list.
    pub(super) fn take_item(&self, index: usize) -> bool {
        let more_items = match index {
            0 => ITEMS_FIRST,
            _ if index >= ITEMS_FIRST && index.is_power_of_two() => index,
            _ => return true,
        };
        self.take(more_items * size_of::<Value>() + ALLOCATION_BYTES)
    }

    /// Takes one more member of an object, with its key.
    pub(super) fn take_member(&self, index: usize, key: &str) -> bool {
        let node = match index {
            0 => NODE_BYTES,
            1..=10 => 0,
            _ => MEMBER_BYTES,
        };
        self.take(node) && self.take_text(key)
    }

    fn take(&self, bytes: usize) -> bool {
        match self.left.get().checked_sub(bytes) {
            Some(left) => self.left.set(left),
            None => self.is_spent.set(true),
        }
        !self.is_spent.get()
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{JsonError, parse};

    /// A list of one item again and again, of about so many bytes.
    fn list(item: &str, bytes: usize) -> String {
        format!("[{}]", vec![item; bytes / (item.len() + 1)].join(","))
    }

    #[test]
    fn a_document_of_many_tiny_values_is_refused_and_an_ordinary_one_is_not() {
        const MIB: usize = 1 << 20;
        for item in [r#"{"":0}"#, "[0]", r#"{"a":{"b":{}}}"#] {
            assert_eq!(parse(&list(item, 2 * MIB)), Err(JsonError::Memory(list(item, 2 * MIB).len())), "{item}");
        }
        for item in ["0", "[]", r#""""#, r#"{"name":"a plain name","size":12345}"#] {
            assert!(parse(&list(item, 2 * MIB)).is_ok(), "{item}");
        }
    }

    #[test]
    fn every_document_of_the_default_size_of_an_answer_is_read() {
        for item in [r#"{"":0}"#, "[0]", "[[[0]]]", r#"{"":""}"#] {
            assert!(parse(&list(item, 256 << 10)).is_ok(), "{item}");
        }
    }
}
