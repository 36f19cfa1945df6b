//! Cursors: the start of the next page of a paged answer.

use std::fmt;

use jiff::Timestamp;

use crate::Basis;
use crate::error::ServiceError;
use crate::when::rfc3339;

/// The start of the next page, as `position-offset`, or `position-offset-moment` if the answer depends on the moment. The
/// `-` keeps clients that turn texts into numbers from changing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The position that all pages are as of.
    pub position: u64,
    /// Results, or bytes of a text, on the pages before.
    pub offset: usize,
    /// The moment that all pages are as of, in milliseconds since the epoch, if it decides which memories are hidden.
    pub moment_ms: Option<u64>,
}

impl Cursor {
    /// Returns the cursor of the page after `offset` results of an answer with this basis.
    pub fn after(basis: &Basis, offset: usize) -> Cursor {
        let moment = basis.moment.as_ref().and_then(|moment| moment.parse().ok());
        Cursor {
            position: basis.position,
            offset,
            moment_ms: moment.and_then(|at: Timestamp| at.as_millisecond().try_into().ok()),
        }
    }

    /// Parses the cursor of an earlier page. The error names `argument` and the paged thing, `of`.
    ///
    /// # Errors
    /// `Invalid` if `given` is not a cursor.
    pub fn parse(given: &str, argument: &str, of: &str) -> Result<Cursor, ServiceError> {
        let given = given.trim();
        let cursor = given.split_once('-').and_then(|(position, rest)| {
            let (offset, moment) = match rest.split_once('-') {
                Some((offset, moment)) => (offset, Some(moment.parse().ok()?)),
                None => (rest, None),
            };
            Some(Cursor {
                position: position.parse().ok()?,
                offset: offset.parse::<u32>().ok()? as usize,
                moment_ms: moment,
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

    /// Returns the moment in the form of `--at`: its time, else the position as `@123`.
    pub fn at(self) -> String {
        match self.moment_ms {
            Some(ms) => rfc3339(ms),
            None => format!("@{}", self.position),
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.position, self.offset)?;
        match self.moment_ms {
            Some(ms) => write!(f, "-{ms}"),
            None => Ok(()),
        }
    }
}
