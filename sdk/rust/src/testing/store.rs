//! Stores in memory, with the same rules as a host's.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::Failure;

/// Maximum length of a key in bytes, as in a host.
const KEY_BYTES_MAX: usize = 512;
/// Number of keys per page: few, so that even a small test has several pages.
const PAGE_KEYS: usize = 10;

/// The values of a store.
#[derive(Debug, Clone)]
pub(super) struct Values {
    values: Rc<RefCell<BTreeMap<String, Vec<u8>>>>,
    bytes_max: usize,
}

impl Values {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { values: Rc::default(), bytes_max }
    }

    pub(super) fn all(&self) -> BTreeMap<String, Vec<u8>> {
        self.values.borrow().clone()
    }
}

/// An open store.
#[derive(Debug)]
pub(crate) struct Bucket {
    values: Values,
    /// Why it cannot be changed; none if it can.
    refusal: Option<&'static str>,
}

impl Bucket {
    pub(super) fn new(values: Values, refusal: Option<&'static str>) -> Self {
        Self { values, refusal }
    }

    /// Refuses a change by a review, or by a tool that declares only `read`, as a host does.
    fn check_writable(&self) -> Result<(), Failure> {
        self.refusal.map_or(Ok(()), |refusal| Err(Failure::denied(refusal)))
    }

    pub(crate) fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Failure> {
        check(key)?;
        Ok(self.values.values.borrow().get(key).cloned())
    }

    pub(crate) fn set(&self, key: &str, value: &[u8]) -> Result<(), Failure> {
        check(key)?;
        self.check_writable()?;
        let mut values = self.values.values.borrow_mut();
        let others = values.iter().filter(|(other, _)| *other != key);
        let others: usize = others.map(|(other, value)| other.len() + value.len()).sum();
        let bytes_max = self.values.bytes_max;
        if others.saturating_add(key.len() + value.len()) > bytes_max {
            return Err(Failure::failed(format!("the store is full: it may have {bytes_max} bytes in all")));
        }
        values.insert(key.to_owned(), value.to_vec());
        Ok(())
    }

    pub(crate) fn increment(&self, key: &str, delta: u64) -> Result<u64, Failure> {
        let not_a_number = || Failure::failed("it cannot be incremented: the value is not a whole number");
        let old = match self.get(key)? {
            Some(value) => String::from_utf8(value).ok().and_then(|text| text.parse().ok()).ok_or_else(not_a_number)?,
            None => 0,
        };
        let too_large = || Failure::failed("it cannot be incremented: the sum is larger than 64 bits hold");
        let sum = u64::checked_add(old, delta).ok_or_else(too_large)?;
        self.set(key, sum.to_string().as_bytes())?;
        Ok(sum)
    }

    pub(crate) fn delete(&self, key: &str) -> Result<(), Failure> {
        check(key)?;
        self.check_writable()?;
        self.values.values.borrow_mut().remove(key);
        Ok(())
    }

    pub(crate) fn exists(&self, key: &str) -> Result<bool, Failure> {
        check(key)?;
        Ok(self.values.values.borrow().contains_key(key))
    }

    pub(crate) fn keys(&self, cursor: Option<u64>) -> Result<(Vec<String>, Option<u64>), Failure> {
        let values = self.values.values.borrow();
        let start = usize::try_from(cursor.unwrap_or(0))?;
        let page: Vec<String> = values.keys().skip(start).take(PAGE_KEYS).cloned().collect();
        let next = start + page.len();
        let more = next < values.len();
        Ok((page, if more { Some(u64::try_from(next)?) } else { None }))
    }
}

fn check(key: &str) -> Result<(), Failure> {
    if key.len() > KEY_BYTES_MAX {
        return Err(Failure::unavailable(format!(
            "the store cannot be used: a key may have at most {KEY_BYTES_MAX} bytes"
        )));
    }
    Ok(())
}
