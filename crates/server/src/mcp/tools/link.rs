//! The tool `icm_memory_link`: links two memories, or removes a link.

use serde_json::json;

use super::{Call, Hints, Kind, Param, Reply, Tool, short};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{Action, LinkRequest};

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_link",
    title: "Link two memories",
    description: "Say how a memory relates to another one, or take that back. Call it when one replaces, contradicts or follows from another. Not for concepts[: use {icm_memoir_link}].",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    search_hint: "supersedes, related, contradicts",
    leaves_work: true,
    params: &[
        Param {
            name: "id",
            kind: Kind::Text,
            required: true,
            about: "the memory that relates",
        },
        Param {
            name: "other",
            kind: Kind::Text,
            required: true,
            about: "id of the memory it relates to",
        },
        Param {
            name: "relation",
            kind: Kind::OneOf(&[
                "related",
                "supersedes",
                "contradicts",
                "derived_from",
                "similar_to",
            ]),
            required: true,
            about: "how the first relates to the other",
        },
        Param {
            name: "reason",
            kind: Kind::Text,
            required: false,
            about: "why",
        },
        Param {
            name: "remove",
            kind: Kind::Flag,
            required: false,
            about: "true: take the link away",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = LinkRequest {
        from: args.required_text("id"),
        to: args.required_text("other"),
        relation: args.required_text("relation"),
        reason: args.text("reason"),
        allow_secret: false,
    };
    let receipt = match args.flag("remove") {
        true => call.service.unlink(call.caller, &request)?,
        false => call.service.link(call.caller, &request)?,
    };
    let (relation, to) = (&receipt.relation, &receipt.to);
    let receipt = receipt.receipt;
    let done = match receipt.action {
        Action::Linked => "linked",
        Action::Unlinked => "unlinked",
        _ => "unchanged",
    };
    let text = match call.options.compact {
        true => format!("ok:{}", receipt.id),
        false => format!(
            "{done} {} {relation} {to} (event {}, @{})",
            receipt.id,
            short(&receipt.event),
            receipt.position
        ),
    };
    let structured = json!({
        "id": receipt.id,
        "relation": relation,
        "to": to,
        "event": receipt.event,
        "position": receipt.position,
        "action": done,
    });
    Ok(Reply::new(text, structured))
}
