//! The tool `icm_memory_decay`: lets memories fade up to today.

use super::{Call, Hints, Kind, Param, Reply, Tool, clean_value, count, short};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{DecayAction, DecayReceipt, DecayRequest, TickAhead};

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_decay",
    title: "Let memories fade",
    description: "Let memories fade up to today; the same rate again on one day changes nothing. Call it to set another rate for today. Not for forgetting[: {icm_memory_prune} does that]. Recalls do it once a day by themselves.",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: true,
    },
    search_hint: "fade, age, weight",
    leaves_work: true,
    params: &[Param {
        name: "rate",
        kind: Kind::Share,
        required: false,
        about: "what a medium memory loses a day, 0 to 1; default 0.05",
    }],
    output: None,
    run,
};

fn run(call: &Call<'_>, args: Args) -> Result<Reply, ServiceError> {
    let request = DecayRequest {
        rate: args.share("rate"),
        dry_run: false,
    };
    let receipt = call.service.decay(call.caller, &request)?;
    let DecayReceipt { day, rate, .. } = &receipt;
    let mut text = match receipt.action {
        DecayAction::Unchanged => format!("unchanged: memories fade up to {day} already"),
        DecayAction::Decayed => format!(
            "decayed to {day} at {rate} a day: {} can fade (event {}, @{})",
            count(receipt.memories, "memory", "memories"),
            receipt.event.as_deref().map_or("", short),
            receipt.position.unwrap_or_default()
        ),
    };
    text.push_str(&ahead(call, &receipt.ahead));
    let mut structured = serde_json::to_value(&receipt).unwrap_or_default();
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}

/// Returns a warning about ticks for days that have not come yet; empty if there are none.
pub(super) fn ahead(call: &Call<'_>, ticks: &[TickAhead]) -> String {
    let Some(last) = ticks.iter().map(|tick| &tick.day).max() else {
        return String::new();
    };
    let events: Vec<_> = ticks.iter().map(|tick| short(&tick.event)).collect();
    let events = events.join(", ");
    let way = match call.told("[{icm_undo} of]") {
        undo if undo.is_empty() => format!("`icm undo` (for the user to run) of event {events}"),
        undo => format!("{undo} event {events}"),
    };
    format!(
        "\nwarning: memories fade up to {last}, which has not come: a clock was wrong; {way} takes that back"
    )
}
