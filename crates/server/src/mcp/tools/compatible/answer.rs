//! Answers in JSON, with the stored text in a frame.

use icm_api::RecallHit;
use icm_api::found_by::fit;
use icm_api::{Nearest, shown_bytes};
use icm_guard::frame::{Frame, cut, fair_cap, framed_len};
use icm_text::word_places;
use serde_json::{Map, Value, json};

use crate::mcp::tools::{Call, Reply, clean_value};
use icm_guard::frame::excerpt;

/// Bytes of an item beside its content, about. Raised, contents get less room.
const ITEM_BYTES: usize = 500;
/// Characters of a memory in a preview.
const PREVIEW_CHARS: usize = 100;

/// Returns an answer without stored text: JSON alone.
pub(super) fn plain(answer: Value) -> Reply {
    Reply::new(answer.to_string(), answer)
}

/// Returns an answer of plain fields and lists of stored texts. Its text is one JSON object in a frame, with a line for
/// each item. Items beyond the room are left out, and `left_out` counts them.
pub(super) fn framed(
    call: &Call<'_>,
    fields: Value,
    mut lists: Vec<(&'static str, Vec<Value>)>,
) -> Reply {
    let mut room_bytes = call.room_bytes();
    let mut left_out = 0;
    for (_, items) in &mut lists {
        let before = items.len();
        items.iter_mut().for_each(clean_value);
        items.retain(|item| {
            let fits = room_bytes.checked_sub(item.to_string().len());
            room_bytes = fits.unwrap_or(0);
            fits.is_some()
        });
        left_out += before - items.len();
    }
    let mut structured = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    if left_out > 0 {
        structured.insert("left_out".to_owned(), left_out.into());
    }
    let plain = structured.iter();
    let mut parts: Vec<String> = plain
        .map(|(name, value)| format!("{}:{value}", json!(name)))
        .collect();
    for (name, items) in lists {
        let lines: Vec<String> = items.iter().map(Value::to_string).collect();
        parts.push(format!("{}:[\n{}]", json!(name), lines.join(",\n")));
        structured.insert(name.to_owned(), items.into());
    }
    let mut frame = Frame::new();
    // A line break in a stored text is escaped in JSON, so no text can pose as an item.
    let document = format!("{{{}}}", parts.join(",\n"));
    frame.item("", &document, "", usize::MAX);
    Reply::new(frame.finish(), structured.into())
}

/// Returns the answer of a search that found nothing: `said`, and the nearest memory below the floor.
pub(super) fn nothing(said: &str, nearest: Option<&Nearest>, fields: Value) -> Reply {
    let text = match nearest {
        // These tools have no floor to be lowered.
        Some(nearest) => format!(
            "{said}\nnothing fits; nearest: {} ({}); ask with other words",
            nearest.id,
            fit(nearest.fit)
        ),
        None => said.to_owned(),
    };
    Reply::new(text, fields)
}

/// Returns the texts of results that fit into an answer together; `None` for a withheld text.
pub(super) fn contents(call: &Call<'_>, query: &str, hits: &[RecallHit]) -> Vec<Option<String>> {
    let shown: Vec<Option<String>> = hits
        .iter()
        .enumerate()
        .map(|(place, hit)| Some(hit.shown(shown_bytes(place))?.into_owned()))
        .collect();
    let beside = ITEM_BYTES * hits.len();
    // Quotes and line breaks take two bytes in JSON.
    let room_bytes = call.room_bytes().saturating_sub(beside) / 5 * 4;
    let lengths = shown.iter().flatten().map(|text| framed_len(text));
    let cap_bytes = fair_cap(lengths, room_bytes);
    shown
        .into_iter()
        .map(|text| {
            let text = text?;
            let places = word_places(query, &text);
            Some(excerpt(&text, &places, cap_bytes).into_owned())
        })
        .collect()
}

/// Returns the start of a text.
pub(super) fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => cut(text, end).into_owned(),
    }
}
