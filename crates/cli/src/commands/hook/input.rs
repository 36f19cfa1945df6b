//! The input of a hook, from a client that may write it slowly, or leave the pipe open.

use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;

use icm_clients::hooks::INPUT_LEN_MAX;
use icm_wait::Deadline;

/// Bytes that are read at once.
const PIECE_LEN: usize = 64 * 1_024;

/// Returns what comes on stdin: until it ends, until it is longer than a hook takes, or until the time is over. What came
/// by then may be whole.
///
/// # Errors
/// The reason why stdin cannot be read.
pub(super) fn within(wait: Duration) -> Result<Vec<u8>, String> {
    let (pieces, come) = mpsc::channel();
    // It ends with the process, if nothing more comes.
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
