//! The tool `icm_memoir_refine`: changes the definition, labels or sources of a concept.

use super::{
    ADDS, ALLOW_SECRET, CONCEPT, Call, LABELS, MEMOIR, Reply, SOURCES, Tool, defined, definition,
};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_refine",
    title: "Refine a concept",
    description: "Give a concept another definition, or more labels or sources; earlier definitions stay in its history, revision and confidence grow. Call it when you know better. Not for new concepts[ ({icm_memoir_add_concept})].",
    hints: ADDS,
    search_hint: "knowledge graph, redefine, correct",
    leaves_work: true,
    params: &[
        MEMOIR,
        CONCEPT,
        definition(false),
        LABELS,
        SOURCES,
        ALLOW_SECRET,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = defined(&mut args);
    let receipt = call.service.concept_refine(call.caller, &request)?;
    Ok(super::receipt(call, &receipt))
}
