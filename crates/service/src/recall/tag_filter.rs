//! Conditions on tags, in the form that the views take.

use icm_api::{Memory, TagFilter};
use icm_projections::TagQuery;
use icm_projections::fold::Version;

/// Returns the conditions of a checked filter.
pub(crate) fn tag_query(filter: &TagFilter) -> TagQuery<'_> {
    TagQuery {
        all: &filter.all,
        any: &filter.any,
        not: &filter.not,
        drops: filter.exclude,
    }
}

/// Returns the keywords of a version whose text is known.
pub(crate) fn keywords_of(version: &Version) -> impl Iterator<Item = &str> + Clone {
    let keywords = version.keywords.iter();
    keywords.filter_map(|keyword| keyword.text.as_deref())
}

/// Returns `true` if a memory has a tag whose memories stand last.
pub(crate) fn is_last(memory: &Memory, tags: &TagQuery<'_>) -> bool {
    tags.is_last(memory.keywords.iter().map(String::as_str))
}

/// Returns the tags that are not wanted, if their memories are left out as `excluded` says.
pub(crate) fn not_tags(tags: &TagFilter, excluded: bool) -> Vec<&str> {
    match tags.exclude == excluded {
        true => tags.not.iter().map(String::as_str).collect(),
        false => Vec::new(),
    }
}
