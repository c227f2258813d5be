//! The secrets that the clients of one network have opened, and the search for all of them.

use super::redact::Redactor;
use super::secret_error::SecretError;
use portcullis_policy::recovery::{RecoverMutex, RecoverRwLock};
use std::sync::{Arc, Mutex, RwLock};

/// Maximum length of all spellings that a host searches for, in bytes: about 1500 ordinary tokens, or 7 secrets of the
/// maximum length. The search needs 12 times as much memory.
const SPELLED_BYTES_MAX: usize = 2 << 20;

/// The secrets that the clients of one network have opened. A secret stays in the list after its policy is gone, while
/// there is room, because it may still be valid.
#[derive(Default)]
pub(super) struct OpenedSecrets {
    known: RwLock<KnownSecrets>,
    /// Held while a secret is added. Readers do not take it, so they do not wait while the search is built.
    adding: Mutex<()>,
}

#[derive(Default)]
struct KnownSecrets {
    parts: Vec<Arc<Redactor>>,
    whole: Option<Arc<Redactor>>,
}

impl OpenedSecrets {
    /// Adds a secret before its first use. Returns its redactor.
    ///
    /// # Errors
    /// There is no room for another secret.
    pub(super) fn add(&self, redactor: Redactor) -> Result<Arc<Redactor>, SecretError> {
        self.add_within(redactor, SPELLED_BYTES_MAX)
    }

    fn add_within(&self, redactor: Redactor, bytes_max: usize) -> Result<Arc<Redactor>, SecretError> {
        let _adding = self.adding.lock_recovered();
        let mut parts = self.known.read_recovered().parts.clone();
        if let Some(known) = parts.iter().find(|known| known.is_same(&redactor)) {
            return Ok(Arc::clone(known));
        }
        let spelled = |parts: &[Arc<Redactor>]| parts.iter().map(|part| part.spelled_bytes()).sum::<usize>();
        if spelled(&parts) + redactor.spelled_bytes() > bytes_max {
            // Only this list and its copy still refer to a secret of a policy that is gone.
            parts.retain(|part| Arc::strong_count(part) > 2);
        }
        let redactor = Arc::new(redactor);
        parts.push(Arc::clone(&redactor));
        if spelled(&parts) > bytes_max {
            return Err(SecretError::Many);
        }
        let whole = union(&parts).ok_or(SecretError::Many)?;
        // In one step, so that a secret is in the list only if the search finds it.
        *self.known.write_recovered() = KnownSecrets { parts, whole: Some(whole) };
        Ok(redactor)
    }

    /// Returns the redactor of all opened secrets, or `None` if there are none.
    pub(super) fn whole(&self) -> Option<Arc<Redactor>> {
        self.known.read_recovered().whole.clone()
    }
}

pub(super) fn union(parts: &[Arc<Redactor>]) -> Option<Arc<Redactor>> {
    match parts {
        [one] => Some(Arc::clone(one)),
        parts => Redactor::union(parts).map(Arc::new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_is_known_is_not_added_again() {
        let opened = OpenedSecrets::default();
        assert!(opened.whole().is_none());
        let first = opened.add(Redactor::new(&["first-secret"]).unwrap()).unwrap();
        let again = opened.add(Redactor::new(&["first-secret"]).unwrap()).unwrap();
        assert!(Arc::ptr_eq(&first, &again) && Arc::ptr_eq(&first, &opened.whole().unwrap()));
        opened.add(Redactor::new(&["other-secret"]).unwrap()).unwrap();
        assert_eq!(opened.whole().unwrap().text("first-secret, other-secret").unwrap().1, 2);
    }

    #[test]
    fn a_secret_for_which_there_is_no_room_is_not_opened() {
        let opened = OpenedSecrets::default();
        let redactor = |value: &str| Redactor::new(&[value]).unwrap();
        let bytes_max = redactor("first-secret").spelled_bytes();
        let held = opened.add_within(redactor("first-secret"), bytes_max).unwrap();
        assert!(matches!(opened.add_within(redactor("second-secret"), bytes_max), Err(SecretError::Many)));
        let whole = opened.whole().unwrap();
        assert!(whole.text("first-secret").is_some() && whole.text("second-secret").is_none());
        drop((held, whole));
    }

    #[test]
    fn a_secret_of_a_policy_that_is_gone_makes_room() {
        let opened = OpenedSecrets::default();
        let redactor = |value: &str| Redactor::new(&[value]).unwrap();
        let held = opened.add(redactor("first-secret")).unwrap();
        drop(opened.add(redactor("second-secret")).unwrap());
        let bytes_max = ["first-secret", "third-secret"].map(|value| redactor(value).spelled_bytes()).iter().sum();
        drop(opened.add_within(redactor("third-secret"), bytes_max).unwrap());
        let whole = opened.whole().unwrap();
        let found = ["first-secret", "second-secret", "third-secret"].map(|value| whole.text(value).is_some());
        assert_eq!(found, [true, false, true]);
        drop(held);
    }
}
