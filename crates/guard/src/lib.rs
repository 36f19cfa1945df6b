//! The guard of icm: checks texts that come in and cleans texts that go out.
//!
//! Texts on their way into the log are searched for [`secrets`]. Stored text on its way to a model is cleaned
//! ([`sanitize`]) and put into a frame that marks it as data ([`frame`]); on its way to a terminal it is cleaned, cut and
//! wrapped ([`terminal`]). JSON is read strictly ([`json`]), and words
//! of commands in messages are quoted for a shell ([`shell`]). Of a long text the lines that differ from another one are
//! shown ([`difference`]). A text to be redacted is found in every form
//! ([`leak_search`]).
//!
//! Everything here is a function of texts. This crate never knows stores, events, requests or the clock.
//!
//! ```
//! use icm_guard::secrets::find;
//!
//! let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
//! assert!(!find(&format!("the token is {token}")).is_empty());
//! assert!(find("the token lies in the vault").is_empty());
//! ```

pub mod difference;
pub mod frame;
pub mod json;
pub mod leak_search;
pub mod sanitize;
pub mod secrets;
pub mod shell;
pub mod terminal;
