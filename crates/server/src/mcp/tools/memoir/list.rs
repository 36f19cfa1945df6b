//! The tool `icm_memoir_list`: lists the memoirs.

use serde_json::json;

use super::{AFTER, AS_OF, Call, READS, Reply, Tool, concept_count, dated, more, structured};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_list",
    title: "List memoirs",
    description: "List the memoirs and what they are about. Call it to see which there are. Not for their concepts[ ({icm_memoir_show})].",
    hints: READS,
    search_hint: "knowledge graphs, overview",
    leaves_work: false,
    params: &[AFTER, AS_OF],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let (as_of, after) = (args.text("as_of"), args.text("after"));
    let mut list = call.service.memoir_list(as_of.as_deref())?;
    let total = list.memoirs.len();
    if let Some(after) = &after {
        let after = super::named(after)?;
        list.memoirs.retain(|memoir| memoir.name > after);
    }
    let mut frame = Frame::new();
    let (mut shown, mut bytes) = (0, 0);
    for memoir in &list.memoirs {
        let about = memoir.description.as_deref().unwrap_or("(withheld)");
        bytes += memoir.name.len() + about.len() + 80;
        if bytes > call.room_bytes() && shown > 0 {
            break;
        }
        let head = format!("{}: ", clean_line(&memoir.name));
        let tail = format!(" ({})", concept_count(memoir.concepts));
        frame.item(&head, about, &tail, call.room_bytes() / 2);
        shown += 1;
    }
    let mut text = match (shown, total) {
        (0, 0) => call.told("no memoirs yet[: {icm_memoir_create} makes one]"),
        (0, _) => "no memoirs after that".to_owned(),
        _ => frame.finish(),
    };
    let left = list.memoirs.len() > shown;
    list.memoirs.truncate(shown);
    let mut value = structured(&list);
    value["total"] = json!(total);
    if let Some(last) = list.memoirs.last().filter(|_| left) {
        text.push_str(&format!("\n{shown} of {total} shown"));
        let next = super::name_cursor(&last.name);
        more(&mut text, Some(&next));
        value["next"] = json!(next);
    }
    Ok(Reply::new(dated(text, &list.basis, as_of.is_some()), value))
}
