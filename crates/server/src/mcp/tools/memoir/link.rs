//! The tool `icm_memoir_link`: links two concepts, or removes a link.

use super::{ADDS, Call, Hints, Kind, MEMOIR, Param, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::ConceptLinkRequest;
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_link",
    title: "Link two concepts",
    description: "Link a concept to another one of its memoir, or take the link away. Call it when you know how two concepts relate. Not for memories.",
    hints: Hints {
        idempotent: true,
        ..ADDS
    },
    search_hint: "knowledge graph, edge, relation",
    leaves_work: true,
    params: &[
        MEMOIR,
        Param {
            name: "from",
            kind: Kind::Text,
            required: true,
            about: "the concept that relates",
        },
        Param {
            name: "to",
            kind: Kind::Text,
            required: true,
            about: "the concept it relates to",
        },
        Param {
            name: "relation",
            kind: Kind::OneOf(&[
                "part_of",
                "depends_on",
                "related_to",
                "contradicts",
                "refines",
                "alternative_to",
                "caused_by",
                "instance_of",
                "superseded_by",
            ]),
            required: true,
            about: "how from relates to `to`",
        },
        Param {
            name: "remove",
            kind: Kind::Flag,
            required: false,
            about: "true: unlink",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = ConceptLinkRequest {
        memoir: args.required_text("memoir"),
        from: args.required_text("from"),
        to: args.required_text("to"),
        relation: args.required_text("relation"),
        reason: None,
        allow_secret: false,
    };
    let receipt = match args.flag("remove") {
        true => call.service.concept_unlink(call.caller, &request)?,
        false => call.service.concept_link(call.caller, &request)?,
    };
    Ok(super::receipt(call, &receipt))
}
