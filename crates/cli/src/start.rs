//! The start on Linux with glibc, without what Rust does before its `main`.
//!
//! That asks where the stack ends, so as to tell an overflow from other faults; the C library has to read and parse
//! `/proc/self/maps` for it: 0.07 to 0.08 ms of each start (of an empty program's 0.9), one part in twenty-five of a short
//! command. What is done here is what else of it matters. Without it a stack that overflows, of any thread, ends the
//! process by SIGSEGV and says nothing, and the main thread has no name.

#![allow(unsafe_code)]

use std::ffi::c_int;

/// What a panic that nobody catches ends with.
const PANICKED: i32 = 101;

/// What the C library calls. It has handed the arguments to [`std::env`] by then.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    open_standard_streams();
    ignore_closed_pipes();
    let code = std::panic::catch_unwind(crate::run).map_or(PANICKED, i32::from);
    // Not by returning: this writes what is left in standard output, too.
    std::process::exit(code)
}

/// Whoever starts a program may have closed them; the first files that it opens would be them then, and the log would
/// be written to as standard error.
fn open_standard_streams() {
    for stream in 0..=2 {
        // SAFETY: it asks for flags.
        let is_open = unsafe { libc::fcntl(stream, libc::F_GETFD) } != -1;
        // SAFETY: the name ends in a zero.
        if !is_open && unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) } == -1 {
            std::process::abort();
        }
    }
}

/// A reader that went away is an error of a write, and not the end of the process.
fn ignore_closed_pipes() {
    // SAFETY: no handler is installed, and no other thread runs yet.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}
