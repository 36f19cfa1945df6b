//! The structure of the code: crates use only crates below them, and modules of a crate form no circles. Pages and comments
//! can be read, and so can errors. The guide names the fields of answers.

mod structure {
    pub(crate) mod answers;
    pub(crate) mod crates;
    pub(crate) mod errors;
    pub(crate) mod modules;
    pub(crate) mod unsafe_code;
    pub(crate) mod waiting;
    pub(crate) mod words;
}
