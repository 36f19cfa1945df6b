//! Tags: their list, and putting one in the place of another. A tag is a keyword of a memory.

use std::collections::{BTreeMap, BTreeSet};

use icm_projections::fold::Version;
use icm_projections::{ALL_IDS, Views};
use icm_text::{keyword_fits, keyword_has};

use crate::command::secrets::Guard;
use crate::command::{RequestKeyOf, plan_for, refuse_other_plan, retagged};
use crate::memory::expiry::Expired;
use crate::recall::scopes::Scopes;
use crate::recall::tag_filter::keywords_of;
use crate::recall::topic_filter::one_of;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::limits::{KEYWORD_LEN_MAX, SCOPE_LEN_MAX};
use icm_api::when::rfc3339;
use icm_api::{Caller, ReplaceTagAnswer, ReplaceTagRequest, TagCount, Tags, TagsRequest};

/// Living memories with a tag, and the newest change of one of them.
#[derive(Default)]
struct Count {
    memories: u64,
    expired: u64,
    planned: u64,
    changed_ms: u64,
}

impl Count {
    /// Counts one living memory.
    fn of(version: &Version, expired: &Expired<'_>) -> Count {
        let is_expired = expired.is_expired(version);
        let is_planned = !is_expired && expired.hides(version);
        Count {
            memories: u64::from(!is_expired && !is_planned),
            expired: u64::from(is_expired),
            planned: u64::from(is_planned),
            changed_ms: version.updated_ms,
        }
    }
}

impl Service {
    /// Returns the tags of the living memories in the scopes that the caller sees, by name, as of a moment. Expired
    /// memories and planned facts are counted apart. Reads every memory.
    pub fn tags(&self, caller: &Caller, request: &TagsRequest) -> Result<Tags> {
        for (what, given, max) in [
            ("the filter", &request.filter, KEYWORD_LEN_MAX),
            ("the scope", &request.scope, SCOPE_LEN_MAX),
        ] {
            limits::optional_text(what, given.as_deref().unwrap_or_default(), max)?;
        }
        let scopes = Scopes::of(caller, request.scope.as_deref())?;
        let filter = request.filter.as_deref();
        self.with_views(|views| {
            let at = self.at(views, request.at.as_deref(), None)?;
            let expired = Expired::at(self, views, &at);
            let mut counts: BTreeMap<String, Count> = BTreeMap::new();
            views.each_at(ALL_IDS, at.position, false, &mut |_, version| {
                if version.is_alive() && scopes.sees(&version.scope_text()) {
                    let count = Count::of(version, &expired);
                    for tag in tags_of(version) {
                        if filter.is_none_or(|part| keyword_has(part, tag)) {
                            add(&mut counts, tag, &count);
                        }
                    }
                }
                Ok(true)
            })?;
            expired.checked()?;
            let total = counts.len() as u64;
            let after = request.after.as_deref();
            let mut left = counts
                .into_iter()
                .filter(|(tag, _)| after.is_none_or(|after| tag.as_str() > after));
            let limit = request.limit.unwrap_or(usize::MAX);
            let tags = left.by_ref().take(limit).map(|(tag, count)| TagCount {
                tag,
                memories: count.memories,
                expired: count.expired,
                planned: count.planned,
                updated_at: rfc3339(count.changed_ms),
            });
            Ok(Tags {
                basis: at.to_basis(),
                scope: scopes.shown(),
                tags: tags.collect(),
                total,
                more: left.next().is_some(),
            })
        })
    }

    /// Puts one tag in the place of another in all living memories of all scopes, also expired ones, in one command; or returns the plan
    /// of that. Up to 16,384 memories change together or not at all. More are done in several such steps.
    ///
    /// # Errors
    /// `Nothing` if no living memory has the tag, or the tag to merge into; `Invalid` if a tag exists that must not;
    /// `OtherPlan` if the plan differs from the one that was agreed to.
    pub fn replace_tag(
        &self,
        caller: &Caller,
        request: &ReplaceTagRequest,
    ) -> Result<ReplaceTagAnswer> {
        let mut guard = Guard::new(&self.settings.secrets, false);
        limits::refuse_comma(&request.to)?;
        let mut to = limits::tag(&request.to)?;
        guard.tag(&mut to)?;
        let warnings = guard.warnings();
        let request = &ReplaceTagRequest {
            from: limits::tag(&request.from)?,
            to,
            ..request.clone()
        };
        if request.dry_run || self.is_empty()? {
            return self.with_views(|views| {
                let (answer, _) = self.replacement(views, request, &warnings)?;
                Ok(answer)
            });
        }
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let (mut answer, tagged) = self.replacement(views, request, &warnings)?;
            refuse_other_plan(request.plan.as_deref(), &answer.plan)?;
            let events = tagged
                .iter()
                .map(|version| retagged(version, &answer.from, &answer.to));
            let appended = command.append_all(views, events)?;
            answer.event = appended.last().map(|last| last.event.to_string());
            answer.position = appended.last().map(|last| last.position.0);
            Ok(answer)
        })
    }

    /// Returns the plan, and the memories that change, the oldest first.
    fn replacement(
        &self,
        views: &Views,
        request: &ReplaceTagRequest,
        warnings: &[String],
    ) -> QueryResult<(ReplaceTagAnswer, Vec<Version>)> {
        let newest = views.tally().position;
        let (from, to) = names(&living_tags(views)?, request)?;
        let mut tagged: Vec<Version> = Vec::new();
        views.each_at(ALL_IDS, newest, false, &mut |_, version| {
            if version.is_alive() && keywords_of(version).any(|tag| tag == from) {
                tagged.push(version.clone());
            }
            Ok(true)
        })?;
        tagged.sort_by_key(|version| version.id);
        let expired = Expired::now(self, views);
        let expired_count = tagged
            .iter()
            .filter(|version| expired.is_expired(version))
            .count();
        expired.checked()?;
        let answer = ReplaceTagAnswer {
            dry_run: request.dry_run,
            plan: plan_for(&[&from, &to], &tagged),
            from,
            to,
            memories: tagged.len() as u64,
            expired: expired_count as u64,
            ids: tagged.iter().map(|version| id_text(version.id)).collect(),
            newest: self.last_of(views, &tagged, request.shown)?,
            warnings: warnings.to_vec(),
            event: None,
            position: None,
        };
        Ok((answer, tagged))
    }
}

/// Returns each keyword of a version once. Concurrent updates may have added one twice.
fn tags_of(version: &Version) -> BTreeSet<&str> {
    keywords_of(version).collect()
}

fn add(counts: &mut BTreeMap<String, Count>, tag: &str, one: &Count) {
    let count = match counts.get_mut(tag) {
        Some(count) => count,
        None => counts.entry(tag.to_owned()).or_default(),
    };
    count.memories += one.memories;
    count.expired += one.expired;
    count.planned += one.planned;
    count.changed_ms = count.changed_ms.max(one.changed_ms);
}

/// Returns the tags of all living memories.
fn living_tags(views: &Views) -> QueryResult<BTreeSet<String>> {
    let mut tags: BTreeSet<String> = BTreeSet::new();
    views.each_at(ALL_IDS, views.tally().position, false, &mut |_, version| {
        if version.is_alive() {
            for tag in keywords_of(version) {
                if !tags.contains(tag) {
                    tags.insert(tag.to_owned());
                }
            }
        }
        Ok(true)
    })?;
    Ok(tags)
}

/// Returns the tag that is replaced and the tag that takes its place, as they are written in the store.
///
/// A known tag may be given in another case or without its accents, if only one tag is like it.
fn names(known: &BTreeSet<String>, request: &ReplaceTagRequest) -> Result<(String, String)> {
    let from = known_tag(known, &request.from)?;
    let to = match request.merge {
        true => known_tag(known, &request.to)?,
        false => request.to.clone(),
    };
    if from == to {
        return Err(ServiceError::invalid_with(
            format!("`{from}` and `{to}` are the same tag"),
            "name two different tags; `icm tags` lists them",
        ));
    }
    // A filter does not tell tags apart that differ by case or accents only.
    let mut alike = known.iter().filter(|tag| keyword_fits(&to, tag));
    match alike.find(|tag| **tag != from) {
        Some(tag) if !request.merge => Err(ServiceError::invalid_with(
            format!("the tag `{tag}` exists already"),
            format!("`icm tags merge \"{from}\" \"{tag}\"` puts it in the place of `{from}`"),
        )),
        _ => Ok((from, to)),
    }
}

/// Returns the known tag that a name stands for.
///
/// # Errors
/// `Nothing` if there is none, or several differ from the name by case or accents only.
fn known_tag(known: &BTreeSet<String>, asked: &str) -> Result<String> {
    if known.contains(asked) {
        return Ok(asked.to_owned());
    }
    let alike = known.iter().filter(|tag| keyword_fits(asked, tag));
    let alike: BTreeSet<String> = alike.cloned().collect();
    match alike.is_empty() {
        true => Err(ServiceError::nothing(
            format!("no living memory has the tag `{asked}`"),
            "see `icm tags --scope all`",
        )),
        false => one_of("tag", asked.to_owned(), alike),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> BTreeSet<String> {
        ["Api", "api", "Café", "later"].map(str::to_owned).into()
    }

    fn asked(from: &str, to: &str, merge: bool) -> Result<(String, String)> {
        let request = ReplaceTagRequest {
            from: from.to_owned(),
            to: to.to_owned(),
            merge,
            ..ReplaceTagRequest::default()
        };
        names(&known(), &request)
    }

    #[test]
    fn tags_are_named_as_they_are_written() {
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        for (from, to, merge, expected) in [
            ("later", "soon", false, pair("later", "soon")),
            ("LATER", "soon", false, pair("later", "soon")),
            ("cafe", "tea", false, pair("Café", "tea")),
            // A new spelling is no other tag.
            ("later", "Later", false, pair("later", "Later")),
            ("Api", "api", true, pair("Api", "api")),
            ("later", "CAFE", true, pair("later", "Café")),
        ] {
            assert_eq!(asked(from, to, merge).expect(from), expected);
        }
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        for (from, to, merge, message) in [
            ("soon", "late", false, "no living memory has the tag `soon`"),
            ("later", "soon", true, "no living memory has the tag `soon`"),
            ("later", "cafe", false, "the tag `Café` exists already"),
            ("Api", "api", false, "the tag `api` exists already"),
            (
                "later",
                "later",
                false,
                "`later` and `later` are the same tag",
            ),
            (
                "later",
                "Later",
                true,
                "`later` and `later` are the same tag",
            ),
            (
                "API",
                "soon",
                false,
                "no tag is named `API`, and several differ from it by case only",
            ),
        ] {
            let error = asked(from, to, merge).expect_err(message);
            assert_eq!(error.to_string(), message);
        }
    }
}
