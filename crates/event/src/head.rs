//! The head of an event: hashed, permanent, without free text. Byte layout in `schemas/envelope.md`.

use thiserror::Error;

use crate::hash;
use crate::id::{
    ActorId, CommandId, EventId, OriginId, Position, RequestKey, Seq, SessionId, SubjectId, Time,
};
use crate::kind::Kind;

/// The format version that this binary writes.
pub const FORMAT: u16 = 1;
/// Bytes of a head that mean the same in every format version.
pub const HEAD_COMMON_LEN: usize = 72;
/// Bytes of a head before its refs.
pub const HEAD_FIXED_LEN: usize = 208;
/// Most refs of an event.
pub const REFS_MAX: usize = 1_024;
/// Most bytes of facts of an event.
pub const FACTS_LEN_MAX: usize = 256 * 1_024;
/// Most bytes of a head, of any format version that this binary frames.
pub const HEAD_LEN_MAX: usize = HEAD_FIXED_LEN + REFS_MAX * 32 + FACTS_LEN_MAX;

/// Largest seq and position. Sums with them cannot overflow, and they fit a signed integer in every place that carries
/// them.
pub const PLACE_MAX: u64 = i64::MAX as u64;

/// The encoding of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// MessagePack, maps with field names.
    Msgpack,
}

impl Codec {
    const MSGPACK: u8 = 1;
}

/// The reason for which bytes are not a head that this binary can read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeadError {
    /// The bytes are fewer or more than the parts of the head need.
    #[error("the head is {len} bytes long, its parts need {need}")]
    Length {
        /// Number of bytes given.
        len: usize,
        /// Number of bytes that the counts in the head ask for.
        need: usize,
    },
    /// A newer version wrote the head.
    #[error("the head has format {format}, this version reads up to {FORMAT}")]
    NewerFormat {
        /// Format of the head.
        format: u16,
    },
    /// A field has a value that format 1 does not allow.
    #[error("the head's {field} is not one that format 1 allows")]
    Field {
        /// Name of the field.
        field: &'static str,
    },
}

/// An encoded head, read in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    bytes: &'a [u8],
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

/// The part of a head that every format version shares. It is enough to follow a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadCommon {
    /// Format version of the head.
    pub format: u16,
    /// Origin of the event.
    pub origin: OriginId,
    /// Place of the event in its chain.
    pub seq: Seq,
    /// Id of the event before it in the chain.
    pub prev: EventId,
    /// Time by the author's clock.
    pub time: Time,
}

impl HeadCommon {
    /// Reads the common part of a head of any format version. Returns `None` if the bytes are too short for it, or
    /// their number is not the length that the head names.
    pub fn parse(bytes: &[u8]) -> Option<HeadCommon> {
        Self::is_one(bytes).then(|| HeadCommon {
            format: u16_at(bytes, 0),
            origin: OriginId(origin_bytes(bytes)),
            seq: seq_of(bytes),
            prev: prev_of(bytes),
            time: Time(u64_at(bytes, 64)),
        })
    }

    /// Returns `true` if bytes can be a head of some format: long enough, and as long as the head says.
    pub(crate) fn is_one(bytes: &[u8]) -> bool {
        bytes.len() >= HEAD_COMMON_LEN && u32_at(bytes, 4) as usize == bytes.len()
    }
}

pub(crate) fn origin_bytes(head: &[u8]) -> [u8; 16] {
    array_at(head, 8)
}

pub(crate) fn seq_of(head: &[u8]) -> Seq {
    Seq(u64_at(head, 24))
}

pub(crate) fn prev_of(head: &[u8]) -> EventId {
    EventId(array_at(head, 32))
}

impl<'a> Head<'a> {
    /// Reads a head, which must fill `bytes` exactly.
    pub fn parse(bytes: &'a [u8]) -> Result<Head<'a>, HeadError> {
        if !HeadCommon::is_one(bytes) {
            return Err(HeadError::Length {
                len: bytes.len(),
                need: HEAD_COMMON_LEN,
            });
        }
        let format = u16_at(bytes, 0);
        if format > FORMAT {
            return Err(HeadError::NewerFormat { format });
        }
        if format == 0 {
            return Err(HeadError::Field { field: "format" });
        }
        if bytes.len() < HEAD_FIXED_LEN {
            return Err(HeadError::Length {
                len: bytes.len(),
                need: HEAD_FIXED_LEN,
            });
        }
        let refs = usize::from(u16_at(bytes, 86));
        let facts = u32_at(bytes, 92) as usize;
        let field = |field| Err(HeadError::Field { field });
        if refs > REFS_MAX {
            return field("number of refs");
        }
        if facts > FACTS_LEN_MAX {
            return field("length of facts");
        }
        let need = HEAD_FIXED_LEN + refs * 32 + facts;
        if need != bytes.len() {
            return Err(HeadError::Length {
                len: bytes.len(),
                need,
            });
        }
        if u16_at(bytes, 2) != 0 || bytes[85] != 0 {
            return field("reserved bytes");
        }
        if bytes[84] != Codec::MSGPACK {
            return field("payload codec");
        }
        let places = [u64_at(bytes, 24), u64_at(bytes, 72)];
        if places.iter().any(|place| *place == 0 || *place > PLACE_MAX) {
            return field("seq or position");
        }
        if u16_at(bytes, 88) >= u16_at(bytes, 90) {
            return field("place in its batch");
        }
        Ok(Head { bytes })
    }

    /// Returns the encoded head.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the event's id. Costs one hash; a scan knows the id without it.
    pub fn id(&self) -> EventId {
        hash::event_id(self.bytes)
    }

    /// Returns the origin of the event.
    pub fn origin(&self) -> OriginId {
        OriginId(array_at(self.bytes, 8))
    }

    /// Returns the place in the author's chain.
    pub fn seq(&self) -> Seq {
        Seq(u64_at(self.bytes, 24))
    }

    /// Returns the id of the event before this one in the chain; zero for the first event.
    pub fn prev(&self) -> EventId {
        EventId(array_at(self.bytes, 32))
    }

    /// Returns the time by the author's clock.
    pub fn time(&self) -> Time {
        Time(u64_at(self.bytes, 64))
    }

    /// Returns the position in the author's own order of learning.
    pub fn position(&self) -> Position {
        Position(u64_at(self.bytes, 72))
    }

    /// Returns the kind of the event.
    pub fn kind(&self) -> Kind {
        Kind(u16_at(self.bytes, 80))
    }

    /// Returns the version of the kind's facts and payload.
    pub fn kind_version(&self) -> u16 {
        u16_at(self.bytes, 82)
    }

    /// Returns the encoding of the payload.
    pub fn codec(&self) -> Codec {
        Codec::Msgpack
    }

    /// Returns the number of refs.
    pub fn ref_count(&self) -> usize {
        usize::from(u16_at(self.bytes, 86))
    }

    /// Returns the place of the event in its batch, from 0.
    pub fn batch_index(&self) -> u16 {
        u16_at(self.bytes, 88)
    }

    /// Returns the number of events in the batch.
    pub fn batch_count(&self) -> u16 {
        u16_at(self.bytes, 90)
    }

    /// Returns the subject that the event is about.
    pub fn subject(&self) -> SubjectId {
        SubjectId(array_at(self.bytes, 96))
    }

    /// Returns the id of the command that wrote the event.
    pub fn command(&self) -> CommandId {
        CommandId(array_at(self.bytes, 112))
    }

    /// Returns the id of the actor.
    pub fn actor(&self) -> ActorId {
        ActorId(array_at(self.bytes, 128))
    }

    /// Returns the commitment to salt and payload.
    pub fn commitment(&self) -> [u8; 32] {
        array_at(self.bytes, 144)
    }

    /// Returns the session; zero if the event has none.
    pub fn session(&self) -> SessionId {
        SessionId(array_at(self.bytes, 176))
    }

    /// Returns the request key; zero if the event has none.
    pub fn request(&self) -> RequestKey {
        RequestKey(array_at(self.bytes, 192))
    }

    /// Returns the ids of the events that this event observed and acts on.
    pub fn refs(&self) -> impl ExactSizeIterator<Item = EventId> + 'a {
        let end = HEAD_FIXED_LEN + self.ref_count() * 32;
        self.bytes[HEAD_FIXED_LEN..end]
            .chunks_exact(32)
            .map(|chunk| EventId(array_at(chunk, 0)))
    }

    /// Returns the encoded facts.
    pub fn facts(&self) -> &'a [u8] {
        &self.bytes[HEAD_FIXED_LEN + self.ref_count() * 32..]
    }
}

impl std::fmt::Debug for Head<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Head")
            .field("kind", &self.kind().name())
            .field("seq", &self.seq())
            .field("position", &self.position())
            .field("subject", &self.subject())
            .finish_non_exhaustive()
    }
}

/// The fields of a head that is about to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadFields<'a> {
    /// Origin of the event.
    pub origin: OriginId,
    /// Place in the chain, from 1.
    pub seq: Seq,
    /// Id of the event before this one; zero for the first event.
    pub prev: EventId,
    /// Time by the author's clock.
    pub time: Time,
    /// Position, from 1.
    pub position: Position,
    /// Kind of the event.
    pub kind: Kind,
    /// Version of the kind's facts and payload.
    pub kind_version: u16,
    /// Place in the batch, from 0.
    pub batch_index: u16,
    /// Number of events in the batch.
    pub batch_count: u16,
    /// The subject of the event.
    pub subject: SubjectId,
    /// The command that writes the event.
    pub command: CommandId,
    /// The actor.
    pub actor: ActorId,
    /// Commitment to salt and payload.
    pub commitment: [u8; 32],
    /// Session; zero for none.
    pub session: SessionId,
    /// Request key; zero for none.
    pub request: RequestKey,
    /// Events observed, at most [`REFS_MAX`].
    pub refs: &'a [EventId],
    /// Facts, at most [`FACTS_LEN_MAX`] bytes.
    pub facts: &'a [u8],
}

impl HeadFields<'_> {
    /// Returns the length of the encoded head in bytes.
    pub fn encoded_len(&self) -> usize {
        HEAD_FIXED_LEN + self.refs.len() * 32 + self.facts.len()
    }

    /// Appends the encoded head to `out`.
    ///
    /// # Panics
    /// If refs or facts exceed their ceilings; the writer checks both first.
    pub fn encode(&self, out: &mut Vec<u8>) {
        assert!(
            self.refs.len() <= REFS_MAX,
            "refs are checked before encoding"
        );
        assert!(
            self.facts.len() <= FACTS_LEN_MAX,
            "facts are checked before encoding"
        );
        let start = out.len();
        out.extend_from_slice(&FORMAT.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&(self.encoded_len() as u32).to_le_bytes());
        out.extend_from_slice(&self.origin.0);
        out.extend_from_slice(&self.seq.0.to_le_bytes());
        out.extend_from_slice(&self.prev.0);
        out.extend_from_slice(&self.time.0.to_le_bytes());
        out.extend_from_slice(&self.position.0.to_le_bytes());
        out.extend_from_slice(&self.kind.0.to_le_bytes());
        out.extend_from_slice(&self.kind_version.to_le_bytes());
        out.extend_from_slice(&[Codec::MSGPACK, 0]);
        out.extend_from_slice(&(self.refs.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.batch_index.to_le_bytes());
        out.extend_from_slice(&self.batch_count.to_le_bytes());
        out.extend_from_slice(&(self.facts.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.subject.0);
        out.extend_from_slice(&self.command.0);
        out.extend_from_slice(&self.actor.0);
        out.extend_from_slice(&self.commitment);
        out.extend_from_slice(&self.session.0);
        out.extend_from_slice(&self.request.0);
        debug_assert_eq!(
            out.len() - start,
            HEAD_FIXED_LEN,
            "the layout is what the docs say"
        );
        for id in self.refs {
            out.extend_from_slice(&id.0);
        }
        out.extend_from_slice(self.facts);
    }
}
