//! Cursors: the start of the next page of a paged answer.

use std::fmt;

use crate::error::ServiceError;

/// The start of the next page, as `position-offset`. The `-` keeps clients that turn texts into numbers from changing
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The position that all pages are as of.
    pub position: u64,
    /// Results, or bytes of a text, on the pages before.
    pub offset: usize,
}

impl Cursor {
    /// Parses the cursor of an earlier page. The error names `argument` and the paged thing, `of`.
    ///
    /// # Errors
    /// `Invalid` if `given` is not a cursor.
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

    /// Returns the error for a cursor that does not fit.
    pub fn refused(given: &str, argument: &str, of: &str) -> ServiceError {
        ServiceError::invalid_with(
            format!("`{given}` is no place where {of} goes on"),
            format!("give what the page before said as it was, or leave `{argument}` out"),
        )
    }

    /// Returns the position in the form of `--at`: `@123`.
    pub fn at(self) -> String {
        format!("@{}", self.position)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.position, self.offset)
    }
}
