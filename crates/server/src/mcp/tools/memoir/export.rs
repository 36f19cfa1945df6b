//! `icm_memoir_export`

use serde_json::json;

use super::{AS_OF, Call, Kind, MEMOIR, Param, READS, Reply, Tool};
use crate::api::GraphFormat;
use crate::error::ServiceError;
use crate::mcp::frame::{Frame, REPLY_MAX_BYTES, cut};
use crate::mcp::schema::Args;
use crate::mcp::tools::cleaned;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_export",
    title: "Export a memoir",
    description: "Write a whole memoir out as text of a format. Call it to draw it, or to read all of it at once. Not for one concept (icm_memoir_inspect).",
    hints: READS,
    leaves_work: false,
    params: &[
        MEMOIR,
        Param {
            name: "as",
            kind: Kind::OneOf(&["json", "dot", "mermaid", "ascii", "markdown", "graphml"]),
            required: false,
            about: "default markdown",
        },
        AS_OF,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let memoir = args.required_text("memoir");
    let format = args.one_of("as").unwrap_or(GraphFormat::Markdown);
    let as_of = args.text("as_of");
    let text = call
        .service
        .memoir_export(&memoir, format, as_of.as_deref())?;
    let text = cut(&cleaned(text), REPLY_MAX_BYTES).into_owned();
    let mut frame = Frame::new();
    frame.item("", &text, "", usize::MAX);
    Ok(Reply {
        structured: json!({ "format": format.name(), "text": text }),
        text: frame.finish(),
    })
}
