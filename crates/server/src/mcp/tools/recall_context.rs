//! The tool `icm_memory_recall_context`: returns memories as text for a prompt.

use serde_json::json;

use super::{
    AS_OF, Call, FLOOR, Hints, Kind, Param, Reply, SCOPE_SEEN, SINCE, TOPIC, Tool, UNTIL,
    clean_value,
};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::found_by::nothing_fits;
use icm_api::tokens;
use icm_api::{ContextRequest, RecallRequest};
use icm_guard::frame::without_tag;
use icm_guard::sanitize::clean_line;

const BUDGET_DEFAULT: u64 = 1_000;
/// Largest budget, in tokens: clients take a reply of this size whole.
const BUDGET_MAX: u64 = 15_000;

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_recall_context",
    title: "Recall for a prompt",
    description: "Return what memories say on a subject as text for a prompt, within a budget of tokens; what is superseded is left out. Call it to brief a new session or another agent. Not for finding ids[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "brief, context, budget",
    leaves_work: true,
    params: &[
        Param {
            name: "query",
            kind: Kind::Text,
            required: true,
            about: "a few plain words; no query syntax",
        },
        Param {
            name: "budget",
            kind: Kind::Limit {
                min: 50,
                max: BUDGET_MAX,
            },
            required: false,
            about: "tokens, default 1000",
        },
        TOPIC,
        SINCE,
        UNTIL,
        SCOPE_SEEN,
        AS_OF,
        FLOOR,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let asked = args.whole("budget").unwrap_or(BUDGET_DEFAULT) as usize;
    let budget = asked.min(tokens::within(call.room_bytes()));
    let request = ContextRequest {
        recall: RecallRequest {
            query: args.required_text("query"),
            topic: args.text("topic"),
            since: args.text("since"),
            until: args.text("until"),
            scope: call.caller.scope(args.text("scope"))?,
            at: args.text("as_of"),
            floor: args.share("floor"),
            record: !call.options.read_only,
            ..RecallRequest::default()
        },
        budget,
        markdown: false,
    };
    let context = call.service.recall_context(call.caller, &request)?;
    let shows_none = context.results.is_empty() && context.corrections.is_empty();
    let mut text = match (shows_none, &context.nearest) {
        (true, Some(nearest)) => nothing_fits(&nearest.id, nearest.fit),
        (true, None) => "no memory matches; try other words, or scope all".to_owned(),
        (false, _) => format!("{}\ndays in {}", context.text, call.service.zone_name()),
    };
    if budget < asked {
        text.push_str(&format!(
            "\nan answer has room for {budget} tokens, not {asked}"
        ));
    }
    if context.left_out > 0 {
        text.push_str(&format!("\n{} more did not fit", context.left_out));
    }
    if let Some(note) = &context.note {
        text.push_str(&format!("\nnote: {}", without_tag(&clean_line(note))));
    }
    let ids: Vec<&str> = context.results.iter().map(|hit| &*hit.memory.id).collect();
    let mut structured = json!({
        "basis": context.basis,
        "scope": context.scope,
        "budget": context.budget,
        "tokens": context.tokens,
        "left_out": context.left_out,
        "ids": ids,
    });
    if !context.corrections.is_empty() {
        // The text has them whole enough.
        let ids = context.corrections.iter().map(|hit| &hit.feedback.id);
        structured["corrections"] = json!(ids.collect::<Vec<_>>());
    }
    if let Some(nearest) = &context.nearest {
        structured["nearest"] = json!(nearest);
    }
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}
