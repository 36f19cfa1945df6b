//! Reads the fields of facts: little-endian, in a fixed order.

use super::FactsError;

/// Defines a type of codes (one or two bytes) with names. A code without a name is kept.
macro_rules! named_codes {
    ($(#[$meta:meta])* $name:ident($code:ty) { $($(#[$vmeta:meta])* $constant:ident = $value:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        pub struct $name(pub $code);

        impl $name {
            $($(#[$vmeta])* pub const $constant: $name = $name($value);)*

            /// Every code with its name.
            pub const NAMES: &'static [($name, &'static str)] = &[$(($name::$constant, $text),)*];

            /// Returns the name of the code, or `None` if this version does not know the code.
            pub fn name(self) -> Option<&'static str> {
                $name::NAMES.iter().find(|(code, _)| *code == self).map(|(_, name)| *name)
            }

            /// Returns the code with this name.
            pub fn named(name: &str) -> Option<$name> {
                $name::NAMES.iter().find(|(_, known)| *known == name).map(|(code, _)| *code)
            }
        }
    };
}
pub(super) use named_codes;

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

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns an error unless `count` items of `len` bytes follow. Callers check this before they allocate.
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
