//! Identifiers, places and times: plain values. The caller hands in all randomness.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Returns the lower-case hexadecimal digits of `bytes`.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)] as char);
        text.push(DIGITS[usize::from(byte & 15)] as char);
    }
    text
}

/// Returns the bytes that `text` spells, or `None` unless `text` is an even number of hexadecimal digits.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| {
            let high = (pair[0] as char).to_digit(16)?;
            let low = (pair[1] as char).to_digit(16)?;
            u8::try_from(high * 16 + low).ok()
        })
        .collect()
}

macro_rules! bytes_newtype {
    ($(#[$meta:meta])* $name:ident, $len:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $len]);

        impl $name {
            /// All bytes zero: "none" in every optional field.
            pub const ZERO: $name = $name([0; $len]);

            /// Returns `true` if all bytes are zero.
            pub fn is_zero(&self) -> bool {
                self.0 == [0; $len]
            }

            /// Reads the hexadecimal digits of all bytes; `None` for any other number of digits.
            pub fn parse_hex(text: &str) -> Option<Self> {
                Some($name(from_hex(text)?.try_into().ok()?))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&to_hex(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), to_hex(&self.0))
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(&to_hex(&self.0))
                } else {
                    serializer.serialize_bytes(&self.0)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "{} bytes", $len)
                    }
                    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<$name, E> {
                        bytes.try_into().map($name).map_err(|_| E::invalid_length(bytes.len(), &self))
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse_hex(text).ok_or_else(|| E::custom("not hexadecimal digits"))
                    }
                }
                if deserializer.is_human_readable() {
                    deserializer.deserialize_str(Visitor)
                } else {
                    deserializer.deserialize_bytes(Visitor)
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": format!("^[0-9a-f]{{{}}}$", $len * 2),
                    "description": format!("{} bytes, as hexadecimal digits", $len),
                })
            }
        }
    };
}

bytes_newtype!(
    /// Id of an origin, one writing installation: 16 random bytes, minted at the first write.
    OriginId,
    16
);
bytes_newtype!(
    /// Id of an event: BLAKE3 of its head.
    EventId,
    32
);
bytes_newtype!(
    /// Id of the subject of an event: a memory, concept, actor …. A ULID or random bytes, never derived from content.
    /// Zero for an event about nothing in particular.
    SubjectId,
    16
);
bytes_newtype!(
    /// Id of a command, shared by all events that it wrote.
    CommandId,
    16
);
bytes_newtype!(
    /// Id of an actor. The event `log.actor_named` gives its name.
    ActorId,
    16
);
bytes_newtype!(
    /// Id of a session; zero for none.
    SessionId,
    16
);
bytes_newtype!(
    /// Keyed hash of a client's idempotency key; zero for none. It means nothing outside its store.
    RequestKey,
    16
);
bytes_newtype!(
    /// Digest of the name of a memory, memoir or concept; zero for none. Of all digests of text, only this one outlives
    /// a redaction.
    Name,
    16
);
bytes_newtype!(
    /// Digest of the name of a project or session; zero for the global scope.
    ScopeId,
    16
);

macro_rules! number_newtype {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize,
            Deserialize, schemars::JsonSchema,
        )]
        #[serde(transparent)]
        #[schemars(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_newtype!(
    /// Place of an event in its chain, from 1, without gaps. 0 means "before the first event".
    Seq
);
number_newtype!(
    /// Place of an event in this machine's order of learning, from 1. 0 means "before the first event".
    Position
);

/// Time by the author's clock: 48 bits of milliseconds since 1970-01-01 UTC, then a counter of 16 bits. The counter
/// carries into the milliseconds, so the time of a chain rises strictly.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
#[schemars(transparent)]
pub struct Time(pub u64);

impl Time {
    /// Largest number of milliseconds that a time holds.
    pub const MS_MAX: u64 = (1 << 48) - 1;

    /// Returns the first moment of a millisecond.
    pub fn from_ms(ms: u64) -> Time {
        Time(ms.min(Self::MS_MAX) << 16)
    }

    /// Returns the milliseconds since 1970-01-01 UTC.
    pub fn ms(self) -> u64 {
        self.0 >> 16
    }

    /// Returns the time of the next event, after an event at `self`, if the clock shows `now_ms`. That is the clock's
    /// time, or the next moment after `self` if the clock has not moved on. `None` at the end of time.
    pub fn next(self, now_ms: u64) -> Option<Time> {
        let now = Time::from_ms(now_ms);
        if now > self {
            Some(now)
        } else {
            self.0.checked_add(1).map(Time)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_there_and_back() {
        assert_eq!(to_hex(&[0x00, 0xff, 0x3a]), "00ff3a");
        assert_eq!(from_hex("00FF3a"), Some(vec![0x00, 0xff, 0x3a]));
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("0g"), None);
    }

    #[test]
    fn time_rises_when_the_clock_does_not() {
        let first = Time::from_ms(1_000);
        let second = first.next(1_000).expect("time goes on");
        assert_eq!((second.ms(), second.0 & 0xffff), (1_000, 1));
        assert_eq!(second.next(900), Some(Time(second.0 + 1)));
        assert_eq!(second.next(1_001), Some(Time::from_ms(1_001)));
        let last_of_ms = Time((1_000 << 16) | 0xffff);
        assert_eq!(
            last_of_ms.next(1_000),
            Some(Time::from_ms(1_001)),
            "the counter carries"
        );
        assert_eq!(Time(u64::MAX).next(5), None);
    }
}
