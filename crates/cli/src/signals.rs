//! Signals that would end the process without a message.

/// Ignores the signal of `ulimit -f`. A file that reaches the limit is then an error (`EFBIG`), handled and reported
/// like a full disk.
#[cfg(unix)]
pub(crate) fn ignore_file_size_limit() {
    // SAFETY: no handler is installed, and no other thread runs yet.
    #[allow(unsafe_code)]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

#[cfg(not(unix))]
pub(crate) fn ignore_file_size_limit() {}
