//! The test bed of `icm`: a simulated disk, a script language, a reference model, generators and golden stores. Nothing
//! here is part of the product, and nothing in the product knows it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop where they fail"
)]

pub mod env;
pub mod folder;
pub mod generate;
pub mod golden;
pub mod judge;
pub mod logbed;
pub mod model;
pub mod repair;
pub mod rng;
pub mod schemas;
pub mod script;
pub mod simdisk;
pub mod store;
pub mod world;
