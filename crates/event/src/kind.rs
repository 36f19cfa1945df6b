//! The registry of event kinds. A code is never changed or reused. A kind that no command writes yet is reserved and
//! may change until it is first written.

/// Bit in the code of a kind that folds must know. A reader that does not know such a kind would show wrong memories.
/// It therefore opens the store read-only and says that it is too old.
pub const CRITICAL: u16 = 0x8000;

/// The kind of an event, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(pub u16);

/// The degree to which this version knows a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Commands of this version write the kind.
    Written,
    /// This version reads the kind (facts and fold); no command writes it yet.
    Read,
    /// The code is taken; this version knows nothing else of the kind.
    Reserved,
}

/// A row of the registry.
#[derive(Debug, Clone, Copy)]
pub struct KindInfo {
    /// Code, with the critical bit.
    pub kind: Kind,
    /// `family.verb`.
    pub name: &'static str,
    /// The newest version of its facts and payload that this binary knows.
    pub version: u16,
    /// The degree to which this version knows the kind.
    pub status: Status,
    /// The event in one sentence.
    pub about: &'static str,
}

macro_rules! registry {
    ($($constant:ident = $code:expr, $name:literal, $status:ident, $about:literal;)*) => {
        impl Kind {
            $(#[doc = concat!("`", $name, "`: ", $about)] pub const $constant: Kind = Kind($code);)*
        }
        /// Every kind, by family.
        pub const KINDS: &[KindInfo] = &[
            $(KindInfo {
                kind: Kind::$constant,
                name: $name,
                version: 1,
                status: Status::$status,
                about: $about,
            },)*
        ];
    };
}

registry! {
    MEMORY_STORED = CRITICAL | 0x0101, "memory.stored", Written, "A memory was stored.";
    MEMORY_UPDATED = CRITICAL | 0x0102, "memory.updated", Written, "Fields of a memory got other values.";
    MEMORY_LINKED = CRITICAL | 0x0103, "memory.linked", Written, "A memory was linked to another one, or confirmed.";
    MEMORY_UNLINKED = CRITICAL | 0x0104, "memory.unlinked", Written, "Links of a memory were taken away.";
    MEMORY_RECALLED = 0x0105, "memory.recalled", Written, "A recall, a hook or a wake-up pack showed memories.";
    MEMORY_FORGOTTEN = CRITICAL | 0x0106, "memory.forgotten", Written, "A memory was forgotten.";
    MEMORY_REVIVED = CRITICAL | 0x0107, "memory.revived", Written, "A forgotten memory was brought back.";
    MEMORY_DECAYED = CRITICAL | 0x0108, "memory.decayed", Written, "The memories of the store faded up to a day.";
    MEMORY_PRUNED = CRITICAL | 0x0109, "memory.pruned", Written, "Memories below a weight were forgotten.";
    MEMORY_CONSOLIDATED = CRITICAL | 0x010a, "memory.consolidated", Written, "A summary of memories was stored.";
    MEMORY_PINNED = 0x010b, "memory.pinned", Written, "A memory was pinned.";
    MEMORY_UNPINNED = 0x010c, "memory.unpinned", Written, "The pin of a memory was taken away.";
    MEMORY_EXPIRED = 0x010d, "memory.expired", Written, "The condition of a memory came true.";
    MEMOIR_CREATED = 0x0201, "memoir.created", Written, "A memoir was created.";
    MEMOIR_DESCRIBED = 0x0202, "memoir.described", Written, "A memoir got another description.";
    MEMOIR_FORGOTTEN = 0x0203, "memoir.forgotten", Written, "A memoir was forgotten.";
    MEMOIR_REVIVED = 0x0204, "memoir.revived", Written, "A forgotten memoir was brought back.";
    CONCEPT_ADDED = 0x0301, "concept.added", Written, "A concept was added to a memoir.";
    CONCEPT_REFINED = 0x0302, "concept.refined", Written, "A concept got another definition or confidence.";
    CONCEPT_LABELLED = 0x0303, "concept.labelled", Written, "A concept got labels.";
    CONCEPT_UNLABELLED = 0x0304, "concept.unlabelled", Written, "A concept lost labels.";
    CONCEPT_LINKED = 0x0305, "concept.linked", Written, "A concept was linked to another concept or to a memory.";
    CONCEPT_UNLINKED = 0x0306, "concept.unlinked", Written, "Links of a concept were taken away.";
    CONCEPT_FORGOTTEN = 0x0307, "concept.forgotten", Written, "A concept was forgotten.";
    CONCEPT_REVIVED = 0x0308, "concept.revived", Written, "A forgotten concept was brought back.";
    FEEDBACK_RECORDED = 0x0401, "feedback.recorded", Written, "A wrong prediction was corrected.";
    FEEDBACK_APPLIED = 0x0402, "feedback.applied", Written, "A memory was called wrong or useful.";
    TRANSCRIPT_SESSION_STARTED = 0x0501, "transcript.session_started", Reserved, "The transcript of a session began.";
    TRANSCRIPT_MESSAGE_RECORDED = 0x0502, "transcript.message_recorded", Reserved, "A transcript got a message.";
    SESSION_STARTED = 0x0601, "session.started", Written, "A session began, or went on with a fresh context.";
    SESSION_ENDED = 0x0602, "session.ended", Written, "A session ended.";
    ALERT_SET = 0x0701, "alert.set", Written, "A reminder was set for a session or a project.";
    ALERT_DELIVERED = 0x0702, "alert.delivered", Written, "Reminders were shown.";
    LOG_ORIGIN_STARTED = CRITICAL | 0x0f01, "log.origin_started", Written, "A machine began a chain of its own.";
    LOG_ACTOR_NAMED = 0x0f02, "log.actor_named", Written, "An actor wrote for the first time.";
    LOG_IMPORTED = CRITICAL | 0x0f03, "log.imported", Written, "Events of other machines were added to the log.";
    LOG_UNDONE = CRITICAL | 0x0f04, "log.undone", Written, "Earlier events were undone.";
    LOG_REDACTED = CRITICAL | 0x0f05, "log.redacted", Written, "The texts of earlier events were taken out for good.";
    LOG_REPAIRED = CRITICAL | 0x0f06, "log.repaired", Written, "Events or texts that are lost were noted.";
}

/// Returns the family in the name of a kind: `memory` for `memory.stored`.
pub fn family_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(family, _)| family)
}

/// Returns the verb in the name of a kind: `stored` for `memory.stored`.
pub fn verb_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, verb)| verb)
}

impl Kind {
    /// Returns the row of the kind in the registry, if it has one.
    pub fn info(self) -> Option<&'static KindInfo> {
        KINDS.iter().find(|row| row.kind == self)
    }

    /// Returns `family.verb`, or `unknown.8f07` with the code in hexadecimal digits.
    pub fn name(self) -> String {
        match self.info() {
            Some(row) => row.name.to_owned(),
            None => format!("unknown.{:04x}", self.0),
        }
    }

    /// Returns the kind with this name.
    pub fn parse(name: &str) -> Option<Kind> {
        KINDS
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.kind)
    }

    /// Returns the family in its name; `unknown` for a kind without a row in the registry.
    pub fn family(self) -> &'static str {
        self.info().map_or("unknown", |row| family_of(row.name))
    }

    /// Returns `true` if folds must know the kind.
    pub fn is_critical(self) -> bool {
        self.0 & CRITICAL != 0
    }

    /// Returns `true` if undo reaches events of this kind: all kinds, except those of the log itself other than the
    /// undos, and deliveries of alerts, which were shown.
    pub fn can_be_undone(self) -> bool {
        let stays = self.family() == "log" || self == Kind::ALERT_DELIVERED;
        self == Kind::LOG_UNDONE || !stays
    }

    /// Returns `true` if this binary folds `version` of the kind as its author meant it. Folds skip an event that is
    /// neither understood nor critical.
    pub fn is_understood(self, version: u16) -> bool {
        self.info().is_some_and(|row| {
            row.status != Status::Reserved && version >= 1 && version <= row.version
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_and_names_are_unique() {
        let codes: BTreeSet<_> = KINDS.iter().map(|row| row.kind.0 & !CRITICAL).collect();
        let names: BTreeSet<_> = KINDS.iter().map(|row| row.name).collect();
        assert_eq!((codes.len(), names.len()), (KINDS.len(), KINDS.len()));
        for row in KINDS {
            assert_eq!(Kind::parse(row.name), Some(row.kind));
        }
    }

    #[test]
    fn a_name_is_a_family_and_a_verb() {
        for row in KINDS {
            let (family, verb) = (family_of(row.name), verb_of(row.name));
            assert_eq!(format!("{family}.{verb}"), row.name);
            assert_eq!(row.kind.family(), family);
            // All kinds of a family have one upper byte.
            let same = KINDS.iter().find(|other| other.kind.family() == family);
            let byte = |kind: Kind| (kind.0 & !CRITICAL) >> 8;
            assert_eq!(same.map(|other| byte(other.kind)), Some(byte(row.kind)));
        }
        let newer = Kind(0x0177);
        assert_eq!(
            (newer.family(), family_of(&newer.name())),
            ("unknown", "unknown")
        );
    }

    #[test]
    fn what_the_log_is_made_of_cannot_be_undone() {
        let stay = KINDS.iter().filter(|row| !row.kind.can_be_undone());
        let stay: Vec<_> = stay.map(|row| row.name).collect();
        assert_eq!(
            stay.join(" "),
            "alert.delivered log.origin_started log.actor_named log.imported log.redacted log.repaired"
        );
    }

    #[test]
    fn reserved_and_newer_are_not_understood() {
        assert!(Kind::MEMORY_STORED.is_understood(1));
        assert!(!Kind::MEMORY_STORED.is_understood(2));
        assert!(!Kind::MEMORY_STORED.is_understood(0));
        assert!(Kind::MEMORY_DECAYED.is_understood(1));
        assert!(!Kind::TRANSCRIPT_SESSION_STARTED.is_understood(1));
        assert!(!Kind(0x7777).is_understood(1));
        assert!(Kind::MEMORY_DECAYED.is_critical() && !Kind::MEMORY_RECALLED.is_critical());
    }
}
