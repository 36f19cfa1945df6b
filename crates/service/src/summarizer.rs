//! A command of the user that makes a summary, such as a model on this machine.

use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use icm_wait::{Deadline, bounds};

use icm_api::error::{Result, ServiceError, plain};
use icm_api::limits::CONTENT_LEN_MAX;
use icm_api::{Progress, Summarizer};
use icm_guard::sanitize::clean_line;

/// Bytes of stderr that are kept. Raised, a noisy command takes more memory.
const SAID_LEN_MAX: usize = 64 * 1_024;
/// Characters of the last line of stderr that an error repeats.
const SAID_SHOWN: usize = 200;

/// Runs a summarizer on a text and returns its answer, trimmed. The process and its children end within the timeout.
///
/// # Errors
/// `Invalid` if the command cannot be started, takes too long, exits with another code than 0, or answers nothing, more
/// than 64 KiB, or no UTF-8.
pub(crate) fn run(
    summarizer: &Summarizer,
    input: String,
    progress: &dyn Progress,
) -> Result<String> {
    let hint = "see `[summarizer]` in the config file; `--summary` gives one, `--rules` makes one";
    run_called(("summarizer", hint), summarizer, input, progress)
}

/// Runs a command as [`run`] does; errors name the command `called` and have `hint` as their hint.
///
/// # Errors
/// As [`run`].
pub fn run_called(
    (called, hint): (&str, &str),
    summarizer: &Summarizer,
    input: String,
    progress: &dyn Progress,
) -> Result<String> {
    let failed = |why: String| {
        ServiceError::invalid_with(format!("the {called} {why}: nothing was changed"), hint)
    };
    let mut child = shell(&summarizer.command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("cannot be started ({})", plain(error))))?;
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(ServiceError::Internal("a child without pipes".to_owned()));
    };
    // The writing thread is not joined: the command may leave its input unread.
    thread::spawn(move || stdin.write_all(input.as_bytes()));
    let answer = collected(stdout, CONTENT_LEN_MAX + 1);
    let said = collected(stderr, SAID_LEN_MAX);
    let deadline = Deadline::after(summarizer.timeout);
    let mut answered = None;
    let ended = icm_wait::until(deadline, || {
        // An answer above the limit ends the command early.
        answered = answered.take().or_else(|| answer.try_recv().ok());
        let too_long = |answer: &Vec<u8>| answer.len() > CONTENT_LEN_MAX;
        if answered.as_ref().is_some_and(too_long) {
            return Some(Err(too_much()));
        }
        match child.try_wait() {
            Ok(Some(status)) => Some(Ok(status)),
            Ok(None) if progress.is_cancelled() => Some(Err("was called off".to_owned())),
            Ok(None) => None,
            Err(error) => Some(Err(format!("was lost ({})", plain(error)))),
        }
    });
    let seconds = summarizer.timeout.as_secs_f64();
    let ended = ended.unwrap_or_else(|| Err(format!("took longer than {seconds} seconds")));
    let status = ended.map_err(|why| {
        stop(&mut child);
        failed(why)
    })?;
    // Children of the command may hold the pipes open: waiting ends at the timeout.
    if !status.success() {
        let said = said.recv_timeout(deadline.left().min(bounds::MOMENT));
        let said = said.unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last = said
            .lines()
            .rev()
            .map(clean_line)
            .find(|line| !line.trim().is_empty());
        let last: String = last
            .unwrap_or_default()
            .trim()
            .chars()
            .take(SAID_SHOWN)
            .collect();
        let code = status
            .code()
            .map_or("by a signal".to_owned(), |code| format!("with {code}"));
        let last = if last.is_empty() {
            last
        } else {
            format!(" ({last})")
        };
        return Err(failed(format!("ended {code}{last}")));
    }
    let answer = match answered {
        Some(answer) => answer,
        None => answer.recv_timeout(deadline.left()).map_err(|_| {
            stop(&mut child);
            failed("left its output open".to_owned())
        })?,
    };
    if answer.len() > CONTENT_LEN_MAX {
        return Err(failed(too_much()));
    }
    let answer = String::from_utf8(answer);
    let answer = answer.map_err(|_| failed("answered something that is no UTF-8".to_owned()))?;
    match answer.trim() {
        "" => Err(failed("answered nothing".to_owned())),
        answer => Ok(answer.to_owned()),
    }
}

fn too_much() -> String {
    format!("answered more than {} KiB", CONTENT_LEN_MAX / 1_024)
}

fn shell(command: &str) -> Command {
    let (shell, flag) = match cfg!(windows) {
        true => ("cmd", "/C"),
        false => ("sh", "-c"),
    };
    let mut shell = Command::new(shell);
    shell.arg(flag).arg(command);
    // A process group of its own, so that the command's children can be ended with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    shell
}

/// Ends a command and its process group, and waits for it. A command that has already ended is no error.
fn stop(child: &mut std::process::Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Returns up to `most` bytes of a pipe, sent once the pipe is closed or has given so many. The rest is read and
/// dropped, so that the writer is not held up.
fn collected(mut pipe: impl Read + Send + 'static, most: usize) -> mpsc::Receiver<Vec<u8>> {
    let (done, collected) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // The receiver may be gone.
        let send = |bytes: &mut Vec<u8>| _ = done.send(std::mem::take(bytes));
        let mut full = false;
        let mut chunk = vec![0; 16 * 1_024];
        loop {
            match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(_) if full => {}
                Ok(n) => {
                    bytes.extend_from_slice(&chunk[..n.min(most - bytes.len())]);
                    full = bytes.len() == most;
                    if full {
                        send(&mut bytes);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        if !full {
            send(&mut bytes);
        }
    });
    collected
}
