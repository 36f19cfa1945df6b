//! The tool `icm_memoir_inspect`: shows a concept with its links and the concepts around it.

use std::collections::HashMap;

use serde_json::json;

use super::{
    AFTER, AS_OF, CONCEPT, Call, Kind, MEMOIR, Param, READS, Reply, Tool, concepts, dated, line,
    more, structured,
};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{ConceptLink, DefinitionStatus, InspectRequest, Inspected};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Most concepts around a concept that are asked for.
const AROUND: usize = 200;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_inspect",
    title: "Inspect a concept",
    description: "Show a concept, its earlier definitions, its links and what is around it. Call it before you build on a concept. Not for finding one[ ({icm_memoir_search})].",
    hints: READS,
    search_hint: "knowledge graph, neighbours, definition",
    leaves_work: false,
    params: &[
        MEMOIR,
        CONCEPT,
        Param {
            name: "depth",
            kind: Kind::Limit { min: 0, max: 10 },
            required: false,
            about: "steps along links, default 1",
        },
        Param {
            name: "relation",
            kind: Kind::Text,
            required: false,
            about: "only along links of this relation",
        },
        Param {
            name: "limit",
            kind: Kind::Limit { min: 1, max: 2_000 },
            required: false,
            about: "of a page, default 200",
        },
        AFTER,
        AS_OF,
    ],
    output: None,
    run,
};

/// Bytes that are shown of earlier definitions, and of the ids of memories.
const EARLIER_MAX_BYTES: usize = 1_000;

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let mut request = InspectRequest {
        memoir: args.required_text("memoir"),
        name: args.required_text("name"),
        depth: args.whole("depth").map(|depth| depth as usize),
        relation: args.text("relation"),
        limit: Some(args.whole("limit").map_or(AROUND, |limit| limit as usize)),
        after: args.text("after"),
        at: args.text("as_of"),
    };
    let as_of = request.at.is_some();
    let mut found = call.service.inspect(&request)?;
    let room = call.room_bytes();
    let fit = fitting(&found, room / 4);
    if fit < found.around.len() {
        // A page with as many concepts as fit, and only their links.
        request.limit = Some(fit);
        request.at = Some(format!("@{}", found.basis.position));
        found = call.service.inspect(&request)?;
    }
    let mut frame = Frame::new();
    concepts(&mut frame, &[&found.concept], false, room / 2);
    if found.offset == 0 {
        let earlier = found.definitions.iter().rev();
        let earlier = earlier.filter(|before| before.status != DefinitionStatus::Holds);
        let begun = frame.len_bytes();
        for (told, before) in earlier.clone().enumerate() {
            if frame.len_bytes() - begun > room / 8 {
                let left = earlier.count() - told;
                frame.item(&format!("before: {left} more"), "", "", 0);
                break;
            }
            let text = before.definition.as_deref().unwrap_or("(withheld)");
            let why = before.status.why_not_shown();
            let why = why.map_or_else(String::new, |why| format!(" ({why})"));
            frame.item(
                &format!("before, revision {}{why}: ", before.revision),
                text,
                "",
                EARLIER_MAX_BYTES,
            );
        }
        if let Some(sources) = found.sources.shown() {
            frame.item("from memories: ", &sources, "", EARLIER_MAX_BYTES);
        }
    }
    let links_total = found.links.len();
    let mut bytes = 0;
    for (at, link) in found.links.iter().enumerate() {
        let said = said(link);
        bytes += said.len();
        if bytes > room * 3 / 8 {
            found.links.truncate(at);
            break;
        }
        frame.item("link: ", &said, "", 1_000);
    }
    let list: Vec<_> = found.around.iter().map(|it| &it.concept).collect();
    concepts(&mut frame, &list, false, room / 4);
    let mut text = frame.finish();
    let mut value = structured(&found);
    if found.links.len() < links_total {
        text.push_str(&format!(
            "\n{} of {links_total} links shown: inspect one of the concepts for its own, or give a relation",
            found.links.len()
        ));
        value["links_total"] = json!(links_total);
    }
    more(&mut text, found.next.as_deref());
    Ok(Reply::new(dated(text, &found.basis, as_of), value))
}

/// Returns a link as a line.
fn said(link: &ConceptLink) -> String {
    let (from, to) = (clean_line(&link.from), clean_line(&link.to));
    let reason = link.reason.as_deref().map(clean_line);
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    format!("{from} {} {to}{reason}", link.relation)
}

/// Returns the number of concepts around a concept that fit, with their links, into `room_bytes`; at least one.
fn fitting(found: &Inspected, room_bytes: usize) -> usize {
    let mut links: HashMap<&str, usize> = HashMap::new();
    for link in &found.links {
        let bytes = "link: \n".len() + said(link).len();
        for end in [&link.from, &link.to] {
            *links.entry(end).or_default() += bytes;
        }
    }
    let mut bytes = 0;
    for (at, it) in found.around.iter().enumerate() {
        let (head, definition, tail) = line(&it.concept, false, "");
        bytes += head.len() + definition.len() + tail.len();
        bytes += links.get(it.concept.name.as_str()).copied().unwrap_or(0);
        if bytes > room_bytes && at > 0 {
            return at;
        }
    }
    found.around.len()
}
