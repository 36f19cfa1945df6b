//! A value that each snapshot makes of its predecessor's, at the first read.

use std::sync::OnceLock;

use imbl::shared_ptr::DefaultSharedPtr;
use rustc_hash::FxBuildHasher;

/// A map of which a copy shares all that is the same.
pub type Map<K, V> = imbl::GenericHashMap<K, V, FxBuildHasher, DefaultSharedPtr>;

/// Something that grows with a snapshot: the first reader of each makes it of the one before, others wait for that and
/// take the result. `T` should be cheap to clone.
#[derive(Debug, Default)]
pub struct Growing<T> {
    before: T,
    now: OnceLock<T>,
}

impl<T: Clone> Growing<T> {
    /// Returns it as of this snapshot; `grow` brings it there, at the first call alone.
    pub fn get(&self, grow: impl FnOnce(&mut T)) -> &T {
        self.now.get_or_init(|| {
            let mut now = self.before.clone();
            grow(&mut now);
            now
        })
    }

    /// Returns it as far as it has grown.
    pub fn so_far(&self) -> &T {
        self.now.get().unwrap_or(&self.before)
    }

    /// Returns it as far as it has grown, to be changed or to grow on in the next snapshot.
    pub fn grow_on(&mut self) -> &mut T {
        if let Some(now) = self.now.take() {
            self.before = now;
        }
        &mut self.before
    }
}

impl<T: Clone> Clone for Growing<T> {
    /// The next snapshot, which has to grow first.
    fn clone(&self) -> Self {
        Growing {
            before: self.so_far().clone(),
            now: OnceLock::new(),
        }
    }
}
