//! The list of feedback.

use std::cmp::Reverse;

use icm_projections::fold::{FEEDBACK, Version};

use super::row::row;
use super::stats::living_feedback;
use crate::command::Scope;
use crate::recall::scopes::scope_fits;
use crate::service::Service;
use icm_api::error::Result;
use icm_api::{FeedbackList, FeedbackListRequest};

impl Service {
    /// Returns a page of the living feedback, newest first. Reads every feedback.
    ///
    /// # Errors
    /// `Invalid` for a scope or a moment that cannot be read.
    pub fn feedback_list(&self, request: &FeedbackListRequest) -> Result<FeedbackList> {
        let topic = request.topic.as_deref().map(str::trim);
        let scope = match &request.scope {
            Some(scope) => Some(Scope::parse(Some(scope))?.to_text()),
            None => None,
        };
        self.with_views(|views| {
            let at = self.at(views, request.at.as_deref(), None)?;
            let fits = |version: &Version| {
                topic.is_none_or(|topic| version.key.as_deref() == Some(topic))
                    && (scope.as_deref())
                        .is_none_or(|asked| scope_fits(asked, &version.scope_text()))
            };
            let mut found = Vec::new();
            for entity in views.members(FEEDBACK)? {
                found.extend(living_feedback(views, entity, &at)?.filter(fits));
            }
            found.sort_by_key(|version| Reverse((version.created_ms, version.id)));
            let limit = request.limit.unwrap_or(usize::MAX);
            let page = found.iter().skip(request.offset).take(limit);
            let feedback: Vec<_> = page.map(row).collect();
            Ok(FeedbackList {
                basis: at.to_basis(),
                more: request.offset.saturating_add(feedback.len()) < found.len(),
                total: found.len() as u64,
                feedback,
            })
        })
    }
}
