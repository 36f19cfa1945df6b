//! Stems of words.

use std::cell::RefCell;
use std::num::NonZeroUsize;

use lru::LruCache;
use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxBuildHasher;

use super::characters::{is_arabic, is_cyrillic};

/// Stems that a thread remembers: 16,384, at most one megabyte. A larger value costs memory.
const STEMS_MAX: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");

/// Gives the stem of a word to `take`, by script: Latin words as English, Cyrillic ones as Russian, Arabic ones as
/// Arabic.
pub(crate) fn with_stem(word: &str, take: &mut dyn FnMut(&str)) {
    let algorithm = if word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Algorithm::English
    } else if word.chars().all(is_cyrillic) {
        Algorithm::Russian
    } else if word.chars().all(is_arabic) {
        Algorithm::Arabic
    } else {
        return take(word);
    };
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(word) {
            return take(stem);
        }
        let stem = Stemmer::create(algorithm).stem(word);
        take(&stem);
        stems.put(word.into(), stem.as_ref().into());
    });
}

type Stems = LruCache<Box<str>, Box<str>, FxBuildHasher>;

thread_local! {
    /// Stems of recent words: most words of a text occurred before.
    static STEMS: RefCell<Stems> = RefCell::new(LruCache::with_hasher(STEMS_MAX, FxBuildHasher));
}
