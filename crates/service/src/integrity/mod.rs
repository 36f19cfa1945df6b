//! Whether a store is whole, and what is taken out of it: verify, redact, repair, doctor.

pub(crate) mod doctor;
pub(crate) mod redact;
pub(crate) mod repair;
pub(crate) mod verify;
