//! Reading fixed-order little-endian fields.

use super::FactsError;

pub(super) struct Fields<'a> {
    kind: &'static str,
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(kind: &'static str, bytes: &'a [u8]) -> Self {
        Fields { kind, rest: bytes }
    }

    pub(super) fn error(&self, why: &'static str) -> FactsError {
        FactsError {
            kind: self.kind,
            why,
        }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], FactsError> {
        let Some((array, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.error("too short"));
        };
        self.rest = rest;
        Ok(*array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, FactsError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, FactsError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, FactsError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, FactsError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Checks that `count` items of `len` bytes follow, before anything is allocated for them.
    pub(super) fn expect_items(&self, count: usize, len: usize) -> Result<(), FactsError> {
        if count
            .checked_mul(len)
            .is_some_and(|need| need <= self.rest.len())
        {
            Ok(())
        } else {
            Err(self.error("its list is longer than the facts"))
        }
    }
}
