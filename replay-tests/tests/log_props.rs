//! Invariants 1 and 3 to 7 as properties. Invariant 2 is in `log_crash`, 4 byte by byte in `log_flip`. Invariant 6 (the
//! same request twice) is in `requests_are_done_once` of `views_props`, because the service decides on it.

use std::path::Path;
use std::sync::Arc;

use icm_log::disk::Disk;
use icm_log::head::{Head, HeadFields};
use icm_log::record::{self, Body, Parsed};
use icm_log::segment::{SegmentHeader, SegmentName};
use icm_log::{
    ActorId, CommandId, Durability, EventId, Kind, Log, OriginId, Position, RequestKey, Seq,
    SessionId, SubjectId, Time, hash,
};
use proptest::prelude::*;
use replay_tests::logbed::{self, Bed, Step};
use replay_tests::simdisk::SimDisk;

const STORE: &str = "/home/store";

/// Returns numbers, often those at which arithmetic overflows.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(u64::MAX),
        Just(u64::MAX - 1),
        Just(i64::MAX as u64),
        Just(1 << 48),
        0..10_u64,
        any::<u64>(),
    ]
}

fn bytes_16() -> impl Strategy<Value = [u8; 16]> {
    prop_oneof![Just([0; 16]), Just([7; 16]), any::<[u8; 16]>()]
}

/// The fields of a head, owned.
#[derive(Debug, Clone)]
struct Fields {
    origin: [u8; 16],
    seq: u64,
    time: u64,
    position: u64,
    kind: u16,
    kind_version: u16,
    batch: (u16, u16),
    ids: [[u8; 16]; 5],
    refs: Vec<[u8; 32]>,
    facts: Vec<u8>,
    salt: [u8; 16],
    payload: Vec<u8>,
    withheld: bool,
    synced: u64,
}

fn kind() -> impl Strategy<Value = u16> {
    let known: Vec<u16> = icm_log::kind::KINDS.iter().map(|row| row.kind.0).collect();
    prop_oneof![8 => prop::sample::select(known), 1 => any::<u16>()]
}

fn facts() -> impl Strategy<Value = Vec<u8>> {
    // Small numbers are likely, so that counts and codes are sometimes valid.
    let byte = prop_oneof![3 => Just(0_u8), 2 => 0..5_u8, 1 => Just(0xff), 1 => any::<u8>()];
    prop::collection::vec(byte, 0..220)
}

fn fields() -> impl Strategy<Value = Fields> {
    let place = (bytes_16(), number(), number(), number(), kind(), 0..3_u16);
    let batch = prop_oneof![3 => Just((0, 1)), 1 => (0..3_u16, 0..3_u16)];
    let ids = [bytes_16(), bytes_16(), bytes_16(), bytes_16(), bytes_16()];
    let body = (
        any::<[u8; 16]>(),
        prop::collection::vec(any::<u8>(), 0..60),
        any::<bool>(),
    );
    let refs = prop::collection::vec(any::<[u8; 32]>(), 0..4);
    (place, batch, ids, refs, facts(), body, number()).prop_map(
        |(place, batch, ids, refs, facts, (salt, payload, withheld), synced)| Fields {
            origin: place.0,
            seq: place.1,
            time: place.2,
            position: place.3,
            kind: place.4,
            kind_version: place.5,
            batch,
            ids,
            refs,
            facts,
            salt,
            payload,
            withheld,
            synced,
        },
    )
}

impl Fields {
    fn head(&self, prev: EventId) -> Vec<u8> {
        let refs: Vec<_> = self.refs.iter().map(|id| EventId(*id)).collect();
        let mut body = self.salt.to_vec();
        body.extend_from_slice(&self.payload);
        let mut head = Vec::new();
        HeadFields {
            origin: OriginId(self.origin),
            seq: Seq(self.seq),
            prev,
            time: Time(self.time),
            position: Position(self.position),
            kind: Kind(self.kind),
            kind_version: self.kind_version,
            batch_index: self.batch.0,
            batch_count: self.batch.1,
            subject: SubjectId(self.ids[0]),
            command: CommandId(self.ids[1]),
            actor: ActorId(self.ids[2]),
            commitment: hash::commitment(&body),
            session: SessionId(self.ids[3]),
            request: RequestKey(self.ids[4]),
            refs: &refs,
            facts: &self.facts,
        }
        .encode(&mut head);
        head
    }

    /// Returns a record with valid checks, however odd its content.
    fn record(&self, prev: EventId) -> Vec<u8> {
        let mut bytes = Vec::new();
        let body = (!self.withheld).then_some((&self.salt, &self.payload[..]));
        record::encode(&mut bytes, Seq(self.synced), &self.head(prev), body);
        bytes
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Invariant 1: decoding returns the encoded fields, and encoding these gives the same bytes.
    #[test]
    fn heads_and_records_there_and_back(fields in fields()) {
        let bytes = fields.record(EventId([3; 32]));
        let Parsed::Record(shape) = record::parse(&bytes) else {
            panic!("what was encoded is a record");
        };
        prop_assert_eq!(shape.record_len(), bytes.len());
        let record = shape.view(&bytes);
        prop_assert_eq!(record.synced, Seq(fields.synced));
        let encoded = fields.head(EventId([3; 32]));
        prop_assert_eq!(record.head, &encoded[..]);
        match record.body {
            Body::Present { salt, payload } => {
                prop_assert_eq!((salt, payload), (&fields.salt[..], &fields.payload[..]));
            }
            Body::Withheld => prop_assert!(fields.withheld),
            Body::Damaged => prop_assert!(false, "its check is good"),
        }
        if let Ok(head) = Head::parse(&encoded) {
            prop_assert_eq!(head.bytes(), &encoded[..]);
            prop_assert_eq!(head.facts(), &fields.facts[..]);
            prop_assert_eq!(head.refs().map(|id| id.0).collect::<Vec<_>>(), fields.refs);
            prop_assert_eq!((head.seq().0, head.time().0), (fields.seq, fields.time));
            if !fields.withheld {
                prop_assert!(record.keeps_commitment(&head));
                prop_assert_eq!(replay_tests::golden::encode_again(&bytes), Ok(bytes));
            }
        }
    }

    /// Invariant 1, the other direction: accepted bytes are exactly those that encoding gives.
    #[test]
    fn accepted_bytes_are_canonical(fields in fields(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let mut head = fields.head(EventId::ZERO);
        let at = at.index(head.len());
        head[at] = to;
        let mut bytes = Vec::new();
        record::encode(&mut bytes, Seq(1), &head, Some((&fields.salt, &fields.payload)));
        if Head::parse(&head).is_ok() && matches!(record::parse(&bytes), Parsed::Record(_)) {
            prop_assert_eq!(replay_tests::golden::encode_again(&bytes), Ok(bytes));
        }
    }

    /// Invariant 5: no bytes make opening, reading or verifying panic or write.
    #[test]
    fn nothing_panics_on_records_that_say_odd_things(
        events in prop::collection::vec(fields(), 1..6),
        chained in any::<bool>(),
        header_seq in number(),
        name_seq in number(),
        tail in prop::collection::vec(any::<u8>(), 0..40),
        with_store in any::<bool>(),
    ) {
        let origin = events[0].origin;
        let mut bytes = SegmentHeader::new(OriginId(origin), Seq(header_seq)).encode().to_vec();
        let mut prev = EventId::ZERO;
        let mut first = EventId::ZERO;
        let (mut seq, mut position) = (name_seq, name_seq);
        for fields in &events {
            let mut fields = fields.clone();
            if chained {
                (fields.origin, fields.seq, fields.position) = (origin, seq, position);
                (seq, position) = (seq.wrapping_add(1), position.wrapping_add(1));
            }
            bytes.extend(fields.record(prev));
            prev = hash::event_id(&fields.head(prev));
            if first.is_zero() {
                first = prev;
            }
        }
        bytes.extend(tail);
        let name_seq = if chained { header_seq } else { name_seq };
        look_at(origin, SegmentName::new(Seq(name_seq), first), &bytes, with_store);
    }

    #[test]
    fn nothing_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400), whole_header in any::<bool>()) {
        let mut segment = Vec::new();
        if whole_header {
            segment.extend(SegmentHeader::new(OriginId([7; 16]), Seq(1)).encode());
        }
        segment.extend(bytes);
        look_at([7; 16], SegmentName::new(Seq(1), EventId([1; 32])), &segment, true);
    }

    /// Invariants 3 and 7 on random workloads.
    #[test]
    fn chains_are_gapless_and_looking_changes_nothing(steps in steps(), back_ms in 0..3_000_i64) {
        let mut bed = Bed::new();
        for step in &steps {
            bed.run(std::slice::from_ref(step));
            bed.env.advance_ms(-back_ms);
        }
        prop_assert!(bed.errors.is_empty(), "{:?}", bed.errors);
        let found = bed.check_contents(&bed.disk.kill());
        prop_assert_eq!(found, Ok(bed.tried.len()));
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1..4_usize, 1..2_000_usize).prop_map(|(count, len)| Step::Append(count, len)),
        2 => (1..3_usize, 1..500_usize).prop_map(|(count, len)| Step::Lazy(count, len)),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..12)
}

/// Opens, reads and verifies a store with this one segment. The log may refuse it, but must not panic or write.
fn look_at(origin: [u8; 16], name: SegmentName, bytes: &[u8], with_store: bool) {
    let mut bed = Bed::new();
    bed.run(&[Step::Append(1, 10)]);
    let disk = SimDisk::new();
    let mut files = bed.disk.below(Path::new(STORE));
    files.retain(|path, _| with_store && path.ends_with("store.toml"));
    let path = Path::new("log")
        .join(OriginId(origin).to_string())
        .join(name.to_string());
    files.insert(path, bytes.to_vec());
    if let Some(text) = files.get_mut(Path::new("store.toml")) {
        adopt(text, OriginId(origin));
    }
    disk.hold(Path::new(STORE), &files);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    if let Ok(log) = Log::open(shared, Path::new(STORE)) {
        let _ = logbed::read(&log);
        let _ = log.scan_back(None, &mut |_| std::ops::ControlFlow::Continue(()));
        let _ = log.verify(&mut |_| {});
        let _ = log.heads();
        let _ = log.at_time(5, &());
        let _ = log.at_position(Position(2), &());
        let _ = log.cursor_before(Position(2), &());
        assert_eq!(disk.below(Path::new(STORE)), files, "looking changed bytes");
        let env = replay_tests::env::SimEnv::new(3);
        let _ = logbed::append(&log, &env, vec![logbed::numbered(1, 5)], Durability::Synced);
    }
}

/// Makes `store.toml` name another origin, with a valid check.
fn adopt(text: &mut Vec<u8>, origin: OriginId) {
    let old = String::from_utf8(text.clone()).expect("it is text");
    let lines: Vec<String> = old
        .lines()
        .map(|line| match line.starts_with("origin = ") {
            true => format!("origin = \"{origin}\""),
            false => line.to_owned(),
        })
        .collect();
    let at = lines
        .iter()
        .position(|line| line.starts_with("format"))
        .expect("it has a format");
    let body = lines[at..].join("\n") + "\n";
    let mut head = lines[..at].to_vec();
    for line in &mut head {
        if line.starts_with("# check ") {
            *line = format!("# check {:08x}", crc32c(body.as_bytes()));
        }
    }
    *text = format!("{}\n{body}", head.join("\n")).into_bytes();
}

/// Computes CRC-32C bit by bit, independently of the log's code.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 {
                crc >> 1 ^ 0x82f6_3b78
            } else {
                crc >> 1
            }
        })
    })
}

#[test]
fn the_store_file_of_these_tests_is_accepted() {
    let mut bed = Bed::new();
    bed.run(&[Step::Append(1, 10)]);
    let path = Path::new(STORE).join("store.toml");
    let mut text = bed.disk.contents(&path);
    adopt(&mut text, OriginId([7; 16]));
    bed.disk.put(&path, &text);
    let log = Log::open(Arc::new(bed.disk.kill()), Path::new(STORE)).expect("it opens");
    assert_eq!(log.origin(), Some(OriginId([7; 16])), "{:?}", log.refusal());
}
