//! Reads the input of a hook. The client may write slowly, or leave the pipe open.

use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;

use icm_clients::hooks::INPUT_LEN_MAX;
use icm_wait::Deadline;

/// Bytes of one read. Raised, a long input needs fewer reads.
const PIECE_LEN: usize = 64 * 1_024;

/// Returns the bytes of stdin: until its end, until it is longer than a hook accepts, or until the time is over. After
/// the time is over the bytes may still be complete.
///
/// # Errors
/// The reason why stdin cannot be read.
pub(super) fn within(wait: Duration) -> Result<Vec<u8>, String> {
    let (pieces, come) = mpsc::channel();
    // The thread ends with the process if nothing more arrives.
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut piece = vec![0; PIECE_LEN];
        loop {
            let read = stdin.read(&mut piece).map(|len| piece[..len].to_vec());
            let is_last = !matches!(&read, Ok(read) if !read.is_empty());
            if pieces.send(read).is_err() || is_last {
                return;
            }
        }
    });
    let deadline = Deadline::after(wait);
    let mut input = Vec::new();
    while input.len() <= INPUT_LEN_MAX {
        match come.recv_timeout(deadline.left()) {
            Ok(Ok(piece)) if piece.is_empty() => break,
            Ok(Ok(piece)) => input.extend(piece),
            Ok(Err(error)) => return Err(format!("cannot read stdin: {error}")),
            Err(_) => break,
        }
    }
    Ok(input)
}
