//! The tools of the first specification of ICM. They have fewer arguments than the tools of icm, and the same answers.

use crate::mcp::schema::Args;
use crate::mcp::tools::{
    Call, Hints, IMPORTANCE, Kind, Param, Reply, TOPIC, Tool, consolidate, forget, list_topics,
    recall, stats, store,
};
use icm_api::RecallRequest;
use icm_api::error::ServiceError;

const LIMIT_MAX: u64 = 20;
const LIMIT_DEFAULT: u64 = 5;

pub(super) static STORE: Tool = Tool {
    name: "icm_store",
    title: "Store a memory",
    description: "Store one fact in the long-term memory. Call it when a decision is taken, a preference is stated or an error is fixed, and for what should last between sessions. Not for secrets, whole files or what only this task needs.",
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
            about: "short group name, e.g. projet-kexa, preferences",
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
            about: "default medium; critical never fades, low fades fast",
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
    ],
    output: None,
    run: store::TOOL.run,
};

pub(super) static RECALL: Tool = Tool {
    name: "icm_recall",
    title: "Recall memories",
    description: "Search the long-term memory and return the best matches, one a line, with ids. Call it before starting a task and whenever earlier decisions, preferences or fixes may matter. Not for browsing[: use {icm_list_topics}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "search, remember, earlier decisions, preferences",
    leaves_work: true,
    params: &[
        Param {
            name: "query",
            kind: Kind::Text,
            required: true,
            about: "a few plain words; no query syntax",
        },
        TOPIC,
        Param {
            name: "limit",
            kind: Kind::Limit {
                min: 1,
                max: LIMIT_MAX,
            },
            required: false,
            about: "default 5",
        },
        Param {
            name: "min_weight",
            kind: Kind::Share,
            required: false,
            about: "least weight of a memory, default 0",
        },
    ],
    output: None,
    run: run_recall,
};

pub(super) static FORGET: Tool = Tool {
    name: "icm_forget",
    title: "Forget a memory",
    description: "Forget one memory: it is no longer recalled, and the log keeps it so that it can be brought back. Call it when a memory is out of date or wrong. Not for erasing a secret.",
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: true,
    },
    search_hint: "delete, remove, outdated",
    leaves_work: true,
    params: &[Param {
        name: "id",
        kind: Kind::Text,
        required: true,
        about: "its id, or a unique prefix",
    }],
    output: None,
    run: forget::TOOL.run,
};

pub(super) static CONSOLIDATE: Tool = Tool {
    name: "icm_consolidate",
    title: "Consolidate a topic",
    description: "Store one summary of all memories of a topic, made by rules or by the configured command; the originals stay in history. Call it when a topic has grown long. Not for correcting one memory.",
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: false,
    },
    search_hint: "summarize, compress, merge memories",
    leaves_work: true,
    params: &[
        Param {
            name: "topic",
            kind: Kind::Text,
            required: true,
            about: "the topic; a/ for all below a",
        },
        Param {
            name: "keep_originals",
            kind: Kind::Flag,
            required: false,
            about: "true: leave the originals as they are",
        },
    ],
    output: None,
    run: consolidate::TOOL.run,
};

pub(super) static LIST_TOPICS: Tool = Tool {
    name: "icm_list_topics",
    title: "List topics",
    description: "List all topics with their numbers of memories. Call it to see what is known at all, or to pick the topic for a new memory. Not for finding a fact[: use {icm_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "what is known, browse, overview",
    leaves_work: false,
    params: &[],
    output: None,
    run: list_topics::TOOL.run,
};

pub(super) static STATS: Tool = Tool {
    name: "icm_stats",
    title: "Memory statistics",
    description: "Show how much is stored: memories, topics, events of the log, bytes. Call it when the user asks about the memory itself. Not for finding memories[: use {icm_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    search_hint: "count, size of the store",
    leaves_work: false,
    params: &[],
    output: None,
    run: stats::TOOL.run,
};

fn run_recall(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let limit = args.whole("limit").unwrap_or(LIMIT_DEFAULT) as usize;
    let request = RecallRequest {
        query: args.required_text("query"),
        topic: args.text("topic"),
        limit: Some(limit.min(recall::fitting(call))),
        record: !call.options.read_only,
        together: true,
        ..RecallRequest::default()
    };
    let least = args.share("min_weight").unwrap_or_default();
    let mut answer = call
        .service
        .recall_where(call.caller, &request, |hit| hit.memory.weight >= least)?;
    // The tool has no cursor.
    answer.next = None;
    Ok(recall::told(call, &request, answer))
}
