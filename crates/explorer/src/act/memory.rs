//! Actions on memories: store, update, forget, revive, pin, link.

use icm_api::error::Result;
use icm_api::{
    Action, FindingItem, FindingKind, Importance, LinkRequest, Memory, Receipt, StoreRequest,
    UpdateRequest,
};
use icm_guard::sanitize::{clean, clean_line};
use maud::{Markup, html};

use super::form::{Fields, button, form};
use super::{Done, only_now, redact};
use crate::Explorer;
use crate::answer::Page;
use crate::ask::{Ask, encoded};

/// The relations that a person can choose, each with its meaning.
const RELATIONS: [(&str, &str); 5] = [
    ("related", "has to do with"),
    ("supersedes", "replaces"),
    ("contradicts", "contradicts"),
    ("derived_from", "was made from"),
    ("similar_to", "says nearly the same as"),
];

/// Returns the link to the form for a new memory, where something can be changed.
pub(crate) fn store_link(explorer: &Explorer, ask: &Ask) -> Markup {
    html! {
        @if offers(explorer, ask) { a.button href="/store" { "Store a memory" } }
    }
}

/// Returns `true` if the page offers changes: not at a past moment, and not if the explorer only reads.
pub(crate) fn offers(explorer: &Explorer, ask: &Ask) -> bool {
    !explorer.read_only && ask.at.is_none()
}

/// Returns how to link two memories: by the form of a memory's page, or else by the command.
pub(crate) fn link_advice(explorer: &Explorer, ask: &Ask) -> Markup {
    html! {
        @if offers(explorer, ask) {
            "The page of a " a href=(ask.link("/memories", &[])) { "memory" } " links it to another one."
        } @else {
            "Link two memories with " code { "icm link FROM TO -r supersedes" } "."
        }
    }
}

/// Returns all that can be done with a memory.
pub(crate) fn for_memory(explorer: &Explorer, ask: &Ask, memory: &Memory) -> Result<Markup> {
    if !offers(explorer, ask) {
        return Ok(html! {});
    }
    let id = [("id", memory.id.as_str())];
    if memory.undone || memory.forgotten || memory.expired {
        return Ok(html! {
            section.actions aria-labelledby="actions" {
                h2 #actions { "Change" }
                div.buttons {
                    // An undo of the undo alone brings it back.
                    @if !memory.undone { (revive_form(explorer, memory)?) }
                    (redact_link(explorer, memory))
                }
            }
        });
    }
    let is_pinned = memory.pinned_until.is_some();
    let pin = match is_pinned {
        true => button(explorer, "unpin", &id, "Unpin")?,
        false => button(explorer, "pin", &id, "Pin")?,
    };
    Ok(html! {
        section.actions aria-labelledby="actions" {
            h2 #actions { "Change" }
            div.buttons {
                (pin)
                (button(explorer, "forget", &id, "Forget")?)
                (redact_link(explorer, memory))
            }
            details { summary { "Update" } (update_form(explorer, memory)?) }
            details { summary { "Link to another memory" } (link_form(explorer, memory)?) }
        }
    })
}

/// Returns the link to the preview of a redaction, if a text is left to redact.
fn redact_link(explorer: &Explorer, memory: &Memory) -> Markup {
    // A later event of a redacted memory can hold a text. Only a plan tells that, and it reads the whole log. A content
    // that is shown can be taken out.
    let is_text_left = memory.withheld.is_empty()
        || memory.content.is_some()
        || redact::reaches(explorer, &memory.id);
    html! {
        @if is_text_left {
            a.button.danger href={ "/redact?target=" (encoded(&memory.id)) } { "Redact…" }
        } @else {
            span.quiet { "All its text was taken out already." }
        }
    }
}

fn revive_form(explorer: &Explorer, memory: &Memory) -> Result<Markup> {
    form(
        explorer,
        "revive",
        &html! {
            input type="hidden" name="id" value=(memory.id);
            @if memory.expired {
                label { "New condition " input name="expires" placeholder="time 30d"; }
            }
            button type="submit" { "Revive" }
        },
    )
}

fn update_form(explorer: &Explorer, memory: &Memory) -> Result<Markup> {
    form(
        explorer,
        "update",
        &html! {
            input type="hidden" name="id" value=(memory.id);
            input type="hidden" name="seen" value=(memory.updated_at);
            (text_fields(Some(memory)))
            button type="submit" { "Update" }
        },
    )
}

/// The fields of a memory as a form shows them, without characters that cannot be seen or that turn the direction of
/// others. A field that comes back as it was shown keeps its value in the store.
struct Shown {
    content: String,
    topic: String,
    keywords: String,
    expires: String,
    /// `true` if the text has characters that are not shown.
    hides: bool,
}

impl Shown {
    fn of(memory: &Memory) -> Shown {
        let text = memory.content.as_deref().unwrap_or_default();
        let content = clean(text).into_owned();
        Shown {
            hides: content != text.replace("\r\n", "\n"),
            content,
            topic: clean_line(&memory.topic).into_owned(),
            keywords: clean_line(&memory.keywords.join(", ")).into_owned(),
            expires: clean_line(memory.expires.as_deref().unwrap_or_default()).into_owned(),
        }
    }
}

/// Returns the fields of a memory, filled in with the values that it has.
fn text_fields(memory: Option<&Memory>) -> Markup {
    let importance = memory.map_or(Importance::Medium, |memory| memory.importance);
    let shown = memory.map(Shown::of);
    let shown = shown.as_ref();
    html! {
        label { "Text" textarea name="content" rows="6" dir="auto" required maxlength="65536" {
            "\n" (shown.map_or("", |shown| &shown.content))
        } }
        @if shown.is_some_and(|shown| shown.hides) {
            p.hint { "This text has characters that cannot be seen. If you change it, it is stored without them." }
        }
        label { "Topic" input name="topic" required maxlength="128" value=[shown.map(|shown| &shown.topic)]; }
        label { "Importance"
            select name="importance" {
                @for each in Importance::ALL {
                    option value=(each.name()) selected[each == importance] { (each.name()) }
                }
            }
        }
        label { "Tags, with commas" input name="keywords" value=[shown.map(|shown| &shown.keywords)]; }
        label { "Expires" input name="expires" placeholder="time 30d, usage 3, file-exists PATH" value=[shown.map(|shown| &shown.expires)]; }
    }
}

fn link_form(explorer: &Explorer, memory: &Memory) -> Result<Markup> {
    form(
        explorer,
        "link",
        &html! {
            input type="hidden" name="id" value=(memory.id);
            label { "This memory"
                select name="relation" {
                    @for (relation, meaning) in RELATIONS { option value=(relation) { (meaning) } }
                }
            }
            label { "the memory with the id" input name="to" required maxlength="64"; }
            label { "Reason" input name="reason" maxlength="1024"; }
            button type="submit" { "Link" }
        },
    )
}

/// Returns the buttons that settle one item of a finding.
pub(crate) fn for_finding(
    explorer: &Explorer,
    ask: &Ask,
    kind: FindingKind,
    item: &FindingItem,
) -> Result<Markup> {
    if !offers(explorer, ask) {
        return Ok(html! {});
    }
    let replaces = |text: &str| match item.ids.as_slice() {
        [older, newer] => button(
            explorer,
            "link",
            &[("id", newer), ("to", older), ("relation", "supersedes")],
            text,
        ),
        _ => Ok(html! {}),
    };
    let forget = |id: Option<&String>, text: &str| match id {
        Some(id) => button(explorer, "forget", &[("id", id)], text),
        None => Ok(html! {}),
    };
    Ok(html! {
        div.buttons {
            @match kind {
                FindingKind::NearDuplicates => {
                    (forget(item.ids.first(), "Forget the older one")?)
                    (replaces("The newer one replaces it")?)
                }
                FindingKind::Contradictions => { (replaces("The newer one holds")?) }
                FindingKind::Stale | FindingKind::NeverRecalled => { (forget(item.ids.first(), "Forget")?) }
                FindingKind::Crowded => {
                    a.button href=(ask.link("/memories", &[("topic", &item.topic)])) { "Look at the topic" }
                }
                FindingKind::ExpireSoon => {
                    @for id in &item.ids { (button(explorer, "update", &[("id", id), ("keeps", "yes")], "Keep without end")?) }
                }
            }
        }
    })
}

/// The page with the form for a new memory.
pub(crate) fn store_page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    if ask.at.is_some() {
        return Ok(Page::new("Store a memory", only_now(ask)));
    }
    let form = form(
        explorer,
        "store",
        &html! {
            (text_fields(None))
            button type="submit" { "Store" }
        },
    )?;
    Ok(Page::new(
        "Store a memory",
        html! {
            p { "The memory is yours: actor " code { (explorer.caller.actor) } ". It can be undone." }
            (form)
        },
    ))
}

pub(super) fn store(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let request = StoreRequest {
        topic: fields.labelled("topic", "Topic")?.to_owned(),
        content: fields.text("content", "Text")?,
        importance: importance(fields),
        keywords: fields.list("keywords"),
        expires: fields.get("expires").map(str::to_owned),
        request_id: fields.request(),
        ..StoreRequest::default()
    };
    Ok(done(explorer.service.store(&explorer.caller, request)?))
}

pub(super) fn update(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let id = fields.needed("id")?.to_owned();
    // The button *Keep* changes the condition alone.
    if fields.get("keeps").is_some() {
        let request = UpdateRequest {
            id,
            expires: Some(String::new()),
            request_id: fields.request(),
            ..UpdateRequest::default()
        };
        return Ok(done(explorer.service.update(&explorer.caller, request)?));
    }
    let before = explorer.service.get(&id, None)?;
    let shown = Shown::of(&before);
    let content = fields.text("content", "Text")?;
    let is_changed = |name: &str, shown: &str| fields.get(name).unwrap_or_default() != shown;
    let changed = |name: &str, shown: &str| {
        is_changed(name, shown).then(|| fields.get(name).unwrap_or_default().to_owned())
    };
    let request = UpdateRequest {
        content: (content != shown.content).then_some(content),
        importance: importance(fields).filter(|given| *given != before.importance),
        keywords: is_changed("keywords", &shown.keywords).then(|| fields.list("keywords")),
        topic: changed("topic", &shown.topic),
        expires: changed("expires", &shown.expires),
        // The fields of the form are those of the page: they must not take back what was written since.
        if_updated_at: Some(fields.get("seen").unwrap_or_default().to_owned()),
        request_id: fields.request(),
        id,
        ..UpdateRequest::default()
    };
    Ok(done(explorer.service.update(&explorer.caller, request)?))
}

fn importance(fields: &Fields) -> Option<Importance> {
    fields.get("importance").and_then(Importance::named)
}

pub(super) fn forget(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let ids = [fields.needed("id")?.to_owned()];
    Ok(first(explorer.service.forget(&explorer.caller, &ids)?))
}

pub(super) fn revive(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let id = fields.needed("id")?;
    let (caller, ids) = (&explorer.caller, [id.to_owned()]);
    let receipts = explorer
        .service
        .revive_with(caller, &ids, fields.get("expires"))?;
    Ok(first(receipts))
}

pub(super) fn pin(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let ids = [fields.needed("id")?.to_owned()];
    Ok(first(explorer.service.pin(&explorer.caller, &ids, None)?))
}

pub(super) fn unpin(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let ids = [fields.needed("id")?.to_owned()];
    Ok(first(explorer.service.unpin(&explorer.caller, &ids)?))
}

pub(super) fn link(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let linked = explorer
        .service
        .link(&explorer.caller, &link_request(fields)?)?;
    Ok(done(linked.receipt))
}

pub(super) fn unlink(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let unlinked = explorer
        .service
        .unlink(&explorer.caller, &link_request(fields)?)?;
    Ok(done(unlinked.receipt))
}

fn link_request(fields: &Fields) -> Result<LinkRequest> {
    Ok(LinkRequest {
        from: fields.needed("id")?.trim().to_owned(),
        to: fields.needed("to")?.trim().to_owned(),
        relation: fields.needed("relation")?.to_owned(),
        reason: fields.get("reason").map(str::to_owned),
        allow_secret: false,
    })
}

fn first(receipts: Vec<Receipt>) -> Done {
    let receipt = receipts.into_iter().next();
    receipt.map_or_else(|| Done::Nothing("/memories".to_owned()), done)
}

pub(super) fn done(receipt: Receipt) -> Done {
    match receipt.action {
        Action::Unchanged => Done::Nothing(format!("/memories/{}", encoded(&receipt.id))),
        _ => Done::Event(receipt.event),
    }
}
