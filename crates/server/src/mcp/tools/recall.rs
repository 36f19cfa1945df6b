//! The tool `icm_memory_recall`: searches the memories.

use std::borrow::Cow;

use icm_text::word_places;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::paging::{CURSOR, Page, tell_more};
use super::{
    ANY_TAGS, AS_OF, Call, EXCLUDE, FLOOR, Hints, KEYWORD, Kind, NOT_TAGS, Param, Reply,
    SCOPE_SEEN, SINCE, TOPIC, Tool, UNTIL, clean_value, cleaned, tag_filter,
};
use crate::mcp::schema::Args;
use icm_api::cursor::Cursor;
use icm_api::error::ServiceError;
use icm_api::found_by::{FOUND_BY_BYTES, fit, found_by, nothing_fits, repeats};
use icm_api::{
    FeedbackHit, Importance, Marks, Passage, RecallHit, RecallRequest, Source, Trust, Via,
    shown_bytes,
};
use icm_guard::frame::{Frame, cut, excerpt, fair_cap, framed_len, without_tag};
use icm_guard::sanitize::clean_line;

const LIMIT_MAX: u64 = 50;
const LIMIT_DEFAULT: u64 = 10;
/// Bytes of a hit beside its texts, about: in the structured content, and in the text with the marks of a cut.
const HIT_BYTES: usize = 400;
/// Bytes of an id in the structured content.
const REPEAT_BYTES: usize = 29;
const TEXT_HIT_BYTES: usize = 180 + FOUND_BY_BYTES;
/// Matched words in the structured content, if the room is short.
const MATCHED_MAX: usize = 10;
/// Characters of each text of a correction, 200. Raised, corrections leave less room for memories.
const CORRECTION_CHARS: usize = 200;
/// Bytes of text that each memory gets at least. Raised, a reply holds fewer memories.
const TEXT_MIN_BYTES: usize = 200;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_recall",
    title: "Recall memories",
    description: "Return the memories that match best, with ids. Call it before a task and whenever earlier decisions, preferences or fixes may matter. Not for browsing[: use {icm_memory_list_topics} or {icm_log}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "search, remember, earlier decisions, preferences",
    leaves_work: true,
    params: &[
        Param {
            name: "query",
            kind: Kind::Text,
            required: true,
            about: "a few plain words; no query syntax",
        },
        TOPIC,
        KEYWORD,
        ANY_TAGS,
        NOT_TAGS,
        EXCLUDE,
        Param {
            name: "limit",
            kind: Kind::Limit {
                min: 1,
                max: LIMIT_MAX,
            },
            required: false,
            about: "default 10",
        },
        SINCE,
        UNTIL,
        CURSOR,
        SCOPE_SEEN,
        AS_OF,
        FLOOR,
    ],
    output: None,
    run,
};

/// A result, with less than the whole memory, because every byte costs the model.
#[derive(Serialize)]
struct Hit {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    score: f64,
    fit: f64,
    matched: Vec<String>,
    topic: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "without_places"
    )]
    passage: Option<Passage>,
    /// `true` if `content` is a part of the memory's content.
    #[serde(skip)]
    is_excerpt: bool,
    /// The whole stored content of a result with a passage; the places of the passage refer to it.
    #[serde(skip)]
    whole: Option<String>,
    importance: Importance,
    weight: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keywords: Vec<String>,
    scope: String,
    trust: Trust,
    source: Source,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    occurred_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recalls_left: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    withheld: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<Via>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    expanded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contradicts: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seems_to_replace: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seems_replaced_by: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    elsewhere: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repeats: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_in: Vec<String>,
    /// The note about memories that say the same.
    #[serde(skip)]
    says_the_same: Option<String>,
    #[serde(skip_serializing_if = "is_zero")]
    confirmations: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    marks: Option<Marks>,
}

/// Serialises a passage without its places, which do not refer to the excerpt.
fn without_places<S: Serializer>(
    passage: &Option<Passage>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Told {
        number: usize,
        of: usize,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        path: Vec<String>,
    }
    let told = passage.as_ref().map(|passage| Told {
        number: passage.number,
        of: passage.of,
        path: passage.path.iter().cloned().map(cleaned).collect(),
    });
    told.serialize(serializer)
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let page = Page::of(&mut args, "a recall")?;
    let limit = args.whole("limit").unwrap_or(LIMIT_DEFAULT) as usize;
    let request = RecallRequest {
        query: args.required_text("query"),
        topic: args.text("topic"),
        tags: tag_filter(&mut args),
        scope: call.caller.scope(args.text("scope"))?,
        since: args.text("since"),
        until: args.text("until"),
        limit: Some(limit.min(fitting(call))),
        offset: page.offset,
        at: page.as_of,
        floor: args.share("floor"),
        record: !call.options.read_only,
        together: !page.goes_on,
        ..RecallRequest::default()
    };
    let answer = call.service.recall(call.caller, &request)?;
    Ok(told(call, &request, answer))
}

/// Returns the most memories that an answer shows: a few with enough text are worth more than many cut short, and a
/// cursor leads to the others.
pub(super) fn fitting(call: &Call<'_>) -> usize {
    (call.room_bytes() / (TEXT_HIT_BYTES + TEXT_MIN_BYTES)).max(1)
}

/// Returns the reply that shows an answer.
pub(super) fn told(
    call: &Call<'_>,
    request: &RecallRequest,
    answer: icm_api::RecallAnswer,
) -> Reply {
    let basis = request.at.is_some().then_some(&answer.basis);
    let text_of_basis = basis.map(super::basis_text);
    let next = answer.next;
    let next = next.map(|offset| Cursor::after(&answer.basis, offset));

    let mut hits: Vec<Hit> = answer
        .results
        .into_iter()
        .enumerate()
        .map(Hit::of)
        .collect();
    let corrections = correction_lines(&answer.corrections);
    let corrected: usize = corrections.iter().map(String::len).sum();
    let room_bytes = call.room_bytes().saturating_sub(2 * corrected);
    let (texts_cap, fields_cap) = caps(&mut hits, room_bytes);
    let mut text = text_of_basis.map_or_else(String::new, |basis| basis + "\n");
    if let Some(note) = &answer.note {
        text.push_str(&format!("note: {}\n", without_tag(&clean_line(note))));
    }
    let scope: Vec<String> = answer.scope.into_iter().map(cleaned).collect();
    match hits.is_empty() {
        _ if call.options.compact => {}
        true => text.push_str(&format!("in {}: ", seen(&scope))),
        false => {
            let zone = call.service.zone_name();
            text.push_str(&format!("in {}; days in {zone}:\n", seen(&scope)));
        }
    }
    let mut is_any_cut = false;
    match hits.is_empty() {
        true if request.offset > 0 => text.push_str("no more memories match"),
        true => text.push_str(&match &answer.nearest {
            Some(nearest) => nothing_fits(&nearest.id, nearest.fit),
            None => call.told(
                "no memory matches; try other words or scope all[, or {icm_memory_list_topics}]",
            ),
        }),
        false => {
            let framed = in_frame(call, request, (&hits, &corrections), texts_cap);
            text.push_str(&framed.text);
            is_any_cut = framed.is_any_cut;
        }
    }
    if hits.is_empty() && !corrections.is_empty() {
        let framed = in_frame(call, request, (&[], &corrections), texts_cap);
        text.push_str(&format!("\n{}", framed.text));
    }
    if is_any_cut {
        text.push_str(&format!(
            "\nof a memory that is cut, {}",
            call.way_to_the_whole()
        ));
    }
    for hit in &mut hits {
        let content = hit.content.as_deref();
        if let Some(content) = content.filter(|content| content.len() > fields_cap) {
            let passage = hit.passage_within(fields_cap);
            hit.content = passage.or_else(|| Some(cut(content, fields_cap).into_owned()));
        }
    }
    let mut structured = json!({"basis": answer.basis, "scope": scope, "results": hits});
    if let Some(nearest) = &answer.nearest {
        structured["nearest"] = json!(nearest);
        clean_value(&mut structured["nearest"]);
    }
    if let Some(next) = next {
        tell_more(&next, (&mut text, &mut structured));
    }
    if !answer.corrections.is_empty() {
        structured["corrections"] = shortened(answer.corrections);
    }
    if !answer.often_together.is_empty() {
        let ids = answer.often_together.join(" ");
        text.push_str(&format!("\noften recalled with the first one: {ids}"));
        structured["often_together"] = json!(answer.often_together);
    }
    Reply::new(text, structured)
}

/// Returns a line for each correction.
fn correction_lines(corrections: &[FeedbackHit]) -> Vec<String> {
    let lines = corrections.iter();
    lines
        .map(|hit| hit.feedback.told(CORRECTION_CHARS))
        .collect()
}

/// Returns the corrections for the structured content, with texts as short as in the lines.
fn shortened(corrections: Vec<FeedbackHit>) -> Value {
    let short = corrections.into_iter();
    let short: Vec<_> = short.map(|hit| hit.shortened(CORRECTION_CHARS)).collect();
    let mut value = json!(short);
    clean_value(&mut value);
    value
}

/// Returns the scopes seen, without those below a session, which are implied.
fn seen(scopes: &[String]) -> String {
    let seen = scopes.iter().filter(|scope| !scope.ends_with("/*"));
    seen.map(|scope| clean_line(scope))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Results in the frame that marks them as data.
struct Framed {
    text: String,
    /// `true` if a memory is not shown whole.
    is_any_cut: bool,
}

fn in_frame(
    call: &Call<'_>,
    request: &RecallRequest,
    (hits, corrections): (&[Hit], &[String]),
    cap_bytes: usize,
) -> Framed {
    let query = &request.query;
    let counts = request.record && request.at.is_none();
    let mut frame = Frame::new();
    let mut is_any_cut = false;
    for told in corrections {
        frame.item("correction: ", told, "", usize::MAX);
    }
    for hit in hits {
        let topic = clean_line(&hit.topic);
        let content = hit.content.as_deref().unwrap_or("(withheld)");
        let is_cut = framed_len(content) > cap_bytes;
        is_any_cut |= is_cut || hit.is_excerpt;
        let shown = match (is_cut, hit.passage_within(cap_bytes)) {
            (false, _) => content.into(),
            (true, Some(passage)) => passage.into(),
            (true, None) => excerpt(content, &word_places(query, content), cap_bytes),
        };
        let passage = hit.passage.as_ref().map(|it| format!(", {}", it.told()));
        let found = format!("{}{}", found(hit), passage.unwrap_or_default());
        let left = hit.recalls_left;
        let left = left.map(|left| left.saturating_sub(u64::from(counts)));
        let expires = hit.expires.as_deref().map(|it| call.expires(it, left));
        let expires = expires.map(|it| format!(", {it}")).unwrap_or_default();
        let links = format!("{expires}{}", links(hit));
        if call.options.compact {
            let about = format!("{found}{links}");
            let tail = match about.strip_prefix(", ") {
                Some(about) => format!(" ({about})"),
                None => about,
            };
            let id = match is_cut || hit.is_excerpt {
                true => format!("{} ", hit.id),
                false => String::new(),
            };
            frame.item(&format!("{id}[{topic}] "), &shown, &tail, usize::MAX);
            continue;
        }
        let head = format!("{} [{topic}] ", hit.id);
        let importance = hit.importance.name();
        let external = match hit.trust {
            Trust::External => ", external",
            Trust::User | Trust::Agent => "",
        };
        let days = days(call, hit);
        let tail = format!(" ({days}, {importance}{external}{found}{links})");
        frame.item(&head, &shown, &tail, usize::MAX);
    }
    Framed {
        text: frame.finish(),
        is_any_cut,
    }
}

/// Returns the day of a memory: when its fact occurred, else when it was created; then the day of its last change, if
/// different.
fn days(call: &Call<'_>, hit: &Hit) -> String {
    let of = call.day(hit.occurred_at.as_ref().unwrap_or(&hit.created_at));
    let updated = call.day(&hit.updated_at);
    match hit.updated_at == hit.created_at || updated == of {
        true => of,
        false => format!("{of}, updated {updated}"),
    }
}

/// Returns how the search found a result, and how well the result fits.
fn found(hit: &Hit) -> String {
    match hit.via {
        Some(_) => String::new(),
        None => format!(", {}, {}", found_by(&hit.matched), fit(hit.fit)),
    }
}

/// Returns the notes of links and scope on a result.
fn links(hit: &Hit) -> String {
    let mut words = String::new();
    if let Some(id) = &hit.superseded_by {
        words.push_str(&format!(", superseded by {id}"));
    }
    if !hit.contradicts.is_empty() {
        words.push_str(&format!(", contradicts {}", hit.contradicts.join(" ")));
    }
    if let Some(id) = &hit.seems_replaced_by {
        words.push_str(&format!(", seems replaced by {id}"));
    }
    if !hit.seems_to_replace.is_empty() {
        words.push_str(&format!(
            ", seems to replace {}",
            hit.seems_to_replace.join(" ")
        ));
    }
    let said = |via: &Via| {
        via.relation == "contradicts" && hit.contradicts.contains(&via.from)
            || hit.seems_to_replace.contains(&via.from)
    };
    if let Some(via) = hit.via.as_ref().filter(|via| !said(via)) {
        let relation = clean_line(&via.relation);
        words.push_str(&format!(", by its link to {} ({relation})", via.from));
    }
    if hit.elsewhere {
        words.push_str(&format!(", elsewhere: {}", clean_line(&hit.scope)));
    }
    if let Some(told) = hit.marks.and_then(|marks| marks.told()) {
        words.push_str(&format!(", {told}"));
    }
    if let Some(repeats) = &hit.says_the_same {
        words.push_str(&format!(", {repeats}"));
    }
    words
}

/// Returns the bytes of each content that fit, in the text and in the structured content. If the other fields alone
/// would fill the reply, removes the longest of them.
fn caps(hits: &mut [Hit], room_bytes: usize) -> (usize, usize) {
    let fields = |hit: &Hit| {
        let source = &hit.source;
        let source = [
            &source.agent,
            &source.client,
            &source.session,
            &source.project,
            &source.file,
            &hit.key,
            &hit.expires,
        ];
        let source: usize = source
            .iter()
            .map(|field| field.as_ref().map_or(0, String::len))
            .sum();
        let keywords: usize = hit.keywords.iter().map(|keyword| keyword.len() + 3).sum();
        let matched: usize = hit.matched.iter().map(|word| word.len() + 3).sum();
        let also_in: usize = hit.also_in.iter().map(|topic| topic.len() + 3).sum();
        let repeats = hit.repeats.len() * REPEAT_BYTES + also_in;
        HIT_BYTES + hit.topic.len() + hit.scope.len() + keywords + matched + source + repeats
    };
    if hits.iter().map(fields).sum::<usize>() > room_bytes / 2 {
        for hit in hits.iter_mut() {
            hit.keywords.clear();
            hit.matched.truncate(MATCHED_MAX);
            hit.source = Source {
                agent: hit
                    .source
                    .agent
                    .take()
                    .map(|agent| cut(&agent, 64).into_owned()),
                ..Source::default()
            };
        }
    }
    let lengths = || {
        hits.iter()
            .map(|hit| hit.content.as_deref().map_or(0, framed_len))
    };
    let in_text: usize = hits
        .iter()
        .map(|hit| {
            let repeats = hit.says_the_same.as_ref().map_or(0, String::len);
            hit.topic.len() + repeats + TEXT_HIT_BYTES
        })
        .sum();
    let in_fields: usize = hits.iter().map(fields).sum();
    (
        fair_cap(lengths(), room_bytes.saturating_sub(in_text)),
        fair_cap(lengths(), room_bytes.saturating_sub(in_fields)),
    )
}

impl Hit {
    fn of((place, hit): (usize, RecallHit)) -> Hit {
        let shown = hit.shown(shown_bytes(place));
        let is_excerpt = matches!(shown, Some(Cow::Owned(_)));
        let content = shown.map(|text| cleaned(text.into_owned()));
        let says_the_same = repeats(&hit);
        let mut memory = hit.memory;
        let whole = memory.content.take().filter(|_| hit.passage.is_some());
        let source = memory.source;
        Hit {
            id: memory.id,
            key: memory.key.map(cleaned),
            score: rounded(hit.score),
            fit: hit.fit,
            matched: hit.matched.into_iter().map(cleaned).collect(),
            topic: cleaned(memory.topic),
            content,
            passage: hit.passage,
            is_excerpt,
            whole,
            importance: memory.importance,
            weight: rounded(memory.weight),
            keywords: memory.keywords.into_iter().map(cleaned).collect(),
            scope: cleaned(memory.scope),
            trust: memory.trust,
            source: Source {
                agent: source.agent.map(cleaned),
                client: source.client.map(cleaned),
                session: source.session.map(cleaned),
                project: source.project.map(cleaned),
                file: source.file.map(cleaned),
            },
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            occurred_at: memory.occurred_at,
            expires: memory.expires.map(cleaned),
            recalls_left: memory.recalls_left,
            withheld: memory.withheld,
            via: hit.via,
            expanded: hit.expanded,
            superseded_by: hit.superseded_by,
            contradicts: hit.contradicts,
            seems_to_replace: hit.seems_to_replace,
            seems_replaced_by: hit.seems_replaced_by,
            elsewhere: hit.elsewhere,
            repeats: hit.repeats,
            also_in: hit.also_in.into_iter().map(cleaned).collect(),
            says_the_same,
            confirmations: memory.confirmations,
            marks: memory.marks,
        }
    }

    /// Returns the passage cut again from the whole content, because a cut excerpt would give the wrong number of
    /// missing bytes. `None` without a passage.
    fn passage_within(&self, cap_bytes: usize) -> Option<String> {
        let (whole, passage) = (self.whole.as_deref()?, self.passage.as_ref()?);
        let shown = passage.excerpt(whole, &self.matched, cap_bytes);
        Some(cleaned(shown.into_owned()))
    }
}

/// Rounds to three digits, enough to compare by.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
