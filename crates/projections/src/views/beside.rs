//! Views that take the place of others which go on answering meanwhile: a commit takes as long as hundreds of stores.

use std::sync::{Arc, Weak};

use super::{ViewFiles, Views};
use crate::error::Result;

impl Views {
    /// Takes what was made in memory and is dear, of the views whose place these take, and gets ready what the next
    /// commands ask.
    ///
    /// # Errors
    /// As a recall.
    pub fn inherit(&mut self, before: &Views) -> Result<()> {
        self.tail.text.share(&before.tail.text);
        self.tail.text.analyse_ahead(usize::MAX, false);
        self.files.text.inherit(&before.files.text);
        self.files.text.sort_homes()?;
        self.graph.clone_from(&before.graph);
        self.models = Arc::clone(&before.models);
        Ok(())
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
