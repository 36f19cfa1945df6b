//! The tool `icm_memoir_search`: searches the concepts of one memoir.

use super::{AFTER, AS_OF, Call, FLOOR, LABEL, LIMIT, MEMOIR, QUERY, READS, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_search",
    title: "Search a memoir",
    description: "Find concepts of one memoir by words, meaning or label. Call it when the memoir is known. Not for memories[ ({icm_memory_recall})].",
    hints: READS,
    search_hint: "knowledge graph, find concept",
    leaves_work: false,
    params: &[MEMOIR, QUERY, LABEL, LIMIT, FLOOR, AFTER, AS_OF],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let memoir = Some(args.required_text("memoir"));
    super::search(call, &mut args, memoir)
}
