//! The tool `icm_fact_get`: the values of facts, at a time or all of them.

use icm_api::error::ServiceError;
use icm_api::{FactListRequest, FactQuery};
use icm_guard::sanitize::clean_line;

use super::{AS_OF, Call, Hints, Kind, Param, Reply, Tool, count, framed, structured, text};
use crate::mcp::schema::Args;

/// Facts in one reply. Raised, each value gets less room.
const FACTS_MAX: usize = 100;

pub(in crate::mcp::tools) static TOOL: Tool = Tool {
    name: "icm_fact_get",
    title: "Get facts",
    description: "Return the current value of a subject's attribute; without an attribute all of the subject, without a subject all facts. Call it to look up a value by its name. Not for a search by words[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "value, property, current, who, which version",
    leaves_work: false,
    params: &[
        text("subject", false, "the thing; default all"),
        text("attribute", false, "the property; default all"),
        text("valid_at", false, "the value that held or will hold then"),
        Param {
            name: "history",
            kind: Kind::Flag,
            required: false,
            about: "every value of the attribute, by time",
        },
        text(
            "scope",
            false,
            "global, project, session or project:ID; default the nearest",
        ),
        AS_OF,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let history = args.flag("history");
    let scope = call.caller.scope(args.text("scope"))?;
    let (at, valid_at) = (args.text("as_of"), args.text("valid_at"));
    let attribute = args.text("attribute");
    let found = match args.text("subject") {
        Some(subject) => {
            let query = FactQuery {
                subject,
                attribute,
                scope,
                at,
                valid_at,
            };
            match history {
                true if query.attribute.is_none() || query.valid_at.is_some() => {
                    return Err(ServiceError::invalid_with(
                        "`history` is of one attribute, at all times",
                        "give `subject` and `attribute`, and no `valid_at`",
                    ));
                }
                true => call.service.fact_history(call.caller, &query),
                false => call.service.facts(call.caller, &query),
            }
        }
        None if history || attribute.is_some() => {
            return Err(ServiceError::invalid_with(
                "an attribute without its subject is no fact",
                "give `subject`, too, or neither for all facts",
            ));
        }
        None => call.service.list_facts(&FactListRequest {
            scope,
            at,
            valid_at,
            // One more than shown, to notice that some are left out.
            limit: Some(FACTS_MAX + 1),
        }),
    };
    let mut facts = match found {
        Err(ServiceError::Nothing { message, .. }) => {
            return Ok(Reply::new(
                clean_line(&message).into_owned(),
                structured(&[]),
            ));
        }
        found => found?,
    };
    let is_cut = facts.len() > FACTS_MAX;
    facts.truncate(FACTS_MAX);
    let what = match history {
        true => count(facts.len() as u64, "value", "values"),
        false => count(facts.len() as u64, "fact", "facts"),
    };
    let mut text = match facts.is_empty() {
        true => "no facts".to_owned(),
        false => {
            let cap = call.room_bytes() / facts.len();
            format!("{what}\n{}", framed(&facts, cap))
        }
    };
    if is_cut {
        text.push_str(&format!("\nonly the first {FACTS_MAX}: give a subject"));
    }
    Ok(Reply::new(text, structured(&facts)))
}
