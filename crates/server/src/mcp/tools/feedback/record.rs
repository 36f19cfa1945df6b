//! The tool `icm_feedback_record`: records a correction.

use super::super::{ALLOW_SECRET, SCOPE_TO_STORE};
use super::{Call, Hints, Kind, Param, Reply, Tool, short, structured};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{FeedbackRequest, Trust};

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_feedback_record",
    title: "Record a correction",
    description: "Record what was predicted or done and what would have been right. Call it when the user corrects you or a prediction turns out wrong; later recalls about a like context show it. Not for facts[: use {icm_memory_store}].",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: false,
    },
    search_hint: "mistake, wrong, learn, correct",
    leaves_work: true,
    params: &[
        text(
            "context",
            true,
            "the situation, in words that a later question would use",
        ),
        text("predicted", true, "what was predicted or done"),
        text("corrected", true, "what would have been right"),
        text("reason", false, "why"),
        text("topic", false, "topic, e.g. triage"),
        text(
            "memory",
            false,
            "id of the memory that led to the prediction; it is called wrong",
        ),
        SCOPE_TO_STORE,
        ALLOW_SECRET,
    ],
    output: None,
    run,
};

const fn text(name: &'static str, required: bool, about: &'static str) -> Param {
    Param {
        name,
        kind: Kind::Text,
        required,
        about,
    }
}

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = FeedbackRequest {
        predicted: args.required_text("predicted"),
        correct: args.required_text("corrected"),
        context: args.required_text("context"),
        reason: args.text("reason"),
        topic: args.text("topic"),
        memory: args.text("memory"),
        scope: call.caller.scope(args.text("scope"))?,
        trust: Some(Trust::Agent),
        allow_secret: args.flag("allow_secret"),
        ..FeedbackRequest::default()
    };
    let receipt = call.service.feedback_record(call.caller, &request)?;
    let mut text = match call.options.compact {
        true => format!("ok:{}", receipt.id),
        false => format!(
            "recorded {} (event {}, @{})",
            receipt.id,
            short(&receipt.event),
            receipt.position
        ),
    };
    let told = receipt.marks.and_then(|marks| marks.told());
    if let (Some(memory), Some(told), false) = (&receipt.memory, told, call.options.compact) {
        text.push_str(&format!("\n{memory} was {told}"));
    }
    for warning in &receipt.warnings {
        text.push_str(&format!("\nwarning: {warning}"));
    }
    Ok(Reply::new(text, structured(&receipt)))
}
