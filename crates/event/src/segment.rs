//! The header and the name of a segment, a log file of one origin.

use thiserror::Error;

use crate::head::FORMAT;
use crate::id::{EventId, OriginId, Seq, from_hex, to_hex};

/// Bytes of a segment's header.
pub const HEADER_LEN: usize = 64;
/// The first bytes of a segment. CR LF and ^Z show that a file went through a text-mode copy.
pub const MAGIC: [u8; 8] = *b"\x89ICM\r\n\x1a\n";
/// Bytes after which the writer closes a segment, before its next batch. Raised, segments get longer and fewer.
pub const SEGMENT_LEN_TARGET: u64 = 64 * 1_024 * 1_024;
/// Extension of a segment's file name.
pub const EXTENSION: &str = "icmlog";

/// A segment's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Format of the file.
    pub format: u16,
    /// Oldest format whose readers may open the file.
    pub oldest_reader: u16,
    /// Origin of the events.
    pub origin: OriginId,
    /// Seq of the first event.
    pub first_seq: Seq,
}

/// The reason for which bytes are not a segment header.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// Too few bytes, a wrong magic, or a failing check.
    #[error("not the header of a segment")]
    Bad,
    /// A field has a value that this format does not allow. The check is good, so a newer version may understand the
    /// value.
    #[error("the header's {field} is not one that format {FORMAT} allows")]
    Field {
        /// Name of the field.
        field: &'static str,
    },
    /// A newer version wrote the segment and does not let this version read it.
    #[error("the segment needs a reader of format {oldest_reader}, this version reads {FORMAT}")]
    NewerFormat {
        /// Oldest format whose readers may open the file.
        oldest_reader: u16,
    },
}

impl SegmentHeader {
    /// Returns the header of a segment that this version starts.
    pub fn new(origin: OriginId, first_seq: Seq) -> SegmentHeader {
        SegmentHeader {
            format: FORMAT,
            oldest_reader: 1,
            origin,
            first_seq,
        }
    }

    /// Encodes the header.
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.format.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.oldest_reader.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.origin.0);
        bytes[32..40].copy_from_slice(&self.first_seq.0.to_le_bytes());
        let check = crc32c::crc32c(&bytes[..60]);
        bytes[60..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads a header.
    pub fn parse(bytes: &[u8]) -> Result<SegmentHeader, HeaderError> {
        let Some(bytes) = bytes.first_chunk::<HEADER_LEN>() else {
            return Err(HeaderError::Bad);
        };
        let check = u32::from_le_bytes([bytes[60], bytes[61], bytes[62], bytes[63]]);
        if bytes[..8] != MAGIC || crc32c::crc32c(&bytes[..60]) != check {
            return Err(HeaderError::Bad);
        }
        let oldest_reader = u16::from_le_bytes([bytes[10], bytes[11]]);
        if oldest_reader > FORMAT {
            return Err(HeaderError::NewerFormat { oldest_reader });
        }
        let format = u16::from_le_bytes([bytes[8], bytes[9]]);
        if format == 0 || oldest_reader == 0 || oldest_reader > format {
            return Err(HeaderError::Field { field: "format" });
        }
        let reserved = bytes[12..16].iter().chain(&bytes[40..60]);
        if format <= FORMAT && reserved.into_iter().any(|byte| *byte != 0) {
            return Err(HeaderError::Field {
                field: "reserved bytes",
            });
        }
        let (mut origin, mut first_seq) = ([0; 16], [0; 8]);
        origin.copy_from_slice(&bytes[16..32]);
        first_seq.copy_from_slice(&bytes[32..40]);
        Ok(SegmentHeader {
            format,
            oldest_reader,
            origin: OriginId(origin),
            first_seq: Seq(u64::from_le_bytes(first_seq)),
        })
    }
}

/// The parts of a segment's file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SegmentName {
    /// Seq of the first event.
    pub first_seq: Seq,
    /// First eight bytes of the first event's id.
    pub first_event: [u8; 8],
}

impl SegmentName {
    /// Returns the name of the segment that starts with this event.
    pub fn new(first_seq: Seq, first_event: EventId) -> SegmentName {
        let mut short = [0; 8];
        short.copy_from_slice(&first_event.0[..8]);
        SegmentName {
            first_seq,
            first_event: short,
        }
    }

    /// Reads a file name; `None` if it is not the name of a segment.
    pub fn parse(name: &str) -> Option<SegmentName> {
        let (seq, event) = name.strip_suffix(".icmlog")?.split_once('-')?;
        if seq.len() != 20 || !seq.bytes().all(|b| b.is_ascii_digit()) || event.len() != 16 {
            return None;
        }
        let first_event = from_hex(event)?.try_into().ok()?;
        let parsed = SegmentName {
            first_seq: Seq(seq.parse().ok()?),
            first_event,
        };
        (parsed.to_string() == name).then_some(parsed)
    }
}

impl std::fmt::Display for SegmentName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:020}-{}.{EXTENSION}",
            self.first_seq.0,
            to_hex(&self.first_event)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_there_and_back_and_every_flip_is_seen() {
        let header = SegmentHeader::new(OriginId([7; 16]), Seq(42));
        let bytes = header.encode();
        assert_eq!(SegmentHeader::parse(&bytes), Ok(header));
        for bit in 0..HEADER_LEN * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                SegmentHeader::parse(&flipped),
                Err(HeaderError::Bad),
                "bit {bit}"
            );
        }
        assert_eq!(SegmentHeader::parse(&bytes[..63]), Err(HeaderError::Bad));
    }

    #[test]
    fn a_newer_segment_says_so() {
        let header = SegmentHeader {
            format: 2,
            oldest_reader: 2,
            ..SegmentHeader::new(OriginId([7; 16]), Seq(1))
        };
        assert_eq!(
            SegmentHeader::parse(&header.encode()),
            Err(HeaderError::NewerFormat { oldest_reader: 2 })
        );
    }

    #[test]
    fn reserved_bytes_are_zero_until_a_newer_format_uses_them() {
        let with = |format: u16, at: usize, value: u8| {
            let mut bytes = SegmentHeader {
                format,
                ..SegmentHeader::new(OriginId([7; 16]), Seq(1))
            }
            .encode();
            bytes[at] = value;
            let check = crc32c::crc32c(&bytes[..60]);
            bytes[60..].copy_from_slice(&check.to_le_bytes());
            SegmentHeader::parse(&bytes)
        };
        for at in [12, 15, 40, 59] {
            let field = "reserved bytes";
            assert_eq!(with(1, at, 1), Err(HeaderError::Field { field }));
            assert!(with(2, at, 1).is_ok(), "format 2 lets readers of 1 open it");
        }
        assert_eq!(with(1, 10, 0), Err(HeaderError::Field { field: "format" }));
        assert_eq!(with(0, 10, 1), Err(HeaderError::Field { field: "format" }));
    }

    #[test]
    fn names_sort_as_their_events() {
        let early = SegmentName::new(Seq(9), EventId([0xff; 32])).to_string();
        let late = SegmentName::new(Seq(10), EventId([0; 32])).to_string();
        assert!(early < late);
        assert_eq!(early, "00000000000000000009-ffffffffffffffff.icmlog");
        assert_eq!(
            SegmentName::parse(&early).map(|n| n.first_seq),
            Some(Seq(9))
        );
        assert_eq!(SegmentName::parse("0009-ffffffffffffffff.icmlog"), None);
        assert_eq!(
            SegmentName::parse("00000000000000000009-FFFFFFFFFFFFFFFF.icmlog"),
            None
        );
    }
}
