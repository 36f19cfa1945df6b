//! Parts of the guide that are made from the code.

mod limits;
mod tools;
