//! Typed keys. Two keys are equal if their names and their types are equal.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A key for a value of one type that the application provides.
///
/// ```
/// use portcullis::services::Key;
///
/// struct Pool;
/// trait Search: Send + Sync {}
///
/// const DATABASE: Key<Pool> = Key::new("database");
/// // With a trait as the type, a test can replace the value with one of another type.
/// const SEARCH: Key<dyn Search> = Key::new("search");
/// # assert_eq!((DATABASE.name(), SEARCH.name()), ("database", "search"));
/// ```
pub struct Key<T: ?Sized> {
    name: &'static str,
    of: PhantomData<fn(&T)>,
}

impl<T: ?Sized + Send + Sync + 'static> Key<T> {
    /// Creates a key with a name for errors and the audit log.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, of: PhantomData }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn id(&self) -> KeyId {
        KeyId { name: self.name, of: TypeId::of::<T>() }
    }
}

impl<T: ?Sized> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Key<T> {}

impl<T: ?Sized> fmt::Debug for Key<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Key").field(&self.name).finish()
    }
}

/// A key without its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyId {
    pub(super) name: &'static str,
    of: TypeId,
}

/// A value without its type. It contains an `Arc<T>`, where `T` is the type of its key.
#[derive(Clone)]
pub(super) struct Erased(Arc<dyn Any + Send + Sync>);

impl Erased {
    pub(super) fn new<T: ?Sized + Send + Sync + 'static>(value: Arc<T>) -> Self {
        Self(Arc::new(value))
    }

    pub(super) fn value<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.downcast_ref::<Arc<T>>().cloned()
    }
}
