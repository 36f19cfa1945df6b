//! The reply of a tool that changes memories: what happened, and what another memory says about the same thing.

use serde_json::{Value, json};

use super::{Call, Reply, offered_as, short};
use icm_api::{Action, Crowded, Receipt, Replaced, Similar};
use icm_guard::difference::around_difference;
use icm_guard::frame::Frame;
use icm_guard::sanitize::{clean, clean_line};

const CONSOLIDATE: &str = "icm_memory_consolidate";
const FORGET: &str = "icm_memory_forget";
const LINK: &str = "icm_memory_link";
const UPDATE: &str = "icm_memory_update";
/// Bytes of another memory that a receipt shows. Raised, receipts cost the model more.
const OTHER_MAX_BYTES: usize = 200;

/// Returns the reply of a tool that changes memories. The topic is shown if `names_topic`: a topic that the caller did
/// not give is stored text, which must stay within a frame.
pub(super) fn changed(call: &Call<'_>, receipt: Receipt, names_topic: bool) -> Reply {
    told(call, &receipt, names_topic, "")
}

/// Returns the reply of a store of a text.
pub(super) fn stored(call: &Call<'_>, receipt: &Receipt, content: &str) -> Reply {
    told(call, receipt, true, content)
}

fn told(call: &Call<'_>, receipt: &Receipt, names_topic: bool, stored: &str) -> Reply {
    let Receipt {
        id,
        event,
        position,
        action,
        topic,
        expires,
        confirmed,
        warnings,
        crowded,
        ..
    } = receipt;
    let done = action.word();
    let mut text = if call.options.compact {
        format!("ok:{id}")
    } else {
        // The topic of a redacted memory is withheld.
        let of = match names_topic && !topic.is_empty() {
            true => format!(" in topic \"{}\"", clean_line(topic)),
            false => String::new(),
        };
        format!("{done} {id}{of} (event {}, @{position})", short(event))
    };
    let mut structured = json!({
        "id": id,
        "event": event,
        "position": position,
        "action": done,
        "topic": clean(topic),
    });
    if let Some(condition) = expires {
        structured["expires"] = json!(clean(condition));
        if !call.options.compact {
            text.push_str(&format!("; it {}", call.expires(condition, None)));
        }
    }
    tell_others(call, receipt, stored, (&mut text, &mut structured));
    if *confirmed {
        structured["confirmed"] = json!(true);
        if !call.options.compact {
            text.push_str("\nsomebody else had stored the same: it counts as confirmed");
        }
    }
    if !warnings.is_empty() {
        structured["warnings"] = json!(warnings);
        text.push_str(&format!("\nwarning: {}", warnings.join("; ")));
    }
    if let Some(Crowded { memories, scope }) = crowded {
        structured["crowded"] = json!(memories);
        let topic = clean_line(topic);
        let of = match scope {
            Some(scope) => {
                structured["crowded_scope"] = json!(clean(scope));
                format!(" of scope \"{}\"", clean_line(scope))
            }
            None => String::new(),
        };
        text.push_str(&match call.options.compact {
            true => format!(" crowded:{memories}"),
            false => {
                let way = offered_as(call.options, CONSOLIDATE).unwrap_or("`icm consolidate`");
                format!(
                    "\nhint: topic \"{topic}\" has {memories} memories{of}: {way} puts one summary in \
                     their place"
                )
            }
        });
    }
    Reply::new(text, structured)
}

/// Tells of the memories that say nearly the same, or that the new one seems to replace. A memory that is both is told
/// of once in the text.
fn tell_others(
    call: &Call<'_>,
    receipt: &Receipt,
    stored: &str,
    (text, structured): (&mut String, &mut Value),
) {
    let excerpt =
        |other: &str| clean(&around_difference(other, stored, OTHER_MAX_BYTES)).into_owned();
    if let Some(similar) = &receipt.similar {
        let content = similar.content.as_deref().map(excerpt);
        let content = content.unwrap_or_else(|| "(withheld)".to_owned());
        structured["similar"] =
            json!({ "id": similar.id, "score": similar.score, "content": content });
        if receipt.similar_alone().is_some() {
            text.push_str(&match call.options.compact {
                true => format!(" similar:{}", similar.id),
                false => similar_text(call, similar, (stored, receipt.action), &content),
            });
        }
    }
    let mut replaced = Vec::new();
    for old in &receipt.seems_to_replace {
        let content = excerpt(&old.content);
        let near = receipt.similar.as_ref().filter(|near| near.id == old.id);
        let alike = near.map(|near| format!(", {} alike", near.likeness(stored)));
        text.push_str(&match call.options.compact {
            true => format!(" seems_to_replace:{}", old.id),
            false => {
                let why = format!("{}{}", old.reason, alike.unwrap_or_default());
                replaced_text(call, &receipt.id, (old, &why), &content)
            }
        });
        replaced.push(json!({ "id": old.id, "reason": old.reason, "content": content }));
    }
    if !replaced.is_empty() {
        structured["seems_to_replace"] = replaced.into();
    }
}

/// Returns the note that a memory says nearly the same, with a way to settle it and the text of that memory.
fn similar_text(
    call: &Call<'_>,
    similar: &Similar,
    (stored, action): (&str, Action),
    content: &str,
) -> String {
    let likeness = similar.likeness(stored);
    let has_forget_alone = || {
        let forget = offered_as(call.options, FORGET)?;
        let lacks_update = offered_as(call.options, UPDATE).is_none();
        lacks_update.then_some(forget)
    };
    let way = match (action, has_forget_alone()) {
        (Action::Updated, _) => {
            call.told("it was updated in place[; {icm_undo} brings the old text back]")
        }
        (_, Some(forget)) => {
            format!("both are kept and linked; if this one replaces it, {forget} the old one")
        }
        (_, None) => call.told(
            "both are kept and linked[; if this one replaces it, update it with {icm_memory_update} and forget \
             the new one]",
        ),
    };
    format!(
        "\nsimilar ({likeness}): {way}\n{}",
        framed(&similar.id, content)
    )
}

/// Returns the note that a memory seems to be out of date, with the call that settles it and the text of that memory.
fn replaced_text(
    call: &Call<'_>,
    new: &str,
    (old, why): (&Replaced, &str),
    content: &str,
) -> String {
    let id = &old.id;
    let link = offered_as(call.options, LINK);
    let way = match (link, offered_as(call.options, FORGET)) {
        (Some(_), _) => {
            let arguments = json!({ "id": new, "other": id, "relation": "supersedes" });
            format!(
                "if it does, call {LINK} {arguments}; if both hold, the same with \"relation\":\"related\""
            )
        }
        (None, Some(forget)) => {
            let arguments = json!({ "id": id });
            format!("if it does, call {forget} {arguments}; if both hold, nothing is to do")
        }
        (None, None) => {
            format!("if it does, `icm link {new} {id} -r supersedes` (for the user to run) says so")
        }
    };
    format!(
        "\nseems to replace {id} ({why}); {way}\n{}",
        framed(id, content)
    )
}

/// Returns the text of another memory in a frame, on one line.
fn framed(id: &str, content: &str) -> String {
    let mut frame = Frame::new();
    frame.item(&format!("{id} "), &clean_line(content), "", usize::MAX);
    frame.finish()
}
