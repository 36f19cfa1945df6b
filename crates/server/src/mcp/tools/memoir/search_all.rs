//! The tool `icm_memoir_search_all`: searches the concepts of all memoirs.

use super::{AFTER, AS_OF, Call, FLOOR, LABEL, LIMIT, QUERY, READS, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_search_all",
    title: "Search all memoirs",
    description: "Find concepts of all memoirs by words, meaning or label. Call it when you do not know the memoir. Not for memories[ ({icm_memory_recall})].",
    hints: READS,
    search_hint: "knowledge graphs, find concept",
    leaves_work: false,
    params: &[QUERY, LABEL, LIMIT, FLOOR, AFTER, AS_OF],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    super::search(call, &mut args, None)
}
