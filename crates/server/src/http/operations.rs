//! The plain paths, as one table: requests are checked by it, and the OpenAPI description is made from it.

use serde_json::{Value, json};

use crate::mcp::schema::{Args, Kind, Param};
use crate::mcp::tools;
use crate::mcp::tools::Call;
use icm_api::error::ServiceError;
use icm_api::limits::RECALL_LIMIT_MAX;
use icm_api::{RecallRequest, StoreRequest, TagFilter, Trust};

/// A plain path.
pub(super) struct Operation {
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) params: &'static [Param],
    /// `true` if the operation changes the store; such an operation accepts POST only.
    pub(super) writes: bool,
    pub(super) run: fn(&Call<'_>, Args) -> Result<Value, ServiceError>,
}

/// The operations on memories.
pub(super) static OPERATIONS: [&Operation; 3] = [&STORE, &RECALL, &LOG];

static STORE: Operation = Operation {
    path: "/store",
    summary: "Store one memory, or update the one with the same topic and key",
    params: &[
        text("topic", true, "short group name, e.g. decisions-api"),
        text("content", true, "the fact, understandable on its own"),
        Param {
            name: "importance",
            kind: tools::IMPORTANCE,
            required: false,
            about: "how slowly it fades; default medium, critical never fades",
        },
        Param {
            name: "keywords",
            kind: Kind::Words,
            required: false,
            about: "words to find it by that the content lacks",
        },
        text("raw_excerpt", false, "verbatim code or message behind it"),
        text(
            "key",
            false,
            "your own id within the topic: the same topic and key again updates",
        ),
        text(
            "occurred_at",
            false,
            "when it happened: RFC 3339, date, or 2h ago",
        ),
        text("scope", false, "global (default), project:ID or session:ID"),
        text(
            "expires",
            false,
            "when it is hidden: time 30d, usage 3, file-exists PATH, file-pristine PATH, period FROM..UNTIL",
        ),
        text(
            "request_id",
            false,
            "asked again with it, the first receipt comes again; also header Idempotency-Key",
        ),
        Param {
            name: "allow_secret",
            kind: Kind::Flag,
            required: false,
            about: "store a secret too",
        },
    ],
    writes: true,
    run: |call, mut args| {
        let request = StoreRequest {
            topic: args.required_text("topic"),
            content: args.required_text("content"),
            importance: args.one_of("importance"),
            keywords: args.texts("keywords").unwrap_or_default(),
            raw_excerpt: args.text("raw_excerpt"),
            key: args.text("key"),
            occurred_at: args.text("occurred_at"),
            scope: call.caller.scope(args.text("scope"))?,
            expires: args.text("expires"),
            trust: Trust::Agent,
            request_id: args.text("request_id"),
            allow_secret: args.flag("allow_secret"),
            ..StoreRequest::default()
        };
        Ok(json!(call.service.store(call.caller, request)?))
    },
};

static RECALL: Operation = Operation {
    path: "/recall",
    summary: "Search the memories, now or as they were at a moment",
    params: &[
        text("query", true, "a few plain words; no query syntax"),
        text("topic", false, "only this topic; a/ for all below a"),
        text("keyword", false, "only memories with this keyword"),
        texts("tags", "only memories with all of these keywords"),
        texts("any_tags", "only memories with one of these keywords"),
        texts("not_tags", "memories with one of these keywords last"),
        Param {
            name: "exclude",
            kind: Kind::Flag,
            required: false,
            about: "leave the memories of not_tags out",
        },
        Param {
            name: "importance",
            kind: tools::IMPORTANCE,
            required: false,
            about: "only memories at least so important",
        },
        text("since", false, "only what happened then or later"),
        text("until", false, "only what happened then or earlier"),
        text("scope", false, "as seen from it, or all"),
        text(
            "as_of",
            false,
            "as known at: RFC 3339, date, 2h ago, or @position",
        ),
        Param {
            name: "limit",
            kind: Kind::Limit {
                min: 1,
                max: RECALL_LIMIT_MAX as u64,
            },
            required: false,
            about: "default 10",
        },
        Param {
            name: "offset",
            kind: Kind::Whole {
                min: 0,
                max: RECALL_LIMIT_MAX as u64,
            },
            required: false,
            about: "results to skip: next of the answer before",
        },
        tools::FLOOR,
    ],
    writes: false,
    run: |call, mut args| {
        let request = RecallRequest {
            query: args.required_text("query"),
            topic: args.text("topic"),
            tags: tags(&mut args),
            importance: args.one_of("importance"),
            since: args.text("since"),
            until: args.text("until"),
            scope: call.caller.scope(args.text("scope"))?,
            at: args.text("as_of"),
            limit: args.whole("limit").map(|limit| limit as usize),
            offset: args.whole("offset").unwrap_or(0) as usize,
            floor: args.share("floor"),
            record: !call.options.read_only,
            ..RecallRequest::default()
        };
        Ok(json!(call.service.recall(call.caller, &request)?))
    },
};

static LOG: Operation = Operation {
    path: "/log",
    summary: "What happened, newest first; with id the history of one memory",
    params: tools::log::TOOL.params,
    writes: false,
    run: |call, args| Ok((tools::log::TOOL.run)(call, args)?.structured),
};

const fn texts(name: &'static str, about: &'static str) -> Param {
    Param {
        name,
        kind: Kind::Words,
        required: false,
        about,
    }
}

/// Takes the conditions on tags out of the arguments.
fn tags(args: &mut Args) -> TagFilter {
    let keyword = args.text("keyword");
    TagFilter {
        all: [
            Vec::from_iter(keyword),
            args.texts("tags").unwrap_or_default(),
        ]
        .concat(),
        any: args.texts("any_tags").unwrap_or_default(),
        not: args.texts("not_tags").unwrap_or_default(),
        exclude: args.flag("exclude"),
    }
}

const fn text(name: &'static str, required: bool, about: &'static str) -> Param {
    Param {
        name,
        kind: Kind::Text,
        required,
        about,
    }
}
