//! What a text says that is worth keeping, found by rules.
//!
//! This crate is a function of texts and of transcripts in the formats of clients. It never knows a store, events or the clock.
