//! The header of a bundle and the marks between its records.

use icm_event::head::FORMAT;
use icm_event::id::{EventId, OriginId, Seq};

/// The first bytes of a bundle. CR LF and ^Z show that a file went through a text-mode copy.
pub const MAGIC: [u8; 8] = *b"\x89ICX\r\n\x1a\n";
/// Bytes of the header.
pub(super) const HEADER_LEN: usize = 64;
/// Bytes of a mark.
pub(super) const MARK_LEN: usize = 96;

const RANGE: [u8; 4] = *b"RANG";
const DONE: [u8; 4] = *b"DONE";

/// The reason for which bytes are not the header of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderError {
    /// The file is of another kind.
    NoBundle,
    /// Only a newer version reads this bundle.
    Newer { oldest_reader: u16 },
    /// The header of the bundle is damaged.
    Damaged,
}

pub(super) fn header() -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&FORMAT.to_le_bytes());
    bytes[10..12].copy_from_slice(&1_u16.to_le_bytes());
    let check = crc32c::crc32c(&bytes[..60]);
    bytes[60..].copy_from_slice(&check.to_le_bytes());
    bytes
}

pub(super) fn check_header(bytes: &[u8]) -> Result<(), HeaderError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(HeaderError::NoBundle);
    }
    let Some(bytes) = bytes.first_chunk::<HEADER_LEN>() else {
        return Err(HeaderError::Damaged);
    };
    if crc32c::crc32c(&bytes[..60]).to_le_bytes() != bytes[60..] {
        return Err(HeaderError::Damaged);
    }
    let format = u16::from_le_bytes([bytes[8], bytes[9]]);
    let oldest_reader = u16::from_le_bytes([bytes[10], bytes[11]]);
    match oldest_reader {
        0 => Err(HeaderError::Damaged),
        _ if oldest_reader > FORMAT => Err(HeaderError::Newer { oldest_reader }),
        _ if oldest_reader > format => Err(HeaderError::Damaged),
        _ if format <= FORMAT && bytes[12..60].iter().any(|byte| *byte != 0) => {
            Err(HeaderError::Damaged)
        }
        _ => Ok(()),
    }
}

/// A mark: bytes between the records of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The start of a range.
    Range {
        origin: OriginId,
        base: EventId,
        from_seq: Seq,
    },
    /// The end of the bundle.
    Done {
        ranges: u64,
        events: u64,
        digest: [u8; 32],
    },
}

impl Mark {
    pub(super) fn encode(&self) -> [u8; MARK_LEN] {
        let mut bytes = [0; MARK_LEN];
        match self {
            Mark::Range {
                origin,
                base,
                from_seq,
            } => {
                bytes[8..12].copy_from_slice(&RANGE);
                bytes[16..32].copy_from_slice(&origin.0);
                bytes[32..64].copy_from_slice(&base.0);
                bytes[64..72].copy_from_slice(&from_seq.0.to_le_bytes());
            }
            Mark::Done {
                ranges,
                events,
                digest,
            } => {
                bytes[8..12].copy_from_slice(&DONE);
                bytes[16..24].copy_from_slice(&ranges.to_le_bytes());
                bytes[24..32].copy_from_slice(&events.to_le_bytes());
                bytes[32..64].copy_from_slice(digest);
            }
        }
        let check = crc32c::crc32c(&bytes[4..]);
        bytes[..4].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads a mark; `None` if the bytes are not a mark.
    pub(super) fn parse(bytes: &[u8]) -> Option<Mark> {
        let bytes = bytes.first_chunk::<MARK_LEN>()?;
        if crc32c::crc32c(&bytes[4..]).to_le_bytes() != bytes[..4] {
            return None;
        }
        let number = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(eight)
        };
        let mut long = [0; 32];
        long.copy_from_slice(&bytes[32..64]);
        let mark = match [bytes[8], bytes[9], bytes[10], bytes[11]] {
            RANGE => {
                let mut origin = [0; 16];
                origin.copy_from_slice(&bytes[16..32]);
                Mark::Range {
                    origin: OriginId(origin),
                    base: EventId(long),
                    from_seq: Seq(number(64)),
                }
            }
            DONE => Mark::Done {
                ranges: number(16),
                events: number(24),
                digest: long,
            },
            _ => return None,
        };
        (mark.encode() == *bytes).then_some(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_and_every_flip_is_seen() {
        let marks = [
            Mark::Range {
                origin: OriginId([1; 16]),
                base: EventId([2; 32]),
                from_seq: Seq(3),
            },
            Mark::Done {
                ranges: 4,
                events: 5,
                digest: [6; 32],
            },
        ];
        for mark in marks {
            let bytes = mark.encode();
            assert_eq!(Mark::parse(&bytes), Some(mark));
            for bit in 0..MARK_LEN * 8 {
                let mut flipped = bytes;
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Mark::parse(&flipped), None, "bit {bit}");
            }
            assert_eq!(Mark::parse(&bytes[..MARK_LEN - 1]), None);
        }
        let bytes = header();
        assert_eq!(check_header(&bytes), Ok(()));
        for bit in 0..HEADER_LEN * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(check_header(&flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_newer_bundle_says_so() {
        let with = |format: u16, oldest_reader: u16, reserved: u8| {
            let mut bytes = header();
            bytes[8..10].copy_from_slice(&format.to_le_bytes());
            bytes[10..12].copy_from_slice(&oldest_reader.to_le_bytes());
            bytes[59] = reserved;
            let check = crc32c::crc32c(&bytes[..60]);
            bytes[60..].copy_from_slice(&check.to_le_bytes());
            check_header(&bytes)
        };
        assert_eq!(with(2, 2, 0), Err(HeaderError::Newer { oldest_reader: 2 }));
        assert_eq!(with(2, 1, 7), Ok(()), "format 2 lets readers of 1 open it");
        assert_eq!(with(1, 1, 7), Err(HeaderError::Damaged));
        assert_eq!(with(1, 0, 0), Err(HeaderError::Damaged));
        assert_eq!(check_header(b"PK\x03\x04"), Err(HeaderError::NoBundle));
    }
}
