//! The integrity of a store: verify, redact, repair, doctor.

pub(crate) mod doctor;
pub(crate) mod redact;
pub(crate) mod repair;
pub(crate) mod verify;
