//! The parts of a version that text and vectors index.

use std::borrow::Cow;

use crate::error::Result;
use crate::fold::Version;
use icm_text::{Doc, is_short, passages};

/// Returns the passages of a version's text, each behind its headings or keys; at least one.
pub(super) fn parts(version: &Version) -> Vec<Cow<'_, str>> {
    let content = version.content.as_deref().unwrap_or_default();
    if is_short(content) {
        return vec![Cow::Borrowed(content)];
    }
    let parts = passages(content).into_iter().map(|passage| {
        let text = &content[passage.place];
        match passage.path.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(format!("{}\n{text}", passage.path.join(" "))),
        }
    });
    parts.collect()
}

/// Calls `each` with each passage of a version: in the form of the text view, and as it is embedded. The first passage
/// has the number `first`. Returns the number of passages.
pub(super) fn each_part(
    first: u64,
    version: &Version,
    each: &mut dyn FnMut(&Doc<'_>, &str) -> Result<()>,
) -> Result<usize> {
    let parts = parts(version);
    let stored = rmp_serde::to_vec(version).expect("rows are plain values");
    let keywords = version.keyword_texts();
    let scope = version.scope_text();
    for (passage, part) in (first..).zip(&parts) {
        let is_first = passage == first;
        let doc = Doc {
            ordinal: passage,
            topic: version.topic.as_deref().unwrap_or_default(),
            content: part,
            raw_excerpt: version.raw_excerpt.as_deref().filter(|_| is_first),
            keywords: &keywords,
            key: version.key.as_deref(),
            occurred_at_ms: version.occurred_at_ms,
            scope: &scope,
            stored: if is_first { &stored } else { &[] },
            whole: version.content.as_deref(),
            is_further: !is_first,
        };
        each(&doc, &version.meaning_of(part))?;
    }
    Ok(parts.len())
}
