//! The tool `icm_memoir_export`: writes a whole memoir in a format, in pages.

use serde_json::json;

use super::{AFTER, AS_OF, Call, Kind, MEMOIR, Param, READS, Reply, Tool};
use crate::mcp::schema::Args;
use crate::mcp::tools::cleaned;
use icm_api::GraphFormat;
use icm_api::cursor::Cursor;
use icm_api::error::ServiceError;
use icm_guard::frame::{Frame, end_within};

/// Name of the output, for errors.
const WHAT: &str = "an export";

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_export",
    title: "Export a memoir",
    description: "Write a whole memoir out as text of a format. Call it to draw it, or to read all of it at once. Not for one concept[ ({icm_memoir_inspect})].",
    hints: READS,
    search_hint: "knowledge graph, mermaid, dot, json",
    leaves_work: false,
    params: &[
        MEMOIR,
        Param {
            name: "as",
            kind: Kind::OneOf(&["json", "dot", "mermaid", "ascii", "markdown", "graphml"]),
            required: false,
            about: "default markdown",
        },
        AFTER,
        AS_OF,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let memoir = args.required_text("memoir");
    let format = args.one_of("as").unwrap_or(GraphFormat::Markdown);
    let (as_of, after) = (args.text("as_of"), args.text("after"));
    let cursor = match &after {
        Some(after) => Some(Cursor::parse(after, "after", WHAT)?),
        None => None,
    };
    let as_of = cursor.map(Cursor::at).or(as_of);
    let written = call
        .service
        .memoir_export(&memoir, format, as_of.as_deref())?;
    let whole = cleaned(written.text);
    let start = cursor.map_or(0, |cursor| cursor.offset);
    let page = page(&whole, start, call.room_bytes()).ok_or_else(|| {
        Cursor::refused(after.as_deref().unwrap_or_default().trim(), "after", WHAT)
    })?;
    let mut frame = Frame::new();
    frame.item("", page, "", usize::MAX);
    let mut text = frame.finish();
    let mut structured = json!({ "format": format.name(), "text": page });
    let end = start + page.len();
    if end < whole.len() {
        let next = Cursor::after(&written.basis, end);
        text.push_str(&format!(
            "\n{end} of {} bytes shown, it goes on; more: give after = \"{next}\"",
            whole.len()
        ));
        structured["next"] = json!(next.to_string());
        structured["total_bytes"] = json!(whole.len());
    }
    Ok(Reply::new(text, structured))
}

/// Returns the page of a text that begins at byte `start`: up to the last line that ends within the room, or as much of
/// one line as fits. All pages in a row make the text. `None` if no page begins there.
fn page(text: &str, start: usize, room_bytes: usize) -> Option<&str> {
    let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
    let end = end_within(rest, room_bytes);
    if end == rest.len() {
        return Some(rest);
    }
    let room = &rest[..end];
    let end = room.rfind('\n').map_or(room.len(), |at| at + 1);
    Some(&rest[..end])
}
