//! The bytes of a vector file, as `lib.rs` describes them.

use crate::error::VectorError;

/// Largest number of dimensions: 4,096. A larger value makes sums in `dot` coarser.
pub const MAX_DIM: usize = 4_096;

const MAGIC: &[u8; 8] = b"ICMVECS\0";
const VERSION: u32 = 1;
pub(super) const HEADER_LEN: usize = 64;
/// Bytes of a row before its numbers.
pub(super) const ROW_HEAD_LEN: usize = 16;
const SCALE_AT: usize = 8;
const CHECK_AT: usize = 12;

pub(super) fn bad(why: impl Into<String>) -> VectorError {
    VectorError::Unusable { why: why.into() }
}

pub(super) fn row_len(dim: usize) -> usize {
    ROW_HEAD_LEN + dim
}

/// Returns the bytes of a file with `count` rows; saturates.
pub(super) fn file_len(dim: usize, count: u64) -> u64 {
    (row_len(dim) as u64)
        .saturating_mul(count)
        .saturating_add(HEADER_LEN as u64)
}

pub(super) fn header(model: &str, dim: usize) -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&(dim as u32).to_le_bytes());
    bytes[16..48].copy_from_slice(blake3::hash(model.as_bytes()).as_bytes());
    let check = crc32c::crc32c(&bytes[..60]);
    bytes[60..].copy_from_slice(&check.to_le_bytes());
    bytes
}

/// Checks that `bytes` begin with the header of a file of this model and dimension.
pub(super) fn check_header(bytes: &[u8], model: &str, dim: usize) -> Result<(), VectorError> {
    let Some(found) = bytes.get(..HEADER_LEN) else {
        return Err(bad("it is too short"));
    };
    let expected = header(model, dim);
    if found == expected {
        return Ok(());
    }
    let whole = crc32c::crc32c(&found[..60]).to_le_bytes() == found[60..];
    Err(bad(if !whole || &found[..8] != MAGIC {
        "its header is damaged"
    } else if found[8..12] != expected[8..12] {
        "another version of icm wrote it"
    } else {
        "its vectors are of another model"
    }))
}

/// Appends the row of a vector. A vector with a number that is not finite is stored as a zero vector.
///
/// The scale is |v|² / (v · bytes) instead of the size of a step. It corrects the part of the rounding error that lies
/// along `v` (the estimator of RaBitQ, Gao and Long 2024). So near neighbours, which matter, lose less, and a text has
/// cosine 1 with itself.
pub(super) fn encode_row(ordinal: u64, vector: &[f32], out: &mut Vec<u8>) {
    let max = vector.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
    let levels = 127.0 / max;
    let usable = levels.is_finite() && vector.iter().all(|x| x.is_finite());
    let start = out.len();
    out.extend_from_slice(&ordinal.to_le_bytes());
    out.extend_from_slice(&[0; ROW_HEAD_LEN - SCALE_AT]);
    let (mut squares, mut product) = (0.0, 0.0);
    for x in vector {
        // Half a level is added because a conversion to `i8` cuts off.
        let byte = match usable {
            true => (x * levels + 0.5_f32.copysign(*x)) as i8,
            false => 0,
        };
        squares += f64::from(*x) * f64::from(*x);
        product += f64::from(*x) * f64::from(byte);
        out.push(byte.cast_unsigned());
    }
    let scale = if usable { squares / product } else { 0.0 };
    out[start + SCALE_AT..start + CHECK_AT].copy_from_slice(&(scale as f32).to_le_bytes());
    let check = check_of(&out[start..]).to_le_bytes();
    out[start + CHECK_AT..start + ROW_HEAD_LEN].copy_from_slice(&check);
}

fn check_of(row: &[u8]) -> u32 {
    let numbers = &row[ROW_HEAD_LEN..];
    crc32c::crc32c_append(crc32c::crc32c(&row[..CHECK_AT]), numbers)
}

/// A row, as its bytes in a file.
#[derive(Clone, Copy)]
pub(super) struct Row<'a>(pub(super) &'a [u8]);

impl<'a> Row<'a> {
    pub(super) fn ordinal(self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = *self.0 else {
            return 0;
        };
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    pub(super) fn scale(self) -> f32 {
        f32::from_le_bytes(self.four(SCALE_AT))
    }

    /// Returns the bytes before the numbers.
    #[cfg(feature = "graph")]
    pub(super) fn head(self) -> &'a [u8] {
        &self.0[..ROW_HEAD_LEN]
    }

    /// Returns the numbers, a signed byte each.
    pub(super) fn numbers(self) -> &'a [u8] {
        &self.0[ROW_HEAD_LEN..]
    }

    pub(super) fn is_whole(self) -> bool {
        check_of(self.0) == u32::from_le_bytes(self.four(CHECK_AT))
    }

    fn four(self, at: usize) -> [u8; 4] {
        [self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]]
    }
}
