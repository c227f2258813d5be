//! Limits the memory of a parsed document. A list of `{"":0}` takes a hundred bytes for each byte of text.

use crate::limits::{JSON_MEMORY_FACTOR, JSON_SMALL_TEXT_BYTES};
use serde_json::Value;
use std::cell::Cell;

/// Overhead of one allocation: the allocator's header and rounding.
const ALLOCATION_BYTES: usize = 24;

/// Items in the first allocation of a list. The list grows by doubling.
const ITEMS_FIRST: usize = 4;

/// A B-tree node of an object, which has room for eleven members.
const NODE_BYTES: usize = 11 * (size_of::<String>() + size_of::<Value>()) + ALLOCATION_BYTES;

/// A member of an object past the first node. In the worst case, nodes are half full.
const MEMBER_BYTES: usize = NODE_BYTES / 5;

/// The remaining memory of a document that is being parsed. It is charged before each allocation.
pub(super) struct DocumentMemory {
    left: Cell<usize>,
    is_spent: Cell<bool>,
}

impl DocumentMemory {
    /// Makes the memory for a text of this many bytes.
    pub(super) fn of(text_bytes: usize) -> Self {
        let bytes = text_bytes.max(JSON_SMALL_TEXT_BYTES).saturating_mul(JSON_MEMORY_FACTOR);
        Self { left: Cell::new(bytes), is_spent: Cell::new(false) }
    }

    /// Returns whether the document was refused because of its memory.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }

    /// Charges the bytes of a string.
    pub(super) fn take_text(&self, text: &str) -> bool {
        self.take(if text.is_empty() { 0 } else { text.len() + ALLOCATION_BYTES })
    }

    /// Charges one more item of a list.
    pub(super) fn take_item(&self, index: usize) -> bool {
        let more_items = match index {
            0 => ITEMS_FIRST,
            // The list is full at each power of two, and then doubles.
            _ if index >= ITEMS_FIRST && index.is_power_of_two() => index,
            _ => return true,
        };
        self.take(more_items * size_of::<Value>() + ALLOCATION_BYTES)
    }

    /// Charges one more member of an object, with its key.
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
        // After one refusal, smaller charges fail, too.
        !self.is_spent.get()
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{JsonError, parse};

    /// Returns a list that repeats one item, of about this many bytes.
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
    fn every_document_of_the_default_output_size_is_parsed() {
        for item in [r#"{"":0}"#, "[0]", "[[[0]]]", r#"{"":""}"#] {
            assert!(parse(&list(item, 256 << 10)).is_ok(), "{item}");
        }
    }
}
