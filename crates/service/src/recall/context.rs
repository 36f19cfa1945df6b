//! Memories as part of a prompt: the results of a recall, within a budget of tokens, marked as data.

use std::collections::BTreeMap;

use icm_log::facts::Front;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::recall::query::ShownResults;
use crate::recall::record::ShownBy;
use crate::service::Service;
use icm_api::error::{Result, ServiceError};
use icm_api::found_by::{also_in, found_by};
use icm_api::tokens;
use icm_api::when::{time_ago, timestamp};
use icm_api::{
    Caller, Context, ContextRequest, FeedbackHit, Importance, Passage, RecallAnswer, RecallHit,
    RecallRequest, Trust, shown_bytes,
};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Results that are considered if the request has no limit.
const LIMIT_DEFAULT: usize = 20;
const BUDGET_MIN: usize = 50;
const BUDGET_MAX: usize = 1_000_000;
/// Bytes of the shortest part of a text that is worth showing. Raised, more of a budget stays unused.
const PART_MIN_BYTES: usize = 120;
/// The part of a budget that corrections may take: a fourth. Raised, they take less.
const CORRECTIONS_SHARE: usize = 4;
/// Characters of each text of a correction, 120. Raised, fewer corrections fit.
const CORRECTION_CHARS: usize = 120;
/// Bytes of the mark that tells how much of a cut text is missing, about.
const CUT_MARK_BYTES: usize = 40;

/// The text of a context as it is being filled.
struct Filled {
    text: String,
    /// Places of the results that are in the text.
    shown: Vec<usize>,
    /// The number of corrections that are in the text.
    corrections: usize,
    left_out: usize,
}

/// The moment that ages are counted from, and the zone of days.
struct Now {
    time: Timestamp,
    zone: TimeZone,
}

impl Service {
    /// Returns the memories that fit a query, as part of a prompt. The recall is recorded with the memories that the
    /// text shows.
    ///
    /// Superseded memories are left out; contradicting ones stand together. The last memory may be cut to the rest of
    /// the budget. The text is empty if no result reaches the floor.
    ///
    /// # Errors
    /// As [`Service::recall`], and `Invalid` for a budget out of bounds.
    pub fn recall_context(&self, caller: &Caller, request: &ContextRequest) -> Result<Context> {
        let ContextRequest {
            recall,
            budget,
            markdown,
        } = request;
        if !(BUDGET_MIN..=BUDGET_MAX).contains(budget) {
            return Err(ServiceError::invalid(format!(
                "the budget is {budget} tokens, it must be from {BUDGET_MIN} to {BUDGET_MAX}"
            )));
        }
        let recall = RecallRequest {
            limit: recall.limit.or(Some(LIMIT_DEFAULT)),
            together: true,
            front: match recall.front {
                Front::UNSAID => Front::CONTEXT,
                front => front,
            },
            ..recall.clone()
        };
        let now = Now {
            time: timestamp(self.now_ms()),
            zone: self.zone(),
        };
        let mut filled = None;
        let answer = self.recall_shown(caller, &recall, ShownBy::This, |answer| {
            let text = fill(answer, *budget, *markdown, &now);
            let filled = filled.insert(text);
            ShownResults {
                places: filled.shown.clone(),
                corrections: filled.corrections,
                tokens: tokens::estimate(&filled.text),
            }
        })?;
        let filled = filled.ok_or_else(|| ServiceError::Internal("nothing was chosen".into()))?;
        let mut results: Vec<Option<RecallHit>> = answer.results.into_iter().map(Some).collect();
        let shown = filled.shown.iter();
        Ok(Context {
            basis: answer.basis,
            scope: answer.scope,
            budget: *budget,
            tokens: tokens::estimate(&filled.text),
            text: filled.text,
            left_out: filled.left_out,
            results: shown.filter_map(|place| results[*place].take()).collect(),
            nearest: answer.nearest,
            corrections: (answer.corrections.into_iter())
                .take(filled.corrections)
                .collect(),
            often_together: answer.often_together,
            note: answer.note,
        })
    }
}

/// Fills the text with results as long as they fit.
fn fill(answer: &RecallAnswer, budget: usize, markdown: bool, now: &Now) -> Filled {
    let most = tokens::bytes(budget);
    let places: BTreeMap<&str, usize> = (0..)
        .zip(&answer.results)
        .map(|(place, hit)| (&*hit.memory.id, place))
        .collect();
    // If two memories supersede each other, the first one stays.
    let is_superseded = |place: usize, hit: &RecallHit| match &hit.superseded_by {
        Some(by) => places.get(&**by).is_none_or(|by| *by < place),
        None => false,
    };
    let mut frame = Frame::new();
    let corrections = corrected(&mut frame, answer, most / CORRECTIONS_SHARE, markdown);
    let (mut shown, mut left_out) = (Vec::new(), 0);
    let mut full = false;
    for (place, hit) in answer.results.iter().enumerate() {
        if is_superseded(place, hit) {
            continue;
        }
        if full {
            left_out += 1;
            continue;
        }
        let (head, tail) = around(hit, markdown, now);
        let room = most.saturating_sub(frame.len_bytes() + head.len() + tail.len());
        let part = room.saturating_sub(CUT_MARK_BYTES);
        // The passage of a long text is enough: the rest of the budget is worth more to other memories.
        let content = hit.shown(part.saturating_sub(CUT_MARK_BYTES).min(shown_bytes(place)));
        let content = content.as_deref().unwrap_or("(withheld)");
        let item = (&*head, content, &*tail);
        if frame.item_within(item, usize::MAX, most) {
            shown.push(place);
        } else {
            full = true;
            match part >= PART_MIN_BYTES && frame.item_within(item, part, most) {
                true => shown.push(place),
                false => left_out += 1,
            }
        }
    }
    let text = match shown.is_empty() && corrections == 0 {
        true => String::new(),
        false => frame.finish(),
    };
    Filled {
        text,
        shown,
        corrections,
        left_out,
    }
}

/// Adds the corrections that fit into `most` bytes, each cut to a line. Returns their number.
fn corrected(frame: &mut Frame, answer: &RecallAnswer, most: usize, markdown: bool) -> usize {
    let head = match markdown {
        true => "- **correction** ",
        false => "correction: ",
    };
    let fits = |hit: &&FeedbackHit| {
        let line = hit.feedback.told(CORRECTION_CHARS);
        frame.item_within((head, &line, ""), usize::MAX, most)
    };
    answer.corrections.iter().take_while(fits).count()
}

/// Returns the texts before and behind the content of a memory.
fn around(hit: &RecallHit, markdown: bool, now: &Now) -> (String, String) {
    let memory = &hit.memory;
    let topic = clean_line(&memory.topic);
    let ago = |at: &str| time_ago(now.time, at, &now.zone).unwrap_or_default();
    let of = ago(memory.occurred_at.as_ref().unwrap_or(&memory.created_at));
    let updated = ago(&memory.updated_at);
    let mut about = match memory.updated_at == memory.created_at || updated == of {
        true => vec![of],
        false => vec![of, format!("updated {updated}")],
    };
    if memory.importance != Importance::Medium {
        about.push(memory.importance.name().to_owned());
    }
    if memory.trust == Trust::External {
        about.push("external".to_owned());
    }
    if hit.elsewhere {
        about.push(format!("of {}", clean_line(&memory.scope)));
    }
    about.extend(also_in(hit));
    if hit.expanded {
        about.push("related".to_owned());
    }
    if hit.via.is_none() {
        about.push(found_by(&hit.matched));
    }
    about.extend(hit.passage.as_ref().map(Passage::told));
    about.extend(memory.marks.and_then(|marks| marks.told()));
    if !hit.contradicts.is_empty() {
        about.push(format!("contradicts {}", hit.contradicts.join(", ")));
    }
    if !hit.seems_to_replace.is_empty() {
        about.push(format!(
            "seems to replace {}",
            hit.seems_to_replace.join(", ")
        ));
    }
    if let Some(id) = &hit.seems_replaced_by {
        about.push(format!("seems replaced by {id}"));
    }
    match markdown {
        false => (
            format!("{} [{topic}] ", memory.id),
            format!(" ({})", about.join(", ")),
        ),
        true => {
            about.push(format!("`{}`", memory.id));
            (
                format!("- **{topic}** "),
                format!(" _({})_", about.join(", ")),
            )
        }
    }
}
