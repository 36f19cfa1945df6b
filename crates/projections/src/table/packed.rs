//! Versions as stored in the table: MessagePack, compressed with LZ4. A version repeats its author, its origin and its
//! event ids, which have 16 or 32 bytes each; compressed, it takes two thirds of the room.

use lz4_flex::block::{compress_prepend_size, decompress_size_prepended};

use super::unreadable;
use crate::error::Result;
use crate::fold::Version;

/// Largest ratio of LZ4: 255 bytes of one. A larger length is damage, and no memory is allocated for it.
const RATIO_MAX: usize = 255;

/// Returns the bytes of a version. `buffer` is overwritten with its MessagePack.
pub(super) fn pack(version: &Version, buffer: &mut Vec<u8>) -> Vec<u8> {
    buffer.clear();
    rmp_serde::encode::write(buffer, version).expect("rows are plain values");
    compress_prepend_size(buffer)
}

/// Returns the version of packed bytes.
///
/// # Errors
/// `Unusable` for bytes that are no packed version.
pub(super) fn unpack(bytes: &[u8]) -> Result<Version> {
    let bad = || unreadable("version");
    let len = bytes.first_chunk().map(|len| u32::from_le_bytes(*len));
    let len = len.and_then(|len| usize::try_from(len).ok());
    if len.is_none_or(|len| len / RATIO_MAX > bytes.len()) {
        return Err(bad());
    }
    let plain = decompress_size_prepended(bytes).map_err(|_| bad())?;
    rmp_serde::from_slice(&plain).map_err(|_| bad())
}
