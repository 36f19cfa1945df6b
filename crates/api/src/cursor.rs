//! Where a paged answer goes on.

use std::fmt;

use crate::error::ServiceError;

/// The place where the next page begins, as `position-offset`. No number reads like that, so
/// a client that writes texts as numbers cannot change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The position that every page is as of.
    pub position: u64,
    /// What was shown before: results, or bytes of a text.
    pub offset: usize,
}

impl Cursor {
    /// Reads what a page before said. The error names the `argument` and what goes on.
    ///
    /// # Errors
    /// `Invalid` for anything else.
    pub fn parse(given: &str, argument: &str, of: &str) -> Result<Cursor, ServiceError> {
        let given = given.trim();
        let cursor = given.split_once('-').and_then(|(position, offset)| {
            Some(Cursor {
                position: position.parse().ok()?,
                offset: offset.parse::<u32>().ok()? as usize,
            })
        });
        cursor.ok_or_else(|| Cursor::refused(given, argument, of))
    }

    /// That `given` is no place in what goes on.
    pub fn refused(given: &str, argument: &str, of: &str) -> ServiceError {
        ServiceError::invalid_with(
            format!("`{given}` is no place where {of} goes on"),
            format!("give what the page before said as it was, or leave `{argument}` out"),
        )
    }

    /// Its position as a moment.
    pub fn at(self) -> String {
        format!("@{}", self.position)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.position, self.offset)
    }
}
