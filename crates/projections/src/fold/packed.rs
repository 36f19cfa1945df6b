//! Packed rows: the facts that the rules of the fold and the state digest need of a row, in few bytes. Their texts
//! stand elsewhere.
//!
//! Fields that place a version in history (position, actor, ordinal …) are left out: the next version has its own.

use icm_log::facts::{Importance, ScopeKind, Trust};
use icm_log::{ActorId, EventId, Name, OriginId, Position, SubjectId, Time};

use super::record::{
    Carried, Family, FeedbackRow, GraphRow, Keyword, Source, Stamp, Version, Writer,
};
use super::texts::Span;

const HAS_NAME: u32 = 1 << 16;
const HAS_OCCURRED: u32 = 1 << 17;
const HAS_KEYWORDS: u32 = 1 << 18;
/// One writer holds every value: the writer that the id is from.
const ONE_WRITER: u32 = 1 << 19;
const HIDDEN: u32 = 1 << 20;
/// The newest event of the row is not the one that the id is from.
const HAS_HEADS: u32 = 1 << 21;
const IS_MEMOIR: u32 = 1 << 22;
const IS_CONCEPT: u32 = 1 << 23;
const HAS_CARRIED: u32 = 1 << 24;
const IS_PINNED: u32 = 1 << 25;
const HAS_EXPIRY: u32 = 1 << 26;
const HAS_EXPIRED: u32 = 1 << 27;
const IS_FEEDBACK: u32 = 1 << 30;

/// Appends a packed row.
pub(super) fn pack(version: &Version<Span>, out: &mut Vec<u8>) {
    let texts = version.texts();
    let mut has = 0;
    for (bit, _) in texts.iter().enumerate().filter(|(_, text)| text.is_some()) {
        has |= 1 << bit;
    }
    let sole = match &version.writers[..] {
        [writer] if writer.stamp == version.id_stamp => Some(writer),
        _ => None,
    };
    for (given, bit) in [
        (!version.name.is_zero(), HAS_NAME),
        (version.occurred_at_ms.is_some(), HAS_OCCURRED),
        (!version.keywords.is_empty(), HAS_KEYWORDS),
        (sole.is_some(), ONE_WRITER),
        (version.hidden, HIDDEN),
        (version.heads() != [version.id_stamp.event], HAS_HEADS),
        (version.family() == Family::Memoir, IS_MEMOIR),
        (version.family() == Family::Concept, IS_CONCEPT),
        (version.carried.is_some(), HAS_CARRIED),
        (version.pinned_until_ms.is_some(), IS_PINNED),
        (version.expiry.is_some(), HAS_EXPIRY),
        (version.expired.is_some(), HAS_EXPIRED),
        (version.feedback.is_some(), IS_FEEDBACK),
    ] {
        has |= if given { bit } else { 0 };
    }
    let mut put = |bytes: &[u8]| out.extend_from_slice(bytes);
    put(&has.to_le_bytes());
    put(&version.id.0);
    put_stamp(&mut put, &version.id_stamp);
    put(&version.author.0);
    put(&version.causal_length.to_le_bytes());
    put(&version.withheld.to_le_bytes());
    put(&version.weight_ppm.to_le_bytes());
    put(&[
        version.scope_kind.code(),
        version.importance.code(),
        version.trust.code(),
    ]);
    put(&version.created_ms.to_le_bytes());
    put(&version.updated_ms.to_le_bytes());
    for span in texts.into_iter().flatten() {
        put(&span.bits().to_le_bytes());
    }
    if has & HAS_NAME != 0 {
        put(&version.name.0);
    }
    if let Some(ms) = version.occurred_at_ms {
        put(&ms.to_le_bytes());
    }
    if let Some(carried) = &version.carried {
        put(&carried.created_ms.to_le_bytes());
        put(&carried.updated_ms.to_le_bytes());
    }
    if let Some(until_ms) = version.pinned_until_ms {
        put(&until_ms.to_le_bytes());
    }
    if let Some(expiry) = &version.expiry {
        // Few rows have a condition, so its texts are not kept in the arena.
        let bytes = rmp_serde::to_vec(expiry).expect("a condition can be written");
        put(&(bytes.len() as u32).to_le_bytes());
        put(&bytes);
    }
    if let Some(event) = &version.expired {
        put(&event.0);
    }
    if has & HAS_KEYWORDS != 0 {
        put(&(version.keywords.len() as u32).to_le_bytes());
        for keyword in &version.keywords {
            put(&keyword.event.0);
            put(&keyword.index.to_le_bytes());
            put(&keyword.text.map_or(0, |span| span.bits()).to_le_bytes());
        }
    }
    if has & HAS_HEADS != 0 {
        put(&(version.heads().len() as u32).to_le_bytes());
        version.heads().iter().for_each(|event| put(&event.0));
    }
    if let Some(row) = &version.graph
        && let Some(memoir) = row.memoir
    {
        put(&memoir.0);
        put(&row.confidence_ppm.to_le_bytes());
        put(&row.revision.to_le_bytes());
    }
    if let Some(row) = &version.feedback {
        put(&row.memory.unwrap_or(SubjectId::ZERO).0);
        put(&[row.verdict]);
        put(&row.context_len.to_le_bytes());
        put(&row.predicted_len.to_le_bytes());
    }
    if let Some(writer) = sole {
        put(&writer.fields.to_le_bytes());
        return;
    }
    put(&(version.writers.len() as u32).to_le_bytes());
    for writer in &version.writers {
        put_stamp(&mut put, &writer.stamp);
        put(&writer.fields.to_le_bytes());
    }
}

fn put_stamp(put: &mut impl FnMut(&[u8]), stamp: &Stamp) {
    put(&stamp.time.0.to_le_bytes());
    put(&stamp.origin.0);
    put(&stamp.event.0);
}

/// Returns the row of packed bytes, with its writers if `writers` is set.
pub(super) fn unpack(bytes: &[u8], writers: bool) -> Version<Span> {
    let mut at = Reader(bytes);
    let has = at.u32();
    let id = SubjectId(at.take());
    let id_stamp = at.stamp();
    let author = ActorId(at.take());
    let (causal_length, withheld, weight_ppm) = (at.u32(), at.u32(), at.u32());
    let [scope_kind, importance, trust] = at.take();
    let (created_ms, updated_ms) = (at.u64(), at.u64());
    let mut version = Version {
        from: Position(0),
        stamp: id_stamp,
        kind: 0,
        actor: ActorId::ZERO,
        changed: 0,
        id,
        id_stamp,
        author,
        name: Name::ZERO,
        causal_length,
        length_seen: causal_length,
        hidden: has & HIDDEN != 0,
        ordinal: None,
        topic: None,
        content: None,
        raw_excerpt: None,
        key: None,
        scope_kind: ScopeKind::from_code(scope_kind).expect("it was packed"),
        scope: None,
        importance: Importance::from_code(importance).expect("it was packed"),
        trust: Trust::from_code(trust).expect("it was packed"),
        source: Source::default(),
        occurred_at_ms: None,
        pinned_until_ms: None,
        expiry: None,
        expired: None,
        metadata: None,
        keywords: Vec::new(),
        created_ms,
        updated_ms,
        carried: None,
        weight_ppm,
        withheld,
        writers: Vec::new(),
        heads: Vec::new(),
        graph: None,
        feedback: None,
    };
    for (bit, text) in version.texts_mut().into_iter().enumerate() {
        if has & (1 << bit) != 0 {
            *text = Span::of_bits(at.u64());
        }
    }
    if has & HAS_NAME != 0 {
        version.name = Name(at.take());
    }
    if has & HAS_OCCURRED != 0 {
        version.occurred_at_ms = Some(i64::from_le_bytes(at.take()));
    }
    if has & HAS_CARRIED != 0 {
        version.carried = Some(Carried {
            created_ms: i64::from_le_bytes(at.take()),
            updated_ms: i64::from_le_bytes(at.take()),
        });
    }
    if has & IS_PINNED != 0 {
        version.pinned_until_ms = Some(at.u64());
    }
    if has & HAS_EXPIRY != 0 {
        let len = at.u32() as usize;
        version.expiry = Some(rmp_serde::from_slice(at.bytes(len)).expect("it was packed"));
    }
    if has & HAS_EXPIRED != 0 {
        version.expired = Some(EventId(at.take()));
    }
    if has & HAS_KEYWORDS != 0 {
        let count = at.u32();
        version.keywords = (0..count).map(|_| at.keyword()).collect();
    }
    if has & HAS_HEADS != 0 {
        let count = at.u32();
        version.heads = (0..count).map(|_| EventId(at.take())).collect();
    }
    if has & IS_MEMOIR != 0 {
        version.graph = Some(GraphRow {
            memoir: None,
            confidence_ppm: 0,
            revision: 0,
        });
    }
    if has & IS_CONCEPT != 0 {
        version.graph = Some(at.concept());
    }
    if has & IS_FEEDBACK != 0 {
        version.feedback = Some(at.feedback());
    }
    if writers && has & ONE_WRITER != 0 {
        version.writers.push(Writer {
            stamp: id_stamp,
            fields: at.u32(),
        });
    } else if writers {
        let count = at.u32();
        version.writers = (0..count).map(|_| at.writer()).collect();
    }
    version
}

/// Reads bytes that this process packed, so they are whole.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().expect("it was packed");
        self.0 = rest;
        *first
    }

    fn bytes(&mut self, len: usize) -> &[u8] {
        let (first, rest) = self.0.split_at(len);
        self.0 = rest;
        first
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn stamp(&mut self) -> Stamp {
        Stamp {
            time: Time(self.u64()),
            origin: OriginId(self.take()),
            event: EventId(self.take()),
        }
    }

    fn concept(&mut self) -> GraphRow {
        GraphRow {
            memoir: Some(SubjectId(self.take())),
            confidence_ppm: self.u32(),
            revision: self.u32(),
        }
    }

    fn feedback(&mut self) -> FeedbackRow {
        let memory = SubjectId(self.take());
        let [verdict] = self.take();
        FeedbackRow {
            memory: (!memory.is_zero()).then_some(memory),
            verdict,
            context_len: self.u32(),
            predicted_len: self.u32(),
        }
    }

    fn keyword(&mut self) -> Keyword<Span> {
        Keyword {
            event: EventId(self.take()),
            index: u16::from_le_bytes(self.take()),
            text: Span::of_bits(self.u64()),
        }
    }

    fn writer(&mut self) -> Writer {
        Writer {
            stamp: self.stamp(),
            fields: self.u32(),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use icm_log::facts;

    use super::*;
    use crate::fold::record::Expiry;
    use crate::fold::texts::{Arena, Texts};

    fn stamp(n: u8) -> Stamp {
        Stamp {
            time: Time(u64::from(n) << 40),
            origin: OriginId([n; 16]),
            event: EventId([n; 32]),
        }
    }

    pub(in crate::fold) fn row(arena: &mut Arena) -> Version<Span> {
        let mut row = Version {
            from: Position(0),
            stamp: stamp(1),
            kind: 0,
            actor: ActorId::ZERO,
            changed: 0,
            id: SubjectId([9; 16]),
            id_stamp: stamp(1),
            author: ActorId([7; 16]),
            name: Name([8; 16]),
            causal_length: 3,
            length_seen: 3,
            hidden: false,
            ordinal: None,
            topic: None,
            content: None,
            raw_excerpt: None,
            key: None,
            scope_kind: ScopeKind::Project,
            scope: None,
            importance: Importance::High,
            trust: Trust::External,
            source: Source::default(),
            occurred_at_ms: Some(-5),
            pinned_until_ms: Some(16),
            expiry: Some(Box::new(Expiry {
                facts: facts::Expiry::of(facts::Condition::FILE_PRISTINE, 22, 23),
                set_by: EventId([24; 32]),
                path: Some("/a b".to_owned()),
                zone: None,
                len: Some(25),
                modified_ms: Some(-26),
                hash: Some("ab".to_owned()),
            })),
            expired: Some(EventId([27; 32])),
            metadata: None,
            keywords: Vec::new(),
            created_ms: 17,
            updated_ms: 18,
            carried: Some(Carried {
                created_ms: -17,
                updated_ms: -18,
            }),
            weight_ppm: 19,
            withheld: 20,
            writers: vec![Writer {
                stamp: stamp(1),
                fields: 21,
            }],
            heads: Vec::new(),
            graph: None,
            feedback: None,
        };
        for (n, text) in row.texts_mut().into_iter().enumerate() {
            *text = Some(arena.keep(&n.to_string()));
        }
        row
    }

    #[test]
    fn there_and_back() {
        let mut arena = Arena::default();
        let full = row(&mut arena);
        let mut rows = vec![full.clone()];
        for missing in 0..full.texts().len() {
            let mut row = full.clone();
            *row.texts_mut()[missing] = None;
            row.name = Name::ZERO;
            row.hidden = missing % 2 == 0;
            row.graph = (missing % 3 != 0).then(|| GraphRow {
                memoir: (missing % 3 == 1).then_some(SubjectId([5; 16])),
                confidence_ppm: if missing % 3 == 1 { 6 } else { 0 },
                revision: if missing % 3 == 1 { 7 } else { 0 },
            });
            row.feedback = (missing % 3 == 0).then(|| FeedbackRow {
                memory: (missing % 2 == 0).then_some(SubjectId([4; 16])),
                verdict: 1,
                context_len: 8,
                predicted_len: 9,
            });
            row.occurred_at_ms = None;
            row.carried = None;
            row.pinned_until_ms = None;
            row.expiry = None;
            row.expired = None;
            row.heads = (1..=missing as u8).map(|n| EventId([n + 1; 32])).collect();
            row.keywords = [Some(arena.keep("a")), None, Some(arena.keep(""))]
                .into_iter()
                .zip(0..)
                .map(|(text, index)| Keyword {
                    event: EventId([3; 32]),
                    index,
                    text,
                })
                .collect();
            row.writers = (0..missing as u8)
                .map(|n| Writer {
                    stamp: stamp(n + 2),
                    fields: 1 << n,
                })
                .collect();
            rows.push(row);
        }
        for row in rows {
            let mut bytes = Vec::new();
            pack(&row, &mut bytes);
            assert_eq!(unpack(&bytes, true), row);
            let shown = Version {
                writers: Vec::new(),
                ..row
            };
            assert_eq!(unpack(&bytes, false), shown);
        }
    }
}
