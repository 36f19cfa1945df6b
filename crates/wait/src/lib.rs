//! The one place that waits: one loop, one back-off, one deadline.
//!
//! [`until`] looks for something again and again. Its pauses double from [`PAUSE_MIN`] to [`PAUSE_MAX`] and never pass
//! the [`Deadline`]. [`lock`] and [`ended`] use it for the lock of a file and for a process. [`bounds`] has the times
//! that are worth waiting, so that crates that wait for the same thing wait equally long.
//!
//! Use it only for things that send no signal. A thread that can be signalled waits in a channel or a condition
//! variable.
//!
//! This crate never knows what is waited for. No other crate of the workspace sleeps; a test refuses it.
//!
//! ```
//! use std::time::Duration;
//!
//! let mut looks = 0;
//! let third = icm_wait::until(icm_wait::Deadline::after(Duration::from_secs(5)), || {
//!     looks += 1;
//!     (looks == 3).then_some("found")
//! });
//! assert_eq!(third, Some("found"));
//! ```

pub mod bounds;
mod deadline;
mod pauses;
mod things;

pub use deadline::Deadline;
#[cfg(feature = "tokio")]
pub use pauses::pause_async;
pub use pauses::{PAUSE_MAX, PAUSE_MIN, pause, until};
pub use things::{NotLocked, ended, lock};
