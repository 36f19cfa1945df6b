//! Lines of bounded length.

use std::io::{self, BufRead, ErrorKind};

/// Most bytes of a line that is read; longer lines are images and dumps. Raised, a reading needs as much more memory.
pub const LINE_LEN_MAX: usize = 1_024 * 1_024;

/// The next piece of a file, with its length in bytes.
pub(super) enum Next {
    /// A line. The length includes its end, the text does not.
    Whole(u64),
    /// A line above the limit, without its text; its length.
    TooLong(u64),
    /// A part of a line above the limit; its length.
    Endless(u64),
    /// The file ends within a line; the length so far.
    Torn(u64),
    /// Nothing is left.
    End,
}

/// Reads the next line into `line`. The text of a line above the limit is dropped; the line is read to its end unless
/// `stop` returns `true` earlier.
pub(super) fn next_line(
    reader: &mut impl BufRead,
    line: &mut Vec<u8>,
    stop: &impl Fn() -> bool,
) -> io::Result<Next> {
    line.clear();
    let mut len = 0_u64;
    let mut too_long = false;
    loop {
        if too_long && stop() {
            return Ok(Next::Endless(len));
        }
        let available = match reader.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(match len {
                0 => Next::End,
                len => Next::Torn(len),
            });
        }
        let end = memchr::memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        too_long = too_long || line.len() + part.len() > LINE_LEN_MAX;
        match too_long {
            true => line.clear(),
            false => line.extend_from_slice(part),
        }
        let used = part.len() + usize::from(end.is_some());
        len += used as u64;
        reader.consume(used);
        if end.is_some() {
            return Ok(match too_long {
                true => Next::TooLong(len),
                false => Next::Whole(len),
            });
        }
    }
}
