//! A sample event of every kind.

use super::*;

pub(super) const MEMORY: SubjectId = SubjectId(*b"\x01\x9b\x76\x9f\x08\x00memory-001");

pub(super) const FEEDBACK: SubjectId = SubjectId(*b"\x01\x9b\x76\x9f\x08\x00feedback-1");

pub(super) const OTHER: SubjectId = SubjectId(*b"\x01\x9b\x76\x9f\x08\x00memory-002");

/// Returns a sample event of a kind; `None` for kinds that are only reserved.
pub fn event(kind: Kind) -> Option<NewEvent> {
    use facts::fields::{CONTENT, IMPORTANCE, SCOPE, TOPIC};
    let name = hash::memory_name(1, ScopeId::ZERO, "prefs", "drink");
    let project = hash::scope_id(2, "icm");
    let (subject, facts, payload) = match kind {
        Kind::MEMORY_STORED => (
            MEMORY,
            facts::MemoryStored {
                fields: facts::fields::ALL & !facts::fields::EXPIRES,
                causal_length: 1,
                scope_kind: ScopeKind::Global,
                importance: Importance::High,
                trust: Trust::Agent,
                keyword_count: 2,
                name,
                scope_id: ScopeId::ZERO,
                expiry: None,
            }
            .encode(),
            payload::encode(&payload::MemoryStored {
                topic: "prefs",
                content: "Likes green tea, naïve as it sounds 🍵",
                raw_excerpt: Some("> I like green tea"),
                keywords: vec!["tea", "drink"],
                key: Some("drink"),
                scope: None,
                source: payload::SourceText {
                    agent: Some("claude-code"),
                    client: Some("icm 0.1.0"),
                    session: Some("s1"),
                    project: Some("icm"),
                    file: Some("notes.md"),
                },
                occurred_at_ms: Some(-1),
                metadata: Some("{\"cups\":2.5}"),
                nth_line: Some(1),
                carried_created_at_ms: None,
                carried_updated_at_ms: None,
                expires: None,
                request_digest: Some("00ff"),
            }),
        ),
        Kind::MEMORY_UPDATED => (
            MEMORY,
            facts::MemoryUpdated {
                fields: TOPIC | CONTENT | IMPORTANCE | SCOPE,
                scope_kind: Some(ScopeKind::Project),
                importance: Some(Importance::Low),
                trust: None,
                keywords_added: 1,
                name: hash::memory_name(2, project, "prefs/drinks", "drink"),
                scope_id: project,
                removed: vec![facts::Removal {
                    reference: 0,
                    index: 1,
                }],
                expiry: None,
            }
            .encode(),
            payload::encode(&payload::MemoryUpdated {
                topic: Some("prefs/drinks"),
                content: Some("Likes black tea"),
                keywords_added: vec!["black"],
                scope: Some("icm"),
                ..payload::MemoryUpdated::default()
            }),
        ),
        Kind::MEMORY_RECALLED => (
            SubjectId::ZERO,
            facts::MemoryRecalled {
                basis_position: Position(4),
                basis_event: EventId([9; 32]),
                results: vec![facts::Recalled {
                    id: MEMORY,
                    rank: 1,
                }],
                shown: Some(facts::Shown {
                    front: facts::Front::HOOK,
                    tokens: 812,
                }),
                moment_ms: None,
            }
            .encode(),
            payload::encode(&payload::MemoryRecalled {
                query: "what tea?",
                topic: Some("prefs/"),
                keyword: Some("tea"),
                limit: Some(10),
                ..payload::MemoryRecalled::default()
            }),
        ),
        Kind::MEMORY_PINNED => (
            MEMORY,
            facts::MemoryPinned {
                until_ms: 1_796_000_000_000,
            }
            .encode(),
            payload::encode(&payload::MemoryForgotten {
                reason: Some("for the release"),
            }),
        ),
        Kind::MEMORY_UNPINNED => (
            MEMORY,
            Vec::new(),
            payload::encode(&payload::MemoryForgotten { reason: None }),
        ),
        Kind::MEMORY_EXPIRED => (
            MEMORY,
            facts::MemoryExpired {
                condition: facts::Condition::FILE_PRISTINE,
            }
            .encode(),
            payload::encode(&payload::Nothing {}),
        ),
        Kind::FEEDBACK_RECORDED => (
            FEEDBACK,
            facts::FeedbackRecorded {
                verdict: facts::Verdict::WRONG,
                scope_kind: facts::ScopeKind::Project,
                trust: facts::Trust::Agent,
                causal_length: 1,
                memory: MEMORY,
                scope_id: hash::scope_id(facts::ScopeKind::Project.code(), "icm"),
            }
            .encode(),
            payload::encode(&payload::FeedbackRecorded {
                predicted: "green tea",
                correct: "black tea",
                context: "what to order for the meeting",
                reason: Some("she said so twice"),
                topic: Some("orders"),
                scope: Some("icm"),
                source: payload::SourceText {
                    agent: Some("explorer"),
                    ..payload::SourceText::default()
                },
            }),
        ),
        Kind::FEEDBACK_APPLIED => (
            MEMORY,
            facts::FeedbackApplied {
                verdict: facts::Verdict::WRONG,
                feedback: FEEDBACK,
            }
            .encode(),
            payload::encode(&payload::MemoryForgotten { reason: None }),
        ),
        Kind::SESSION_STARTED => (
            SubjectId::ZERO,
            facts::SessionStarted {
                parent: hash::session_id("s0"),
                client: facts::ClientCode::CLAUDE_CODE,
                cause: facts::SessionCause::COMPACT,
            }
            .encode(),
            payload::encode(&payload::SessionStarted {
                session: "s1",
                parent: Some("s0"),
                client: Some("claude-code"),
                project: Some("icm"),
                folder: Some("/src/icm"),
                agent: Some("explorer"),
            }),
        ),
        Kind::SESSION_ENDED => (
            SubjectId::ZERO,
            facts::SessionEnded {
                reason: facts::SessionEnd::EXIT,
            }
            .encode(),
            payload::encode(&payload::Nothing {}),
        ),
        Kind::ALERT_SET => (
            SubjectId::ZERO,
            facts::AlertSet {
                session: hash::session_id("s1"),
                scope_id: ScopeId::ZERO,
                due_ms: 1_796_000_000_000,
            }
            .encode(),
            payload::encode(&payload::AlertSet {
                text: "Run the tests again",
                session: Some("s1"),
                project: None,
            }),
        ),
        Kind::ALERT_DELIVERED => (
            SubjectId::ZERO,
            Vec::new(),
            payload::encode(&payload::Nothing {}),
        ),
        Kind::MEMORY_FORGOTTEN => (
            MEMORY,
            facts::Alive { causal_length: 2 }.encode(),
            payload::encode(&payload::MemoryForgotten {
                reason: Some("asked to"),
            }),
        ),
        Kind::MEMORY_REVIVED => (
            MEMORY,
            facts::Alive { causal_length: 3 }.encode(),
            payload::encode(&payload::MemoryForgotten { reason: None }),
        ),
        Kind::MEMORY_CONSOLIDATED => (
            SubjectId(*b"\x01\x9b\x76\x9f\x08\x00memory-002"),
            facts::MemoryConsolidated {
                stored: facts::MemoryStored {
                    fields: facts::fields::ALL & !facts::fields::EXPIRES,
                    causal_length: 1,
                    scope_kind: ScopeKind::Global,
                    importance: Importance::Critical,
                    trust: Trust::Agent,
                    keyword_count: 1,
                    name: icm_log::Name::ZERO,
                    scope_id: ScopeId::ZERO,
                    expiry: None,
                },
                covers: vec![
                    facts::Covered {
                        id: MEMORY,
                        causal_length: 2,
                    },
                    facts::Covered {
                        id: SubjectId(*b"\x01\x9b\x76\x9f\x08\x00memory-003"),
                        causal_length: 0,
                    },
                ],
            }
            .encode(),
            payload::encode(&payload::MemoryStored {
                topic: "prefs",
                content: "Likes tea",
                keywords: vec!["tea"],
                ..payload::MemoryStored::default()
            }),
        ),
        Kind::MEMORY_DECAYED => (
            SubjectId::ZERO,
            facts::MemoryDecayed {
                as_of_day: 20_780,
                rate_ppm: 50_000,
                critical_ppm: 0,
                high_ppm: 500_000,
                medium_ppm: 1_000_000,
                low_ppm: 2_000_000,
            }
            .encode(),
            payload::encode(&payload::Nothing {}),
        ),
        Kind::MEMORY_PRUNED => (
            SubjectId::ZERO,
            facts::MemoryPruned {
                threshold_ppm: 100_000,
                covers: vec![
                    facts::Covered {
                        id: MEMORY,
                        causal_length: 2,
                    },
                    facts::Covered {
                        id: OTHER,
                        causal_length: 4,
                    },
                ],
            }
            .encode(),
            payload::encode(&payload::Nothing {}),
        ),
        Kind::MEMORY_LINKED => (
            MEMORY,
            facts::MemoryLinked {
                other: OTHER,
                relation: facts::Relation::SIMILAR_TO,
            }
            .encode(),
            payload::encode(&payload::MemoryLinked {
                relation: None,
                reason: Some("found when it was stored"),
                score_ppm: Some(923_076),
                request_digest: None,
            }),
        ),
        Kind::MEMORY_UNLINKED => (
            MEMORY,
            Vec::new(),
            payload::encode(&payload::MemoryForgotten {
                reason: Some("not so"),
            }),
        ),
        Kind::MEMOIR_CREATED
        | Kind::MEMOIR_DESCRIBED
        | Kind::MEMOIR_FORGOTTEN
        | Kind::MEMOIR_REVIVED
        | Kind::CONCEPT_ADDED
        | Kind::CONCEPT_REFINED
        | Kind::CONCEPT_LABELLED
        | Kind::CONCEPT_UNLABELLED
        | Kind::CONCEPT_LINKED
        | Kind::CONCEPT_UNLINKED
        | Kind::CONCEPT_FORGOTTEN
        | Kind::CONCEPT_REVIVED => graph(kind)?,
        Kind::LOG_ORIGIN_STARTED => (
            SubjectId::ZERO,
            facts::LogOriginStarted {
                continues: Some(facts::Continues {
                    origin: OriginId(*b"golden origin 00"),
                    seq: Seq(7),
                    event: EventId([7; 32]),
                }),
            }
            .encode(),
            payload::encode(&payload::LogOriginStarted {
                program: "icm 0.1.0",
            }),
        ),
        Kind::LOG_ACTOR_NAMED => (
            SubjectId(*b"actor of golden!"),
            Vec::new(),
            payload::encode(&payload::LogActorNamed {
                name: "agent:claude-code",
            }),
        ),
        Kind::LOG_IMPORTED => (
            SubjectId::ZERO,
            facts::LogImported {
                ranges: vec![facts::ImportedRange {
                    origin: OriginId(*b"another origin 1"),
                    base: EventId::ZERO,
                    head: EventId([3; 32]),
                    from_seq: Seq(1),
                    to_seq: Seq(5),
                }],
            }
            .encode(),
            payload::encode(&serde_json::Map::<String, Value>::new()),
        ),
        Kind::LOG_REDACTED => (
            SubjectId::ZERO,
            facts::LogRedacted {
                subjects: vec![MEMORY],
            }
            .encode(),
            payload::encode(&payload::LogRedacted {
                reason: Some("held a password"),
            }),
        ),
        Kind::LOG_REPAIRED => (
            SubjectId::ZERO,
            facts::LogRepaired {
                holes: vec![
                    facts::Hole {
                        origin: OriginId(*b"another origin 1"),
                        last_good: EventId([6; 32]),
                        next_good: EventId::ZERO,
                        from_seq: Seq(4),
                        to_seq: Seq(5),
                    },
                    facts::Hole {
                        origin: ORIGIN,
                        last_good: EventId::ZERO,
                        next_good: EventId([7; 32]),
                        from_seq: Seq(1),
                        to_seq: Seq(1),
                    },
                ],
            }
            .encode(),
            payload::encode(&payload::LogRepaired {
                reason: Some("the disk was dying"),
            }),
        ),
        Kind::LOG_UNDONE => (
            SubjectId::ZERO,
            facts::LogUndone {
                ranges: vec![
                    facts::UndoneRange {
                        origin: OriginId(*b"another origin 1"),
                        from_seq: Seq(2),
                        to_seq: Seq(2),
                        head: EventId([4; 32]),
                    },
                    facts::UndoneRange {
                        origin: ORIGIN,
                        from_seq: Seq(1),
                        to_seq: Seq(2),
                        head: EventId([5; 32]),
                    },
                ],
            }
            .encode(),
            payload::encode(&payload::LogUndone {
                selector: Some("--last 2"),
                reason: Some("wrong topic"),
                request_digest: None,
            }),
        ),
        _ => return None,
    };
    let refs = if [
        Kind::MEMORY_STORED,
        Kind::MEMOIR_CREATED,
        Kind::CONCEPT_ADDED,
    ]
    .contains(&kind)
    {
        Vec::new()
    } else {
        vec![EventId([5; 32])]
    };
    Some(NewEvent {
        kind,
        subject,
        refs,
        facts,
        payload,
    })
}

const MEMOIR: SubjectId = SubjectId(*b"\x01\x9b\x76\x9f\x08\x00memoir-001");

const CONCEPT: SubjectId = SubjectId(*b"\x01\x9b\x76\x9f\x08\x00concept-01");

const OTHER_CONCEPT: SubjectId = SubjectId(*b"\x01\x9b\x76\x9f\x08\x00concept-02");

/// Returns subject, facts and payload of a sample of the concept graph.
fn graph(kind: Kind) -> Option<(SubjectId, Vec<u8>, Vec<u8>)> {
    use facts::fields::{CONFIDENCE, CONTENT, KEY, SOURCE, TOPIC};
    let reason = |reason| {
        payload::encode(&payload::MemoryForgotten {
            reason: Some(reason),
        })
    };
    Some(match kind {
        Kind::MEMOIR_CREATED => (
            MEMOIR,
            facts::MemoirCreated {
                fields: TOPIC | CONTENT | SOURCE,
                causal_length: 1,
                name: hash::memoir_name("system"),
            }
            .encode(),
            payload::encode(&payload::MemoirCreated {
                name: "system",
                description: "How the billing system hangs together",
                source: payload::SourceText {
                    agent: Some("claude-code"),
                    ..payload::SourceText::default()
                },
            }),
        ),
        Kind::MEMOIR_DESCRIBED => (
            MEMOIR,
            facts::MemoirDescribed { fields: CONTENT }.encode(),
            payload::encode(&payload::MemoirDescribed {
                description: Some("How billing hangs together, for whoever is new"),
            }),
        ),
        Kind::MEMOIR_FORGOTTEN | Kind::CONCEPT_FORGOTTEN => (
            if kind == Kind::MEMOIR_FORGOTTEN {
                MEMOIR
            } else {
                CONCEPT
            },
            facts::Alive { causal_length: 2 }.encode(),
            reason("of no use"),
        ),
        Kind::MEMOIR_REVIVED | Kind::CONCEPT_REVIVED => (
            if kind == Kind::MEMOIR_REVIVED {
                MEMOIR
            } else {
                CONCEPT
            },
            facts::Alive { causal_length: 3 }.encode(),
            reason("of use after all"),
        ),
        Kind::CONCEPT_ADDED => (
            CONCEPT,
            facts::ConceptAdded {
                fields: TOPIC | KEY | CONTENT | SOURCE | CONFIDENCE,
                causal_length: 1,
                confidence_ppm: 500_000,
                label_count: 2,
                memoir: MEMOIR,
                name: hash::concept_name("system", "invoices"),
            }
            .encode(),
            payload::encode(&payload::ConceptAdded {
                memoir: "system",
                name: "invoices",
                definition: "Rows in PostgreSQL",
                labels: vec!["kind:data", "billing"],
                source: payload::SourceText {
                    session: Some("s1"),
                    ..payload::SourceText::default()
                },
            }),
        ),
        Kind::CONCEPT_REFINED => (
            CONCEPT,
            facts::ConceptRefined {
                fields: CONTENT | SOURCE | CONFIDENCE,
                confidence_ppm: 600_000,
            }
            .encode(),
            payload::encode(&payload::ConceptRefined {
                definition: Some("Rows in PostgreSQL 17, partitioned by month"),
                source: payload::SourceText::default(),
            }),
        ),
        Kind::CONCEPT_LABELLED => (
            CONCEPT,
            facts::ConceptLabelled { label_count: 1 }.encode(),
            payload::encode(&payload::ConceptLabelled {
                labels: vec!["team:billing"],
            }),
        ),
        Kind::CONCEPT_UNLABELLED => (
            CONCEPT,
            facts::ConceptUnlabelled {
                removed: vec![facts::Removal {
                    reference: 0,
                    index: 1,
                }],
            }
            .encode(),
            reason("one is enough"),
        ),
        Kind::CONCEPT_LINKED => (
            CONCEPT,
            facts::MemoryLinked {
                other: OTHER_CONCEPT,
                relation: facts::Relation::DEPENDS_ON,
            }
            .encode(),
            payload::encode(&payload::MemoryLinked {
                relation: None,
                reason: Some("it reads them"),
                score_ppm: None,
                request_digest: None,
            }),
        ),
        Kind::CONCEPT_UNLINKED => (CONCEPT, Vec::new(), reason("not so")),
        _ => return None,
    })
}
