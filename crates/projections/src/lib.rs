
pub mod text;
