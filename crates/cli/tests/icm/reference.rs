//! Parts of the guide that are made from the code.

mod events;
mod limits;
mod tools;
