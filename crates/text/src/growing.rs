//! A value that each snapshot derives from its predecessor's, at the first read.

use std::sync::OnceLock;

use imbl::shared_ptr::DefaultSharedPtr;
use rustc_hash::FxBuildHasher;

/// A map whose copies share all equal parts.
pub type Map<K, V> = imbl::GenericHashMap<K, V, FxBuildHasher, DefaultSharedPtr>;

/// A value that grows with each snapshot. The first reader of a snapshot derives it from the snapshot before; other
/// readers wait and take the result. `T` should be cheap to clone.
#[derive(Debug, Default)]
pub struct Growing<T> {
    before: T,
    now: OnceLock<T>,
}

impl<T: Clone> Growing<T> {
    /// Returns the value of this snapshot; the first call derives it with `grow`.
    pub fn get(&self, grow: impl FnOnce(&mut T)) -> &T {
        self.now.get_or_init(|| {
            let mut now = self.before.clone();
            grow(&mut now);
            now
        })
    }

    /// Returns the value as far as it has grown.
    pub fn so_far(&self) -> &T {
        self.now.get().unwrap_or(&self.before)
    }

    /// Returns the value as far as it has grown, to be changed in the next snapshot.
    pub fn grow_on(&mut self) -> &mut T {
        if let Some(now) = self.now.take() {
            self.before = now;
        }
        &mut self.before
    }
}

impl<T: Clone> Clone for Growing<T> {
    /// Returns the next snapshot's value, which has to grow first.
    fn clone(&self) -> Self {
        Growing {
            before: self.so_far().clone(),
            now: OnceLock::new(),
        }
    }
}
