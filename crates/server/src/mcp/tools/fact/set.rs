//! The tool `icm_fact_set`: sets the value of a fact.

use icm_api::error::ServiceError;
use icm_api::{FactRequest, Source, Trust};
use serde_json::json;

use super::{
    ALLOW_SECRET, Call, Hints, Reply, SCOPE_TO_STORE, Tool, clean_value, framed, short, text,
};
use crate::mcp::schema::Args;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_fact_set",
    title: "Set a fact",
    description: "Set the one current value of a subject's attribute, e.g. deploy, version, 2.1. Call it when a value that changes over time becomes known or changes; earlier values stay as history. Not for knowledge in sentences[: use {icm_memory_store}].",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    search_hint: "value, property, current, who, which version",
    leaves_work: true,
    params: &[
        text("subject", true, "the thing, e.g. deploy or payments/api"),
        text("attribute", true, "the property, e.g. version or on call"),
        text("value", true, "its value, at most 64 KiB"),
        text(
            "valid_from",
            false,
            "first moment at which it holds, past or future; default now",
        ),
        SCOPE_TO_STORE,
        ALLOW_SECRET,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = FactRequest {
        subject: args.required_text("subject"),
        attribute: args.required_text("attribute"),
        value: args.required_text("value"),
        from: args.text("valid_from"),
        scope: call.caller.scope(args.text("scope"))?,
        source: Source::default(),
        trust: Trust::Agent,
        allow_secret: args.flag("allow_secret"),
    };
    let set = call.service.set_fact(call.caller, request)?;
    let receipt = &set.receipt;
    let mut text = match call.options.compact {
        true => format!("ok:{}", receipt.id),
        false => format!(
            "{} {} (event {}, @{})",
            receipt.action.word(),
            receipt.id,
            short(&receipt.event),
            receipt.position
        ),
    };
    match &set.current {
        Some(current) if *current == set.set => {}
        Some(current) => {
            let from = &set.set.valid_from;
            let current = framed(std::slice::from_ref(current), call.room_bytes() / 2);
            text.push_str(&format!("\nvalid from {from}; current is still\n{current}"));
        }
        None => {
            let from = &set.set.valid_from;
            text.push_str(&format!("\nvalid from {from}; no value until then"));
        }
    }
    for warning in &receipt.warnings {
        text.push_str(&format!("\nwarning: {warning}"));
    }
    let mut structured = json!(set);
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}
