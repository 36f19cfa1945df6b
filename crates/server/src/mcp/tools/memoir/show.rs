//! The tool `icm_memoir_show`: shows a memoir and its concepts, in pages.

use super::{
    AFTER, AS_OF, Call, Kind, Param, READS, Reply, Tool, concept_count, concepts, dated, more,
    structured,
};
use crate::mcp::schema::Args;
use crate::mcp::tools::count;
use icm_api::ShowRequest;
use icm_api::error::ServiceError;
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Concepts on a page.
const PAGE: usize = 100;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_memoir_show",
    title: "Show a memoir",
    description: "Show a memoir: numbers, labels and its concepts by name, a page at a time. Call it to get an overview. Not for finding one concept[ ({icm_memoir_search})].",
    hints: READS,
    search_hint: "knowledge graph, concepts",
    leaves_work: false,
    params: &[
        Param {
            name: "name",
            kind: Kind::Text,
            required: true,
            about: "name of the memoir",
        },
        AFTER,
        AS_OF,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = ShowRequest {
        name: args.required_text("name"),
        after: args
            .text("after")
            .map(|after| super::named(&after))
            .transpose()?,
        limit: Some(PAGE),
        at: args.text("as_of"),
    };
    let mut found = call.service.memoir_show(&request)?;
    let mut frame = Frame::new();
    let about = found.memoir.description.as_deref().unwrap_or("(withheld)");
    frame.item(
        &format!("{}: ", clean_line(&found.memoir.name)),
        about,
        "",
        call.room_bytes() / 4,
    );
    let list: Vec<_> = found.concept_list.iter().collect();
    let shown = concepts(&mut frame, &list, false, call.room_bytes() * 3 / 4);
    if shown < list.len() {
        found.next = Some(list[shown - 1].name.clone());
    }
    found.concept_list.truncate(shown);
    found.next = found.next.as_deref().map(super::name_cursor);
    let mut text = format!(
        "{}, {}\n{}",
        concept_count(found.memoir.concepts),
        count(found.links, "link", "links"),
        frame.finish()
    );
    more(&mut text, found.next.as_deref());
    Ok(Reply::new(
        dated(text, &found.basis, request.at.is_some()),
        structured(&found),
    ))
}
