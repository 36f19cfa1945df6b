//! Views that take the place of others which go on answering meanwhile: a commit takes as long as hundreds of stores.

use std::sync::{Arc, Weak};

use super::{ViewFiles, Views};
use crate::error::Result;

impl Views {
    /// Gets ready what the next commands ask, as it was in the views whose place these take.
    ///
    /// # Errors
    /// As a recall.
    pub fn inherit(&mut self, before: &Views) -> Result<()> {
        self.share(before);
        self.tail.text.analyse_ahead(usize::MAX, false);
        self.files.text.inherit(&before.files.text);
        Ok(())
    }

    /// Takes what was made in memory and is dear, of the views whose place these take. Cheap.
    pub fn share(&mut self, newest: &Views) {
        self.tail.text.share(&newest.tail.text);
        // Ordinals mean something within a generation only, which a redaction begins to count anew.
        if self.generation() == newest.generation()
            && self.files.rewritten == newest.files.rewritten
        {
            self.graph.clone_from(&newest.graph);
            self.models = Arc::clone(&newest.models);
        }
    }

    /// A mark of the files that these answer from.
    pub fn files_mark(&self) -> FilesMark {
        FilesMark(Arc::downgrade(&self.files))
    }
}

/// Files that may be out of use. The pages that a commit leaves behind are used again by the one after it, so that one has
/// to wait until nobody reads them any more.
#[derive(Default)]
pub struct FilesMark(Weak<ViewFiles>);

impl FilesMark {
    /// Whether a snapshot still reads them.
    pub fn are_read(&self) -> bool {
        self.0.strong_count() > 0
    }
}
