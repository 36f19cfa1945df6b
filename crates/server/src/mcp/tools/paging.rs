//! Pages of an answer: the argument that says where one begins, and the words that say how to get the next.

use std::fmt::Display;

use icm_api::Basis;
use icm_api::cursor::Cursor;
use icm_api::error::ServiceError;
use serde_json::{Value, json};

use super::{Kind, Param};
use crate::mcp::schema::Args;

/// The start of a page of a list at one moment.
pub(super) const CURSOR: Param = Param {
    name: "cursor",
    kind: Kind::Text,
    required: false,
    about: "from the reply before, after `more`",
};

/// The start of a page of names.
pub(super) const NAME_CURSOR: Param = Param {
    name: "cursor",
    kind: Kind::Text,
    required: false,
    about: "next_cursor of the reply before",
};

/// The page that a call asks for. All pages are as of one moment, so that nothing moves from one page to another.
pub(super) struct Page {
    /// Results on the pages before.
    pub(super) offset: usize,
    /// The moment that was asked for, or that of the page before.
    pub(super) as_of: Option<String>,
    /// `true` if the call gave a cursor.
    pub(super) goes_on: bool,
}

impl Page {
    /// Takes the arguments `cursor` and `as_of`.
    ///
    /// # Errors
    /// `Invalid` for a text that is no cursor of `of`.
    pub(super) fn of(args: &mut Args, of: &str) -> Result<Page, ServiceError> {
        let cursor = match args.text("cursor") {
            Some(cursor) => Some(Cursor::parse(&cursor, "cursor", of)?),
            None => None,
        };
        Ok(Page {
            offset: cursor.map_or(0, |cursor| cursor.offset),
            as_of: cursor.map(Cursor::at).or_else(|| args.text("as_of")),
            goes_on: cursor.is_some(),
        })
    }

    /// Adds the cursor of the page after `shown` results to an answer.
    pub(super) fn tell_next(&self, shown: usize, basis: &Basis, answer: (&mut String, &mut Value)) {
        tell_more(&Cursor::after(basis, self.offset + shown), answer);
    }
}

/// Adds a cursor to an answer.
pub(super) fn tell_more(cursor: &impl Display, (text, structured): (&mut String, &mut Value)) {
    text.push_str(&format!("\nmore: cursor \"{cursor}\""));
    structured["next_cursor"] = json!(cursor.to_string());
}

/// Takes the argument `cursor` of a list of names: the last name of the page before.
///
/// # Errors
/// `Invalid` for any other text.
pub(super) fn after_name(args: &mut Args) -> Result<Option<String>, ServiceError> {
    let cursor = args.text("cursor");
    cursor.map(|cursor| name_of(&cursor, "cursor")).transpose()
}

/// Adds to an answer how many of `total` names are shown, and the cursor after the last of them.
pub(super) fn tell_next_name(
    last: &str,
    (shown, total): (usize, u64),
    (text, structured): (&mut String, &mut Value),
) {
    let cursor = name_cursor(last);
    text.push_str(&format!(
        "\n{shown} of {total} shown; the next: cursor \"{cursor}\""
    ));
    structured["next_cursor"] = json!(cursor);
}

/// Returns a name as a cursor, in hex: a name is stored text.
pub(super) fn name_cursor(name: &str) -> String {
    name.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the name in a cursor of [`name_cursor`].
///
/// # Errors
/// `Invalid` for any other text; the message names the argument.
pub(super) fn name_of(cursor: &str, argument: &str) -> Result<String, ServiceError> {
    let digits = cursor.trim().as_bytes().chunks(2);
    let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.map(byte).collect();
    let name = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    name.ok_or_else(|| {
        ServiceError::invalid_with(
            format!("`{argument}` is no cursor of this tool"),
            "give what the reply before said as it was, or leave it out",
        )
    })
}
