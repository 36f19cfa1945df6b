//! Facts: one current value for each scope, subject and attribute, and the earlier ones with their validity.
//!
//! A fact is a keyed memory (topic `facts/SUBJECT`, key ATTRIBUTE). Each event that writes its text states a value, valid
//! from the time of the event that it is about. The events in force are put in order of valid time, so a value that is
//! learnt late takes its place among the others (`validity`).

mod imported;
mod missing;
mod read;
mod set;
mod undone;
mod valid;
mod validity;

pub(crate) use imported::LineOfFact;
pub(crate) use set::event_to_current;

#[cfg(test)]
mod tests;
