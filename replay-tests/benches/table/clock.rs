//! Measures CPU time of processes and the time of a sync, and returns medians.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

fn clock(id: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for a write.
    #[allow(unsafe_code)]
    let done = unsafe { libc::clock_gettime(id, &mut time) };
    assert_eq!(done, 0, "the clock can be read");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the user and system time of all threads of this process so far.
pub(crate) fn cpu() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the user and system time of all threads of another process so far.
pub(crate) fn cpu_of(process: u32) -> Duration {
    let mut id = 0;
    // SAFETY: `id` is valid for a write.
    #[allow(unsafe_code)]
    let done = unsafe { libc::clock_getcpuclockid(process as libc::pid_t, &mut id) };
    assert_eq!(done, 0, "the process runs");
    clock(id)
}

/// Returns the user and system time of all children that have ended.
pub(crate) fn cpu_of_children() -> Duration {
    // SAFETY: `rusage` is plain numbers, valid for a write.
    #[allow(unsafe_code)]
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage), 0);
        usage
    };
    let of = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    of(usage.ru_utime) + of(usage.ru_stime)
}

/// Returns the CPU seconds of `run`, and its result.
pub(crate) fn cpu_s<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = cpu();
    let result = run();
    ((cpu() - start).as_secs_f64(), result)
}

/// Returns the median.
pub(crate) fn p50(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Returns the median of 500 syncs of 350 appended bytes, in microseconds.
pub(crate) fn sync_us(dir: &Path) -> f64 {
    let mut plain = File::create(dir.join("plain")).expect("the folder can be written");
    let mut syncs: Vec<f64> = (0..500)
        .map(|_| {
            let start = Instant::now();
            plain.write_all(&[1; 350]).expect("the disk has room");
            plain.sync_data().expect("the disk syncs");
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    p50(&mut syncs)
}
