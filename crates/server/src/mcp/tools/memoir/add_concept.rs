//! The tool `icm_memoir_add_concept`: adds a concept to a memoir.

use super::{
    ADDS, ALLOW_SECRET, CONCEPT, Call, LABELS, MEMOIR, Reply, SOURCES, Tool, defined, definition,
};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_add_concept",
    title: "Add a concept",
    description: "Add a concept with its definition to a memoir. Call it when a part of the subject has a name worth keeping. Not for changing one[ ({icm_memoir_refine})].",
    hints: ADDS,
    search_hint: "knowledge graph, define, node",
    leaves_work: true,
    params: &[
        MEMOIR,
        CONCEPT,
        definition(true),
        LABELS,
        SOURCES,
        ALLOW_SECRET,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = defined(&mut args);
    let receipt = call.service.concept_add(call.caller, &request)?;
    Ok(super::receipt(call, &receipt))
}
