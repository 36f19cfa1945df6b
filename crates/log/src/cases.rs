//! The opening case table: the action for each state in which a chain's end can be found.
//!
//! The state is that of the end, of the acknowledged slots and of the neighbours. [`decide`] is a pure function of an
//! [`Observation`]; each row has a test.

use serde::{Deserialize, Serialize};

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Case {
    /// The chain ends cleanly, and the slot's event is present with that id.
    A,
    /// Own chain: a check fails, and nothing says that the record was durable. The tail is torn.
    B,
    /// Own chain: the first check fails although the record was durable. The record is damaged.
    C,
    /// The newest segment never got its first record: its creation is torn.
    D,
    /// A gap or overlap between segments that nothing explains.
    E,
    /// A valid head names another event before it than the one that is there.
    F,
    /// A newer version wrote the record.
    G,
    /// The head is whole, the payload is damaged.
    H,
    /// The body is withheld, and no redaction of it is known.
    I,
    /// A foreign chain reaches further than any learned range.
    J,
    /// The last batch lacks its last event.
    K,
    /// A foreign chain is shorter than a learned range, or damaged within it.
    L,
    /// The chain ends before the slot's event, or its id differs.
    M,
}

/// The action for a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Open the store.
    Open,
    /// The writer moves everything from the first record of the batch to `torn/` and truncates the segment. A reader
    /// takes the place before the batch for the end.
    SetAside,
    /// Open the chain up to that place read-only, refuse writes, name `icm log repair`.
    Refuse,
    /// Open read-only. The chain is never called damaged.
    RefuseNewer,
    /// Open the store and show the payload as withheld.
    Withhold,
    /// Open the store and report the finding.
    Notice,
    /// Keep, export and count the events; without a position or a fold until they are learned. The lock holder cuts
    /// invalid records before it appends.
    Keep,
    /// Never truncate; a peer's copy refills the chain.
    Refill,
}

/// The table, in the order of its letters.
pub const TABLE: [(Case, &str, &str, Action); 13] = [
    (
        Case::A,
        "clean",
        "ends cleanly, and the slot's event is present with that id",
        Action::Open,
    ),
    (
        Case::B,
        "torn tail",
        "own chain, a check fails and there is no evidence",
        Action::SetAside,
    ),
    (
        Case::C,
        "damaged record",
        "own chain, first check fails, with evidence",
        Action::Refuse,
    ),
    (
        Case::D,
        "torn creation",
        "newest segment shorter than its header, or without a valid first record and no evidence",
        Action::SetAside,
    ),
    (
        Case::E,
        "gap between segments",
        "a gap between segments, or an overlap, without a repair that explains it",
        Action::Refuse,
    ),
    (
        Case::F,
        "broken chain",
        "head valid, prev wrong, unexplained",
        Action::Refuse,
    ),
    (
        Case::G,
        "newer format",
        "format's oldest reader is newer, or an unknown critical kind or version",
        Action::RefuseNewer,
    ),
    (
        Case::H,
        "damaged payload",
        "first check good, second bad, with evidence or in a foreign chain",
        Action::Withhold,
    ),
    (
        Case::I,
        "withheld payload",
        "body withheld and no redaction known yet",
        Action::Notice,
    ),
    (
        Case::J,
        "not learned yet",
        "a foreign chain reaches further than any learned range",
        Action::Keep,
    ),
    (
        Case::K,
        "incomplete batch",
        "the last batch lacks its last event",
        Action::SetAside,
    ),
    (
        Case::L,
        "foreign chain damaged",
        "a foreign chain shorter than, or damaged within, a learned range",
        Action::Refill,
    ),
    (
        Case::M,
        "end missing",
        "ends before the slot's event, or its id differs",
        Action::Refuse,
    ),
];

impl Case {
    fn row(self) -> &'static (Case, &'static str, &'static str, Action) {
        TABLE
            .iter()
            .find(|row| row.0 == self)
            .expect("every case has a row")
    }

    /// Returns the short name of the case.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns the condition of the case, in words.
    pub fn condition(self) -> &'static str {
        self.row().2
    }

    /// Returns the action for the case.
    pub fn action(self) -> Action {
        self.row().3
    }
}

/// The state of the record at the observed place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordState {
    /// Every record up to a clean end is good.
    Good,
    /// The first check of a record fails, or the file ends within it.
    FirstCheckBad,
    /// The head is good, the body is not.
    SecondCheckBad,
    /// Head and body are good, but `prev` or `seq` do not follow.
    ChainBroken,
    /// The head is good, the body is withheld, and no redaction of it is known.
    Withheld,
    /// A newer version wrote the record.
    Newer,
}

/// The evidence of the acknowledged slots about a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotState {
    /// No slot names this chain.
    None,
    /// The slot's event is present with that id.
    Present,
    /// The chain ends before the slot's event, or has another event there.
    Missing,
}

/// The state of a chain at one place, as it was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// `true` for this machine's own chain, or one that it continues.
    pub own: bool,
    /// State of the observed record, or of the end if all records are good.
    pub record: RecordState,
    /// A later valid record has `synced` at or above the record's seq, or a slot names that seq or a later one. For an
    /// incomplete batch this counts for any of its events.
    pub evidence: bool,
    /// The last batch lacks its last event.
    pub batch_open: bool,
    /// The record would be the first of the newest segment, or the segment has no whole header.
    pub starts_newest_segment: bool,
    /// The evidence of the slots.
    pub slot: SlotState,
    /// Segments neither meet nor branch here.
    pub segment_gap: bool,
    /// Foreign chains: the place lies within a learned range.
    pub learned: bool,
    /// Foreign chains: records reach beyond every learned range.
    pub beyond_learned: bool,
}

impl Observation {
    /// A chain that ends cleanly.
    pub const CLEAN: Observation = Observation {
        own: true,
        record: RecordState::Good,
        evidence: false,
        batch_open: false,
        starts_newest_segment: false,
        slot: SlotState::None,
        segment_gap: false,
        learned: false,
        beyond_learned: false,
    };
}

/// Returns the case of the table for an observation.
pub fn decide(seen: &Observation) -> Case {
    match seen.record {
        RecordState::Newer => return Case::G,
        RecordState::Withheld => return Case::I,
        RecordState::SecondCheckBad if seen.evidence || !seen.own => return Case::H,
        RecordState::ChainBroken if seen.own => return Case::F,
        _ => {}
    }
    if !seen.own {
        let whole = seen.record == RecordState::Good && !seen.batch_open;
        return match (whole, seen.learned) {
            (false, true) => Case::L,
            _ if seen.segment_gap => Case::L,
            (true, _) if !seen.beyond_learned => Case::A,
            _ => Case::J,
        };
    }
    if seen.segment_gap {
        return Case::E;
    }
    match seen.record {
        RecordState::FirstCheckBad if seen.evidence => Case::C,
        // A store that has lost acknowledged events is left as it was found.
        RecordState::FirstCheckBad | RecordState::SecondCheckBad
            if seen.slot == SlotState::Missing =>
        {
            Case::M
        }
        RecordState::FirstCheckBad | RecordState::SecondCheckBad if seen.starts_newest_segment => {
            Case::D
        }
        RecordState::FirstCheckBad | RecordState::SecondCheckBad => Case::B,
        _ if seen.batch_open && seen.evidence => Case::C,
        _ if seen.slot == SlotState::Missing => Case::M,
        _ if seen.batch_open => Case::K,
        _ => Case::A,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(case: Case, seen: Observation) {
        assert_eq!(decide(&seen), case, "{seen:?}");
    }

    const CLEAN: Observation = Observation::CLEAN;

    #[test]
    fn every_case_has_its_row() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(
                row.0 as usize, index,
                "rows stand in the order of their letters"
            );
        }
    }

    #[test]
    fn row_a() {
        check(Case::A, CLEAN);
        check(
            Case::A,
            Observation {
                slot: SlotState::Present,
                ..CLEAN
            },
        );
    }

    #[test]
    fn row_b() {
        check(
            Case::B,
            Observation {
                record: RecordState::FirstCheckBad,
                ..CLEAN
            },
        );
        check(
            Case::B,
            Observation {
                record: RecordState::SecondCheckBad,
                ..CLEAN
            },
        );
        let older_slot = Observation {
            record: RecordState::FirstCheckBad,
            slot: SlotState::Present,
            ..CLEAN
        };
        check(Case::B, older_slot);
    }

    #[test]
    fn row_c() {
        let seen = Observation {
            record: RecordState::FirstCheckBad,
            evidence: true,
            ..CLEAN
        };
        check(Case::C, seen);
        check(
            Case::C,
            Observation {
                starts_newest_segment: true,
                ..seen
            },
        );
        check(
            Case::C,
            Observation {
                slot: SlotState::Missing,
                ..seen
            },
        );
    }

    #[test]
    fn row_d() {
        let seen = Observation {
            record: RecordState::FirstCheckBad,
            starts_newest_segment: true,
            ..CLEAN
        };
        check(Case::D, seen);
    }

    #[test]
    fn row_e() {
        check(
            Case::E,
            Observation {
                segment_gap: true,
                ..CLEAN
            },
        );
    }

    #[test]
    fn row_f() {
        check(
            Case::F,
            Observation {
                record: RecordState::ChainBroken,
                ..CLEAN
            },
        );
    }

    #[test]
    fn row_g() {
        check(
            Case::G,
            Observation {
                record: RecordState::Newer,
                ..CLEAN
            },
        );
        let damaged_too = Observation {
            record: RecordState::Newer,
            evidence: true,
            ..CLEAN
        };
        check(Case::G, damaged_too);
    }

    #[test]
    fn row_h() {
        let seen = Observation {
            record: RecordState::SecondCheckBad,
            evidence: true,
            ..CLEAN
        };
        check(Case::H, seen);
        let foreign = Observation {
            own: false,
            evidence: false,
            ..seen
        };
        check(Case::H, foreign);
    }

    #[test]
    fn row_i() {
        check(
            Case::I,
            Observation {
                record: RecordState::Withheld,
                ..CLEAN
            },
        );
        check(
            Case::I,
            Observation {
                record: RecordState::Withheld,
                own: false,
                ..CLEAN
            },
        );
    }

    #[test]
    fn row_j() {
        let foreign = Observation {
            own: false,
            beyond_learned: true,
            ..CLEAN
        };
        check(Case::J, foreign);
        check(
            Case::J,
            Observation {
                record: RecordState::FirstCheckBad,
                ..foreign
            },
        );
        check(
            Case::J,
            Observation {
                batch_open: true,
                ..foreign
            },
        );
    }

    #[test]
    fn row_k() {
        check(
            Case::K,
            Observation {
                batch_open: true,
                ..CLEAN
            },
        );
        check(
            Case::C,
            Observation {
                batch_open: true,
                evidence: true,
                ..CLEAN
            },
        );
    }

    #[test]
    fn row_l() {
        let foreign = Observation {
            own: false,
            learned: true,
            ..CLEAN
        };
        check(
            Case::L,
            Observation {
                record: RecordState::FirstCheckBad,
                ..foreign
            },
        );
        check(
            Case::L,
            Observation {
                batch_open: true,
                ..foreign
            },
        );
        check(
            Case::L,
            Observation {
                segment_gap: true,
                ..foreign
            },
        );
    }

    #[test]
    fn row_m() {
        let missing = Observation {
            slot: SlotState::Missing,
            ..CLEAN
        };
        check(Case::M, missing);
        for record in [RecordState::FirstCheckBad, RecordState::SecondCheckBad] {
            let torn_too = Observation { record, ..missing };
            check(Case::M, torn_too);
            let first = Observation {
                starts_newest_segment: true,
                ..torn_too
            };
            check(Case::M, first);
        }
    }
}
