//! The record: an unhashed frame around a head and a body. Byte layout in `schemas/envelope.md`.
//!
//! ```text
//! first check (4) · head length (4) · body length (4) · body state (1) · zero (3) · synced (8)
//! head · second check (4) · body = salt (16) + payload, or nothing when withheld
//! ```
//! The first check covers the bytes after it up to the end of the head, the second check the body.

use crate::hash;
use crate::head::{self, HEAD_COMMON_LEN, HEAD_LEN_MAX, Head, HeadCommon, HeadError};
use crate::id::{EventId, OriginId, Seq};

/// Bytes of a frame before the head.
pub const FRAME_LEN: usize = 24;
/// Bytes of the second check, between head and body.
pub const SECOND_CHECK_LEN: usize = 4;
/// Random bytes before the payload.
pub const SALT_LEN: usize = 16;
/// Longest payload.
pub const PAYLOAD_LEN_MAX: usize = 1_024 * 1_024;
/// Longest record.
pub const RECORD_LEN_MAX: usize =
    FRAME_LEN + HEAD_LEN_MAX + SECOND_CHECK_LEN + SALT_LEN + PAYLOAD_LEN_MAX;

const STATE_PRESENT: u8 = 1;
const STATE_WITHHELD: u8 = 2;

/// The state of an event's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body<'a> {
    /// The body is whole: its check is good.
    Present {
        /// Random bytes, so that nobody can test a guessed payload against the commitment.
        salt: &'a [u8],
        /// The payload as stored.
        payload: &'a [u8],
    },
    /// A redaction took the body out.
    Withheld,
    /// The body is there, but its check fails.
    Damaged,
}

impl<'a> Body<'a> {
    /// Returns the payload, unless the body is withheld or damaged.
    pub fn payload(&self) -> Option<&'a [u8]> {
        match self {
            Body::Present { payload, .. } => Some(payload),
            Body::Withheld | Body::Damaged => None,
        }
    }
}

/// A record, read in place.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The whole record.
    pub bytes: &'a [u8],
    /// Newest seq that the writer knew to be durable when it wrote the record.
    pub synced: Seq,
    /// The encoded head; its check is good.
    pub head: &'a [u8],
    /// The body.
    pub body: Body<'a>,
}

impl<'a> Record<'a> {
    /// Reads the head. Fails if this version cannot read it.
    pub fn parse_head(&self) -> Result<Head<'a>, HeadError> {
        Head::parse(self.head)
    }

    /// Returns the part of the head that every format shares.
    pub fn common(&self) -> HeadCommon {
        HeadCommon::parse(self.head).expect("a record's head was looked at when it was parsed")
    }

    /// Returns the event's place in its chain.
    pub fn seq(&self) -> Seq {
        head::seq_of(self.head)
    }

    /// Returns `true` if the record belongs to this chain.
    pub fn is_of(&self, origin: OriginId) -> bool {
        head::origin_bytes(self.head) == origin.0
    }

    /// Returns the id of the event before this one in its chain.
    pub fn prev(&self) -> EventId {
        head::prev_of(self.head)
    }

    /// Returns `true` if the record has the seq after that of `before` and the same origin. Ids are not compared.
    pub fn follows(&self, before: &Record<'_>) -> bool {
        self.seq().0 == before.seq().0.wrapping_add(1)
            && head::origin_bytes(self.head) == head::origin_bytes(before.head)
    }

    /// Returns `true` if salt and payload match the commitment in the head. Costs a hash of the body.
    pub fn keeps_commitment(&self, head: &Head<'_>) -> bool {
        match self.body {
            Body::Present { salt, .. } => {
                let start = self.bytes.len() - self.body_len();
                debug_assert_eq!(
                    &self.bytes[start..start + SALT_LEN],
                    salt,
                    "salt leads the body"
                );
                hash::commitment(&self.bytes[start..]) == head.commitment()
            }
            Body::Withheld | Body::Damaged => false,
        }
    }

    fn body_len(&self) -> usize {
        self.bytes.len() - FRAME_LEN - self.head.len() - SECOND_CHECK_LEN
    }
}

/// The lengths and states of a record whose first check is good. With them the same bytes can be read again without
/// another check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    head_len: usize,
    body_len: usize,
    withheld: bool,
    second_good: bool,
}

impl Shape {
    /// Returns the length of the whole record in bytes.
    pub fn record_len(&self) -> usize {
        FRAME_LEN + self.head_len + SECOND_CHECK_LEN + self.body_len
    }

    /// Returns the record at the start of `bytes`. These must be the bytes from which the shape was read.
    pub fn view<'a>(&self, bytes: &'a [u8]) -> Record<'a> {
        let bytes = &bytes[..self.record_len()];
        let head_end = FRAME_LEN + self.head_len;
        let head = &bytes[FRAME_LEN..head_end];
        let body = if !self.second_good {
            Body::Damaged
        } else if self.withheld {
            Body::Withheld
        } else {
            let (salt, payload) = bytes[head_end + SECOND_CHECK_LEN..].split_at(SALT_LEN);
            Body::Present { salt, payload }
        };
        let mut synced = [0; 8];
        synced.copy_from_slice(&bytes[16..24]);
        Record {
            bytes,
            synced: Seq(u64::from_le_bytes(synced)),
            head,
            body,
        }
    }
}

/// The result of parsing bytes of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// The head length is 0: the records end here.
    End,
    /// The given bytes are too few to tell.
    Short {
        /// Least number of bytes needed, from the record's first byte.
        need: usize,
    },
    /// A record whose first check is good.
    Record(Shape),
    /// A frame whose first check is good, with a body state or reserved bytes that only a newer version understands. It
    /// is neither torn nor damaged.
    Newer,
    /// Not a record: the first check fails, or lengths and states make no sense.
    Bad,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Parses the record at the start of `bytes`. Checks ceilings first, and allocates nothing.
pub fn parse(bytes: &[u8]) -> Parsed {
    if bytes.len() < FRAME_LEN {
        let end = bytes.len() >= 8 && u32_at(bytes, 4) == 0;
        return if end {
            Parsed::End
        } else {
            Parsed::Short { need: FRAME_LEN }
        };
    }
    let head_len = u32_at(bytes, 4) as usize;
    let body_len = u32_at(bytes, 8) as usize;
    if head_len == 0 {
        return Parsed::End;
    }
    let head_fits = (HEAD_COMMON_LEN..=HEAD_LEN_MAX).contains(&head_len);
    if !head_fits || body_len > SALT_LEN + PAYLOAD_LEN_MAX {
        return Parsed::Bad;
    }
    let need = FRAME_LEN + head_len + SECOND_CHECK_LEN + body_len;
    if bytes.len() < need {
        return Parsed::Short { need };
    }
    let head_end = FRAME_LEN + head_len;
    if !HeadCommon::is_one(&bytes[FRAME_LEN..head_end])
        || crc32c::crc32c(&bytes[4..head_end]) != u32_at(bytes, 0)
    {
        return Parsed::Bad;
    }
    let withheld = match bytes[12] {
        _ if bytes[13..16] != [0; 3] => return Parsed::Newer,
        STATE_PRESENT if body_len >= SALT_LEN => false,
        STATE_WITHHELD if body_len == 0 => true,
        STATE_PRESENT | STATE_WITHHELD => return Parsed::Bad,
        _ => return Parsed::Newer,
    };
    let body = &bytes[head_end + SECOND_CHECK_LEN..need];
    let second_good = crc32c::crc32c(body) == u32_at(bytes, head_end);
    Parsed::Record(Shape {
        head_len,
        body_len,
        withheld,
        second_good,
    })
}

/// Appends a record to `out`. `head` is the encoded head; `body` is salt and payload, or `None` if withheld.
pub fn encode(out: &mut Vec<u8>, synced: Seq, head: &[u8], body: Option<(&[u8; SALT_LEN], &[u8])>) {
    let start = out.len();
    let body_len = body.map_or(0, |(salt, payload)| salt.len() + payload.len());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&(head.len() as u32).to_le_bytes());
    out.extend_from_slice(&(body_len as u32).to_le_bytes());
    out.push(if body.is_some() {
        STATE_PRESENT
    } else {
        STATE_WITHHELD
    });
    out.extend_from_slice(&[0; 3]);
    out.extend_from_slice(&synced.0.to_le_bytes());
    out.extend_from_slice(head);
    let first = crc32c::crc32c(&out[start + 4..]);
    out[start..start + 4].copy_from_slice(&first.to_le_bytes());
    let check_at = out.len();
    out.extend_from_slice(&[0; SECOND_CHECK_LEN]);
    if let Some((salt, payload)) = body {
        out.extend_from_slice(salt);
        out.extend_from_slice(payload);
    }
    let second = crc32c::crc32c(&out[check_at + SECOND_CHECK_LEN..]);
    out[check_at..check_at + SECOND_CHECK_LEN].copy_from_slice(&second.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::HeadFields;
    use crate::id::{ActorId, CommandId, Position, RequestKey, SessionId};
    use crate::id::{SubjectId, Time};
    use crate::kind::Kind;

    fn record(payload: Option<&[u8]>) -> Vec<u8> {
        let mut head = Vec::new();
        HeadFields {
            origin: OriginId([1; 16]),
            seq: Seq(1),
            prev: EventId::ZERO,
            time: Time::from_ms(5),
            position: Position(1),
            kind: Kind::LOG_ACTOR_NAMED,
            kind_version: 1,
            batch_index: 0,
            batch_count: 1,
            subject: SubjectId::ZERO,
            command: CommandId::ZERO,
            actor: ActorId::ZERO,
            commitment: [0; 32],
            session: SessionId::ZERO,
            request: RequestKey::ZERO,
            refs: &[],
            facts: &[],
        }
        .encode(&mut head);
        let mut out = Vec::new();
        encode(
            &mut out,
            Seq(0),
            &head,
            payload.map(|payload| (&[7; SALT_LEN], payload)),
        );
        out
    }

    fn body_of(bytes: &[u8]) -> Option<Body<'_>> {
        match parse(bytes) {
            Parsed::Record(shape) => Some(shape.view(bytes).body),
            _ => None,
        }
    }

    #[test]
    fn every_flip_of_a_present_and_of_a_withheld_record_is_seen() {
        for payload in [Some(&b"payload"[..]), None] {
            let bytes = record(payload);
            let whole = body_of(&bytes).expect("a record");
            assert_ne!(whole, Body::Damaged);
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let body = body_of(&flipped);
                assert!(
                    matches!(body, None | Some(Body::Damaged)),
                    "bit {bit}: {body:?}"
                );
            }
        }
    }

    #[test]
    fn an_unknown_state_is_newer_and_never_bad() {
        for (at, value) in [(12, 3), (13, 1), (15, 0x80)] {
            let mut bytes = record(Some(b"payload"));
            bytes[at] = value;
            let head_len = u32_at(&bytes, 4) as usize;
            let check = crc32c::crc32c(&bytes[4..FRAME_LEN + head_len]);
            bytes[..4].copy_from_slice(&check.to_le_bytes());
            assert_eq!(parse(&bytes), Parsed::Newer, "byte {at}");
        }
    }
}
