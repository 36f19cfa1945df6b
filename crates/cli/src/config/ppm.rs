//! Shares, `0.05` in the file, as parts per million, `50_000` in the program.

use serde::{Deserialize, Deserializer, Serializer};

pub(super) fn serialize<S: Serializer>(ppm: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(f64::from(*ppm) / 1e6)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    f64::deserialize(deserializer).map(|share| (share * 1e6).round() as u32)
}
