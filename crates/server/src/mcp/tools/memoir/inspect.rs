//! `icm_memoir_inspect`

use super::{
    AS_OF, CONCEPT, Call, Kind, MEMOIR, Param, READS, Reply, Tool, concepts, cut, dated, more,
    structured,
};
use crate::api::{DefinitionStatus, InspectRequest};
use crate::error::ServiceError;
use crate::mcp::frame::Frame;
use crate::mcp::schema::Args;
use crate::sanitize::clean_line;

/// Concepts around one that are looked at.
const AROUND: usize = 200;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_inspect",
    title: "Inspect a concept",
    description: "Show a concept, its earlier definitions, its links and what is around it. Call it before you build on a concept. Not for finding one (icm_memoir_search).",
    hints: READS,
    leaves_work: false,
    params: &[
        MEMOIR,
        CONCEPT,
        Param {
            name: "depth",
            kind: Kind::Whole { min: 0, max: 10 },
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
            kind: Kind::Whole { min: 1, max: 2_000 },
            required: false,
            about: "concepts around it, default 200",
        },
        AS_OF,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = InspectRequest {
        memoir: args.required_text("memoir"),
        name: args.required_text("name"),
        depth: args.whole("depth").map(|depth| depth as usize),
        relation: args.text("relation"),
        limit: Some(args.whole("limit").map_or(AROUND, |limit| limit as usize)),
        at: args.text("as_of"),
    };
    let found = call.service.inspect(&request)?;
    let mut frame = Frame::new();
    concepts(&mut frame, &[&found.concept], false);
    for before in found.definitions.iter().rev() {
        if before.status == DefinitionStatus::Holds {
            continue;
        }
        let text = before.definition.as_deref().unwrap_or("(withheld)");
        let why = before.status.why_not_shown();
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        frame.item(
            &format!("before, revision {}{why}: ", before.revision),
            text,
            "",
            1_000,
        );
    }
    if let Some(sources) = found.sources.shown() {
        frame.item("from memories: ", &sources, "", 10_000);
    }
    for link in &found.links {
        let (from, to) = (clean_line(&link.from), clean_line(&link.to));
        let reason = link.reason.as_deref().map(clean_line);
        let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let said = format!("{from} {} {to}{reason}", link.relation);
        frame.item("link: ", &said, "", 1_000);
    }
    let list: Vec<_> = found.around.iter().map(|it| &it.concept).collect();
    let shown = concepts(&mut frame, &list, false);
    let mut text = frame.finish();
    more(&mut text, shown, list.len());
    if found.truncated {
        text.push_str(
            "\nthere is more around it: give a relation, a larger limit or a smaller depth",
        );
    }
    let mut value = structured(&found);
    cut(&mut value, "around", shown, list.len());
    Ok(Reply {
        text: dated(text, &found.basis, request.at.is_some()),
        structured: value,
    })
}
