//! Events that no command of today writes.

use super::*;

/// Facts that fit no row, and refs that leave out events seen before: from a newer or a faulty version. The ids are
/// those of memories known to the machine.
#[derive(Debug, Clone)]
pub(super) struct Odd {
    pub(super) what: What,
    pub(super) refs: BTreeSet<usize>,
    pub(super) id: usize,
    pub(super) other: usize,
    pub(super) number: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// With a name, and an id that may be new.
    Store,
    Update,
    Forget,
    Cover,
    Link,
    Unlink,
    Recall,
    Pin,
    Expire,
    Session,
    Alert,
    Delivered,
    /// A verdict that this version does not know, too.
    Judge,
    Correct,
    Decay,
    Prune,
    Undo,
}

pub(super) fn odd() -> impl Strategy<Value = Odd> {
    use What::*;
    let all = [
        Store, Update, Forget, Cover, Link, Unlink, Recall, Pin, Expire, Session, Judge, Correct,
        Alert, Delivered, Decay, Prune, Undo,
    ];
    let what = (0..all.len()).prop_map(move |kind| all[kind]);
    let number = || 0..64_usize;
    let refs = prop::collection::btree_set(number(), 0..4);
    (what, refs, number(), number(), number()).prop_map(|(what, refs, id, other, number)| Odd {
        what,
        refs,
        id,
        other,
        number,
    })
}

impl Machine {
    /// Appends an odd event.
    pub(super) fn odd(&self, odd: &Odd) {
        let log = self.log();
        let mut events = Vec::new();
        let mut ids = Vec::new();
        log.scan(&Cursor::START, &mut |event| {
            let head = &event.head;
            events.push((head.origin(), head.seq(), event.id));
            if head.kind().name().starts_with("memory.") {
                ids.push(head.subject());
            }
            ControlFlow::Continue(())
        })
        .expect("it reads");
        let pick = |number: usize| ids[number % ids.len()];
        let mut refs = odd.refs.iter().map(|n| events[n % events.len()].2);
        let mut fresh = [0; 16];
        self.run.env().fill_random(&mut fresh);
        let content = content(odd.number % WORDS.len());
        let stored = MemoryStored {
            fields: fields::ALL & !fields::EXPIRES,
            causal_length: 1,
            scope_kind: ScopeKind::Global,
            importance: Importance::Low,
            trust: Trust::External,
            keyword_count: 1,
            name: hash::memory_name(1, ScopeId::ZERO, TOPICS[0], KEYS[odd.other % KEYS.len()]),
            scope_id: ScopeId::ZERO,
            expiry: None,
        };
        let mut payload = payload::encode(&payload::MemoryStored {
            topic: TOPICS[0],
            content: &content,
            keywords: vec![WORDS[odd.other % WORDS.len()]],
            ..payload::MemoryStored::default()
        });
        let mut subject = pick(odd.id);
        let (kind, facts) = match odd.what {
            What::Store => {
                if odd.number.is_multiple_of(2) {
                    subject = SubjectId(fresh);
                }
                (Kind::MEMORY_STORED, stored.encode())
            }
            What::Update => {
                let facts = MemoryUpdated {
                    fields: fields::CONTENT | fields::IMPORTANCE,
                    scope_kind: None,
                    importance: Some(Importance::High),
                    trust: None,
                    keywords_added: 0,
                    name: Name::ZERO,
                    scope_id: ScopeId::ZERO,
                    expiry: None,
                    removed: vec![Removal {
                        reference: 0,
                        index: 0,
                    }],
                };
                (Kind::MEMORY_UPDATED, facts.encode())
            }
            What::Forget => {
                let causal_length = odd.number as u32 % 6;
                (Kind::MEMORY_FORGOTTEN, Alive { causal_length }.encode())
            }
            What::Cover => {
                subject = SubjectId(fresh);
                let covers = [odd.id, odd.other].map(|id| Covered {
                    id: pick(id),
                    causal_length: odd.number as u32 % 6,
                });
                let covers = covers.to_vec();
                (
                    Kind::MEMORY_CONSOLIDATED,
                    MemoryConsolidated { stored, covers }.encode(),
                )
            }
            What::Link => {
                let facts = MemoryLinked {
                    other: pick(odd.other),
                    relation: match odd.number % 2 {
                        0 => Relation::RELATED,
                        _ => Relation::SIMILAR_TO,
                    },
                };
                (Kind::MEMORY_LINKED, facts.encode())
            }
            What::Unlink => (Kind::MEMORY_UNLINKED, Vec::new()),
            What::Recall => {
                let results = [odd.id, odd.other].into_iter().zip(1..);
                let results = results.map(|(id, rank)| Recalled { id: pick(id), rank });
                let facts = MemoryRecalled {
                    basis_position: Position(1),
                    basis_event: events[0].2,
                    results: results.collect(),
                    // No front, a known front, or one of a later version.
                    moment_ms: None,
                    shown: (odd.number % 6).checked_sub(1).map(|front| Shown {
                        front: Front(front as u8),
                        tokens: odd.number as u32,
                    }),
                };
                (Kind::MEMORY_RECALLED, facts.encode())
            }
            What::Pin => match odd.number % 3 {
                0 => (Kind::MEMORY_UNPINNED, Vec::new()),
                number => {
                    let until_ms = (number as u64 - 1) * 4_000_000_000_000;
                    (Kind::MEMORY_PINNED, MemoryPinned { until_ms }.encode())
                }
            },
            What::Expire => {
                // A condition of any kind, one of a later version, none, or one that came true.
                let condition = Condition(odd.number as u8 % 8);
                match odd.other % 3 {
                    0 => (Kind::MEMORY_EXPIRED, MemoryExpired { condition }.encode()),
                    set => {
                        let set = (set == 1).then(|| Expiry::of(condition, 7, odd.id as u64));
                        let facts = MemoryUpdated {
                            fields: fields::EXPIRES,
                            scope_kind: None,
                            importance: None,
                            trust: None,
                            keywords_added: 0,
                            name: Name::ZERO,
                            scope_id: ScopeId::ZERO,
                            removed: Vec::new(),
                            expiry: set,
                        };
                        (Kind::MEMORY_UPDATED, facts.encode())
                    }
                }
            }
            What::Session => {
                subject = SubjectId::ZERO;
                let facts = SessionStarted {
                    parent: SessionId([odd.other as u8; 16]),
                    client: ClientCode(odd.number as u16),
                    cause: SessionCause(odd.number as u8 % 8),
                };
                (Kind::SESSION_STARTED, facts.encode())
            }
            What::Alert => {
                subject = SubjectId::ZERO;
                payload = payload::encode(&payload::AlertSet {
                    text: &content,
                    ..payload::AlertSet::default()
                });
                let facts = AlertSet {
                    session: SessionId([odd.other as u8; 16]),
                    scope_id: ScopeId([odd.id as u8; 16]),
                    due_ms: odd.number as u64,
                };
                (Kind::ALERT_SET, facts.encode())
            }
            What::Delivered => {
                subject = SubjectId::ZERO;
                (Kind::ALERT_DELIVERED, Vec::new())
            }
            What::Judge => {
                let facts = FeedbackApplied {
                    verdict: Verdict(odd.number as u8 % 4),
                    feedback: SubjectId::ZERO,
                };
                (Kind::FEEDBACK_APPLIED, facts.encode())
            }
            What::Correct => {
                let facts = FeedbackRecorded {
                    verdict: Verdict(odd.number as u8 % 4),
                    scope_kind: ScopeKind::Global,
                    trust: Trust::Agent,
                    causal_length: 1,
                    memory: subject,
                    scope_id: ScopeId::ZERO,
                };
                subject = SubjectId(fresh);
                payload = payload::encode(&payload::FeedbackRecorded {
                    predicted: WORDS[odd.other % WORDS.len()],
                    correct: &content,
                    context: "which one",
                    ..payload::FeedbackRecorded::default()
                });
                (Kind::FEEDBACK_RECORDED, facts.encode())
            }
            What::Decay => {
                let today = u32::try_from(self.run.env().now_ms() / 86_400_000).expect("a day");
                let facts = MemoryDecayed {
                    // Some of the days have not come yet.
                    as_of_day: today + odd.id as u32 % 4 - 2,
                    rate_ppm: odd.number as u32 * 30_000,
                    critical_ppm: odd.other as u32 * 10_000,
                    high_ppm: 500_000,
                    medium_ppm: 1_000_000,
                    low_ppm: u32::MAX,
                };
                (Kind::MEMORY_DECAYED, facts.encode())
            }
            What::Prune => {
                let covers = [odd.id, odd.other].map(|id| Covered {
                    id: pick(id),
                    causal_length: odd.number as u32 % 6,
                });
                let facts = MemoryPruned {
                    threshold_ppm: 100_000,
                    covers: covers.to_vec(),
                };
                (Kind::MEMORY_PRUNED, facts.encode())
            }
            What::Undo => {
                let (origin, to_seq, head) = events[odd.id % events.len()];
                let from_seq = Seq(to_seq.0.saturating_sub(odd.number as u64 % 3).max(1));
                subject = SubjectId::ZERO;
                let range = UndoneRange {
                    origin,
                    from_seq,
                    to_seq,
                    head,
                };
                refs.by_ref().for_each(drop);
                (
                    Kind::LOG_UNDONE,
                    LogUndone {
                        ranges: vec![range],
                    }
                    .encode(),
                )
            }
        };
        let event = NewEvent {
            kind,
            subject,
            refs: refs.collect(),
            facts,
            payload,
        };
        logbed::append(&log, &**self.run.env(), vec![event], Durability::Synced)
            .expect("it appends");
    }
}
