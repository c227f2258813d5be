//! Typed keys: two keys are the same if both their names and their types are.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Names a value of one type that the application provides.
///
/// ```
/// use portcullis::services::Key;
///
/// struct Pool;
/// trait Search: Send + Sync {}
///
/// const DATABASE: Key<Pool> = Key::new("database");
/// // A trait makes a key whose value a test can replace with another type.
/// const SEARCH: Key<dyn Search> = Key::new("search");
/// # assert_eq!((DATABASE.name(), SEARCH.name()), ("database", "search"));
/// ```
pub struct Key<T: ?Sized> {
    name: &'static str,
    of: PhantomData<fn(&T)>,
}

impl<T: ?Sized + Send + Sync + 'static> Key<T> {
    /// A key with a name, which is what errors and the record call it.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, of: PhantomData }
    }

    /// The name.
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

/// A value without its type: an `Arc<T>` in there, where `T` is that of its key.
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
