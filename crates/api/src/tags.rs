//! Tags: conditions on them, their list, and renaming. A tag is a keyword of a memory.

use serde::{Deserialize, Serialize};

use super::basis::Basis;
use super::error::Result;
use super::limits;
use super::memory::Memory;

/// Conditions on the tags of memories. Case and accents make no difference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagFilter {
    /// Tags that a memory has, every one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all: Vec<String>,
    /// Tags of which a memory has at least one; if empty, any memory passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub any: Vec<String>,
    /// Tags whose memories stand behind all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<String>,
    /// `true` to leave the memories with a tag of `not` out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude: bool,
}

impl TagFilter {
    /// Returns the filter for memories that have all of these tags.
    pub fn all<T: Into<String>>(tags: impl IntoIterator<Item = T>) -> TagFilter {
        TagFilter {
            all: tags.into_iter().map(Into::into).collect(),
            ..TagFilter::default()
        }
    }

    /// Returns the filter with its tags in the form in which keywords are stored.
    ///
    /// # Errors
    /// `Invalid` for a tag that no keyword can be, and for more tags than a memory may have.
    pub fn checked(&self) -> Result<TagFilter> {
        Ok(TagFilter {
            all: limits::words("tag", &self.all)?,
            any: limits::words("tag", &self.any)?,
            not: limits::words("tag", &self.not)?,
            exclude: self.exclude,
        })
    }

    /// Returns every tag of the filter.
    pub fn tags_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let (all, any, not) = (&mut self.all, &mut self.any, &mut self.not);
        all.iter_mut().chain(any).chain(not)
    }
}

/// A request for tags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagsRequest {
    /// Only tags that contain this text, regardless of case and accents.
    pub filter: Option<String>,
    /// A scope to see from, or `all`. Default: the caller's own scopes.
    pub scope: Option<String>,
    /// Start of the page: the last tag of the page before.
    pub after: Option<String>,
    /// Most tags; `None` for all.
    pub limit: Option<usize>,
    /// The moment to answer for, as `--at`.
    pub at: Option<String>,
}

/// A page of tags, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tags {
    /// The basis of the answer.
    pub basis: Basis,
    /// The scopes whose memories are counted, as in [`RecallAnswer`](super::RecallAnswer).
    pub scope: Vec<String>,
    /// The page.
    pub tags: Vec<TagCount>,
    /// Number of all tags, on all pages.
    pub total: u64,
    /// `true` if more pages follow.
    pub more: bool,
}

/// A tag with its number of memories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TagCount {
    /// The tag, as it is written.
    pub tag: String,
    /// Living memories that have it and are shown.
    pub memories: u64,
    /// Expired memories that have it.
    #[serde(default, skip_serializing_if = "crate::memory::is_zero")]
    pub expired: u64,
    /// Facts that have it and only planned values.
    #[serde(default, skip_serializing_if = "crate::memory::is_zero")]
    pub planned: u64,
    /// Newest change of one of these memories, RFC 3339.
    pub updated_at: String,
}

/// A request to put one tag in the place of another, in all memories that have it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplaceTagRequest {
    /// The tag to be replaced.
    pub from: String,
    /// The tag that takes its place.
    pub to: String,
    /// `true` if the other tag exists already; `false` if it must not exist.
    pub merge: bool,
    /// Only return which memories would change.
    pub dry_run: bool,
    /// The `plan` of an earlier answer: do exactly that.
    pub plan: Option<String>,
    /// Most memories to show.
    pub shown: usize,
}

/// A tag that was replaced, or the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplaceTagAnswer {
    /// `true` for a preview: nothing was changed.
    pub dry_run: bool,
    /// Name of this plan: pass it as `plan` to do exactly this.
    pub plan: String,
    /// The tag that is replaced.
    pub from: String,
    /// The tag that takes its place.
    pub to: String,
    /// Number of memories that change, expired ones among them.
    pub memories: u64,
    /// Number of the expired ones.
    #[serde(default, skip_serializing_if = "crate::memory::is_zero")]
    pub expired: u64,
    /// Their ids, the oldest first.
    pub ids: Vec<String>,
    /// The newest of them.
    pub newest: Vec<Memory>,
    /// Remarks on secrets, if the configuration lets them pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The last event, once it is done; undoing it takes all of the events back.
    pub event: Option<String>,
    /// Its position.
    pub position: Option<u64>,
}
