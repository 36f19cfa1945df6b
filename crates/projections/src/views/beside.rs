//! Replaces views while the older ones go on answering: a commit takes as long as hundreds of stores.

use std::sync::{Arc, Weak};

use super::{ViewFiles, Views};
use crate::error::Result;

impl Views {
    /// Prepares these views for the next commands, with the facts that the replaced views had in memory.
    ///
    /// # Errors
    /// The errors of a recall.
    pub fn inherit(&mut self, before: &Views) -> Result<()> {
        self.share(before);
        self.tail.text.analyse_ahead(usize::MAX, false);
        self.files.text.inherit(&before.files.text);
        Ok(())
    }

    /// Takes over the costly parts in memory of the views that these replace. Cheap.
    pub fn share(&mut self, newest: &Views) {
        self.tail.text.share(&newest.tail.text);
        // Ordinals have a meaning within a generation only, and a redaction numbers them anew.
        if self.generation() == newest.generation()
            && self.files.rewritten == newest.files.rewritten
        {
            self.graph.clone_from(&newest.graph);
            self.models = Arc::clone(&newest.models);
        }
    }

    /// Returns a mark of the files that these views answer from.
    pub fn files_mark(&self) -> FilesMark {
        FilesMark(Arc::downgrade(&self.files))
    }
}

/// A mark of files that are perhaps still read. A commit reuses the pages that the commit before left, so it has to
/// wait until no snapshot reads them.
#[derive(Default)]
pub struct FilesMark(Weak<ViewFiles>);

impl FilesMark {
    /// Returns `true` if a snapshot still reads the files.
    pub fn are_read(&self) -> bool {
        self.0.strong_count() > 0
    }
}
