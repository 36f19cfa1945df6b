//! The tool `icm_memoir_forget`: forgets or revives a concept or a memoir.

use super::{Call, Hints, Kind, MEMOIR, Param, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_forget",
    title: "Forget a concept or memoir",
    description: "Hide a concept with its links, or a whole memoir, or bring it back. Call it when one is wrong or no longer matters. Not for changed definitions[ ({icm_memoir_refine})].",
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: true,
    },
    search_hint: "knowledge graph, delete",
    leaves_work: true,
    params: &[
        MEMOIR,
        Param {
            name: "name",
            kind: Kind::Text,
            required: false,
            about: "the concept's name; without it the whole memoir",
        },
        Param {
            name: "revive",
            kind: Kind::Flag,
            required: false,
            about: "true: bring it back",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let memoir = args.required_text("memoir");
    let (service, caller) = (call.service, call.caller);
    let receipt = match (args.text("name"), args.flag("revive")) {
        (Some(name), false) => service.concept_forget(caller, &memoir, &name),
        (Some(name), true) => service.concept_revive(caller, &memoir, &name),
        (None, false) => service.memoir_forget(caller, &memoir),
        (None, true) => service.memoir_revive(caller, &memoir),
    }?;
    Ok(super::receipt(call, &receipt))
}
