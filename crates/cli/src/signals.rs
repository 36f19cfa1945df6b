//! Signals that would end the process without a word.

/// A file that reaches the limit of `ulimit -f` is to be an error (`EFBIG`), which is cleaned up
/// after and told, as a full disk is.
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
