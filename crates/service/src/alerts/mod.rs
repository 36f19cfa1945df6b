//! Alerts: reminders for a session or a project. An alert is set, waits until it is due, and is shown to the first
//! session that asks and may see it.
//!
//! An answer goes out first, then `alert.delivered` is appended for the alerts of that answer. So an alert is lost by no
//! crash. It is shown twice only if the process dies in between, or if the event cannot be written. A lock of its own
//! (`alerts.lock`) is held from the question to the event: two processes that ask at once show an alert once. Nobody
//! else waits for that lock, so an answer into a pipe that nobody reads delays no writer.

mod deliver;
mod due;
mod set;
#[cfg(test)]
mod tests;
