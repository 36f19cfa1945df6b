//! The opening case table: what is done with what a chain's end, its acknowledged slots and its
//! neighbours look like. [`decide`] is a pure function of an [`Observation`]; one test a row.

use serde::{Deserialize, Serialize};

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Case {
    /// Ends cleanly, and the slot's event is present with that id.
    A,
    /// Own chain, a check fails and nothing says the record was durable: torn.
    B,
    /// Own chain, the first check fails although the record was durable: damage.
    C,
    /// The newest segment never got its first record: torn creation.
    D,
    /// A gap or overlap between segments that nothing explains.
    E,
    /// A valid head names another event before it than there is.
    F,
    /// Written by a newer version.
    G,
    /// The head is whole, the payload is not.
    H,
    /// The body is withheld and no redaction is known.
    I,
    /// A foreign chain reaches further than any learned range.
    J,
    /// The last batch lacks its last event.
    K,
    /// A foreign chain is shorter than a learned range, or damaged within it.
    L,
    /// Ends before the slot's event, or its id differs.
    M,
}

/// What is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Open.
    Open,
    /// The writer moves everything from the first record of the batch to `torn/` and truncates; a
    /// reader takes what is before for the end.
    SetAside,
    /// Open what is before read-only, refuse writes, name `icm log repair`.
    Refuse,
    /// Read-only, never called damage.
    RefuseNewer,
    /// Open; the payload shows as withheld.
    Withhold,
    /// Open; say so.
    Notice,
    /// Keep, export, count; no position and no fold until learned. The lock holder cuts invalid
    /// records before appending.
    Keep,
    /// Never truncated; a peer's copy refills it.
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

    /// Its short name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// When it holds.
    pub fn condition(self) -> &'static str {
        self.row().2
    }

    /// What is done.
    pub fn action(self) -> Action {
        self.row().3
    }
}

/// What is wrong with a record, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordState {
    /// Every record up to a clean end is good.
    Good,
    /// The first check of a record fails, or the file ends within it.
    FirstCheckBad,
    /// Head good, body not.
    SecondCheckBad,
    /// Head and body good, but `prev` or `seq` do not follow.
    ChainBroken,
    /// Head good, body withheld without a known redaction.
    Withheld,
    /// A newer version wrote it.
    Newer,
}

/// What the acknowledged slots say about the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotState {
    /// No slot names this chain.
    None,
    /// The slot's event is present with that id.
    Present,
    /// The chain ends before the slot's event, or has another event there.
    Missing,
}

/// What was seen at a place of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// This machine's own chain (or one it continues).
    pub own: bool,
    /// The record looked at, or the end when all are good.
    pub record: RecordState,
    /// A later valid record has `synced` at or above the record's seq, or a slot names that seq or
    /// a later one. For an incomplete batch: for any of its events.
    pub evidence: bool,
    /// The last batch lacks its last event.
    pub batch_open: bool,
    /// The record would be the first of the newest segment, or the segment has no whole header.
    pub starts_newest_segment: bool,
    /// The slots.
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

/// The row of the table that an observation falls under.
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
        // A store that has lost what it acknowledged is left as it is found.
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
