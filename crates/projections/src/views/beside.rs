//! Views that are taken further beside those that answer meanwhile.
//!
//! A commit takes as long as hundreds of stores. A process that goes on opens its views a second time, copies
//! the tail, commits there, and puts the result in the place of the first.

use std::mem::take;

use super::Views;
use super::manifest::Part;
use crate::error::Result;

impl Views {
    /// Copies the tail to `second`, views of the same folder that nobody asks: it can be committed there while
    /// these go on answering. False where the two are not at one place, or the tail cannot be committed now.
    ///
    /// # Errors
    /// As a recall: what answers meanwhile is opened before it is written to.
    pub fn copy_tail(&self, second: &mut Views) -> Result<bool> {
        let is_same = self.base == second.base && self.look_same(Part::All);
        if !is_same || !self.tail.is_whole() || self.tail.failed {
            return Ok(false);
        }
        self.table()?;
        self.base_vectors()?;
        second.tail = self.tail.copied();
        second.text.share_homes(&self.text);
        Ok(true)
    }

    /// Takes what `other`, which answers meanwhile, has worked out of texts that came since the commit.
    pub fn share_texts(&mut self, other: &Views) {
        self.tail.text.share(&other.tail.text);
    }

    /// Gets ready, while nobody waits, what the next commands ask of views that were taken further.
    ///
    /// # Errors
    /// As a recall.
    pub fn get_ready(&self) -> Result<()> {
        self.tail.text.analyse_ahead(usize::MAX, false);
        Ok(self.text.sort_homes()?)
    }

    /// Takes what was made in memory and is dear, of the views whose place these take.
    pub fn inherit(&mut self, before: &mut Views) {
        self.text.inherit(&mut before.text);
        self.graph = before.graph.take();
        self.models = take(&mut before.models);
    }
}
