//! What a server that runs for days asks of the C library's allocator; elsewhere nothing.

/// Few heaps: each thread that writes the views would leave another one behind, with what it used once.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub(super) fn keep_small() {
    const ARENAS_MAX: i32 = 2;
    // SAFETY: sets a number of the allocator.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS_MAX) };
}

/// Gives what is free back to the system: writing the views takes several megabytes for a moment.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub(super) fn give_back() {
    // SAFETY: looks at free memory alone, under the allocator's own locks.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn keep_small() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn give_back() {}
