//! `icm_memoir_refine`

use super::{ADDS, ALLOW_SECRET, CONCEPT, Call, Kind, MEMOIR, Param, Reply, Tool, labels};
use crate::api::ConceptRequest;
use crate::error::ServiceError;
use crate::mcp::schema::Args;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_refine",
    title: "Refine a concept",
    description: "Give a concept another definition; earlier ones stay in its history, revision and confidence grow. Call it when you know better. Not for new concepts (icm_memoir_add_concept).",
    hints: ADDS,
    leaves_work: true,
    params: &[
        MEMOIR,
        CONCEPT,
        Param {
            name: "definition",
            kind: Kind::Text,
            required: true,
            about: "what it means, in full",
        },
        Param {
            name: "labels",
            kind: Kind::Text,
            required: false,
            about: "ns:value,ns:value",
        },
        Param {
            name: "sources",
            kind: Kind::Texts,
            required: false,
            about: "ids of memories it is taken from",
        },
        ALLOW_SECRET,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = ConceptRequest {
        memoir: args.required_text("memoir"),
        name: args.required_text("name"),
        definition: args.required_text("definition"),
        labels: labels(args.text("labels")),
        confidence: None,
        sources: args.texts("sources").unwrap_or_default(),
        allow_secret: args.flag("allow_secret"),
    };
    let receipt = call.service.concept_refine(call.caller, &request)?;
    Ok(super::receipt(call, &receipt))
}
