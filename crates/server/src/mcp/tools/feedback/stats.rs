//! The tool `icm_feedback_stats`: counts corrections and marks.

use super::{AS_OF, Call, READS, Reply, Tool, count, dated, structured};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_feedback_stats",
    title: "Feedback statistics",
    description: "Count the corrections by topic, and name the memories that were called wrong most often. Call it to see where predictions go wrong. Not for finding a correction[: use {icm_feedback_search}].",
    hints: READS,
    search_hint: "mistakes, how often wrong",
    leaves_work: false,
    params: &[AS_OF],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let as_of = args.text("as_of");
    let stats = call.service.feedback_stats(as_of.as_deref())?;
    let mut text = format!(
        "{}, {} judged: called useful {}, wrong {}",
        count(stats.feedback, "correction", "corrections"),
        count(stats.marked, "memory", "memories"),
        count(stats.marks.useful, "time", "times"),
        count(stats.marks.wrong, "time", "times"),
    );
    let mut frame = Frame::new();
    let mut is_framed = false;
    for topic in &stats.by_topic {
        if let Some(name) = &topic.topic {
            let tail = format!(": {}", topic.feedback);
            frame.item("topic ", &clean_line(name), &tail, call.room_bytes() / 8);
            is_framed = true;
        }
    }
    for memory in &stats.most_wrong {
        let head = format!("{} [{}] ", memory.id, clean_line(&memory.topic));
        let content = memory.content.as_deref().unwrap_or("(withheld)");
        let tail = format!(" ({})", memory.marks.told().unwrap_or_default());
        frame.item(&head, content, &tail, call.room_bytes() / 8);
        is_framed = true;
    }
    if is_framed {
        text.push('\n');
        text.push_str(&frame.finish());
    }
    Ok(Reply::new(
        dated(text, &stats.basis, as_of.is_some()),
        structured(&stats),
    ))
}
