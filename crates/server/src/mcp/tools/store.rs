//! The tool `icm_memory_store`: stores a memory.

use super::{ALLOW_SECRET, Call, EXPIRES, Hints, IMPORTANCE, Kind, Param, Reply, Tool};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{StoreRequest, Trust};

pub(super) static TOOL: Tool = Tool {
    name: "icm_memory_store",
    title: "Store a memory",
    description: "Store one fact for later sessions. Call it after a decision, a stated preference, a fixed error or a learned convention. Not for secrets, whole files or what only this task needs[; to correct a memory use {icm_memory_update}].",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: false,
    },
    search_hint: "remember, save, note, decision, preference",
    leaves_work: true,
    params: &[
        Param {
            name: "topic",
            kind: Kind::Text,
            required: true,
            about: "short group name, e.g. decisions-api, preferences",
        },
        Param {
            name: "content",
            kind: Kind::Text,
            required: true,
            about: "the fact, understandable on its own",
        },
        Param {
            name: "importance",
            kind: IMPORTANCE,
            required: false,
            about: "default medium; high/critical are shown at session start; critical never fades",
        },
        Param {
            name: "keywords",
            kind: Kind::Texts,
            required: false,
            about: "words to find it by that the content lacks",
        },
        Param {
            name: "raw_excerpt",
            kind: Kind::Text,
            required: false,
            about: "verbatim code or message behind it",
        },
        Param {
            name: "occurred_at",
            kind: Kind::Text,
            required: false,
            about: "when it happened: date, time or 2h ago",
        },
        EXPIRES,
        super::SCOPE_TO_STORE,
        ALLOW_SECRET,
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = StoreRequest {
        topic: args.required_text("topic"),
        content: args.required_text("content"),
        importance: args.one_of("importance"),
        keywords: args.texts("keywords").unwrap_or_default(),
        raw_excerpt: args.text("raw_excerpt"),
        occurred_at: args.text("occurred_at"),
        scope: call.caller.scope(args.text("scope"))?,
        expires: call.condition(args.text("expires")),
        trust: Trust::Agent,
        allow_secret: args.flag("allow_secret"),
        ..StoreRequest::default()
    };
    let content = request.content.clone();
    let receipt = call.service.store(call.caller, request)?;
    Ok(super::receipt::stored(call, &receipt, &content))
}
