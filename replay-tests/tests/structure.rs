//! The floor plan: crates use crates below them alone, and modules of a crate know one another one way.

mod structure {
    pub(crate) mod crates;
    pub(crate) mod modules;
    pub(crate) mod unsafe_code;
    pub(crate) mod waiting;
}
