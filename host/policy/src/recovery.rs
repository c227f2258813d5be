//! Locks that stay in service after a panic. For the crates of the host, which all depend on this one.
//!
//! The host catches a panic at the call that it served, and goes on with the next call. A panic also poisons each lock
//! that is held at that moment. If a poisoned lock were an error, one panic would end every later call. So the host
//! takes a poisoned lock like any other.
//!
//! This is right for a value that no panic can leave half changed: the value is replaced in one step, or no step
//! between two changes can panic. Where a half-changed value could permit or reveal too much, the owner of the lock
//! checks [`Mutex::is_poisoned`] and refuses.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// A mutex that can be locked after a panic.
pub trait RecoverMutex<T: ?Sized> {
    /// Locks the mutex, also after a panic while it was locked.
    fn lock_recovered(&self) -> MutexGuard<'_, T>;

    /// Locks the mutex if it is free, also after a panic while it was locked.
    fn try_lock_recovered(&self) -> Option<MutexGuard<'_, T>>;
}

/// A read-write lock that can be locked after a panic.
pub trait RecoverRwLock<T: ?Sized> {
    /// Locks it to read, also after a panic while it was locked.
    fn read_recovered(&self) -> RwLockReadGuard<'_, T>;

    /// Locks it to write, also after a panic while it was locked.
    fn write_recovered(&self) -> RwLockWriteGuard<'_, T>;
}

impl<T: ?Sized> RecoverMutex<T> for Mutex<T> {
    fn lock_recovered(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock_recovered(&self) -> Option<MutexGuard<'_, T>> {
        match self.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl<T: ?Sized> RecoverRwLock<T> for RwLock<T> {
    fn read_recovered(&self) -> RwLockReadGuard<'_, T> {
        self.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_recovered(&self) -> RwLockWriteGuard<'_, T> {
        self.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_lock_stays_in_service_after_a_panic() {
        let (mutex, shared) = (Mutex::new(1), RwLock::new(1));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _held = (mutex.lock_recovered(), shared.write_recovered());
            panic!("while both are locked");
        }));
        assert!(panicked.is_err() && mutex.is_poisoned() && shared.is_poisoned());
        *mutex.lock_recovered() += 1;
        *shared.write_recovered() += 1;
        assert_eq!((*mutex.lock_recovered(), *shared.read_recovered()), (2, 2));
        let held = mutex.try_lock_recovered();
        assert!(held.is_some() && mutex.try_lock_recovered().is_none());
    }
}
