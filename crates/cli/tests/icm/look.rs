//! Checks of texts and of JSON. The tests of the server share this file.
#![allow(dead_code, reason = "not every test needs every check")]

use serde_json::{Value, json};

/// Checks of a text, which each failure shows.
pub(crate) trait Says {
    #[track_caller]
    fn says(&self, words: impl AsRef<str>);

    #[track_caller]
    fn lacks(&self, words: impl AsRef<str>);

    #[track_caller]
    fn begins(&self, words: impl AsRef<str>);

    #[track_caller]
    fn finishes(&self, words: impl AsRef<str>);
}

impl Says for str {
    fn says(&self, words: impl AsRef<str>) {
        let words = words.as_ref();
        assert!(self.contains(words), "no {words:?} in: {self}");
    }

    fn lacks(&self, words: impl AsRef<str>) {
        let words = words.as_ref();
        assert!(!self.contains(words), "{words:?} in: {self}");
    }

    fn begins(&self, words: impl AsRef<str>) {
        let words = words.as_ref();
        assert!(self.starts_with(words), "no {words:?} first in: {self}");
    }

    fn finishes(&self, words: impl AsRef<str>) {
        let words = words.as_ref();
        assert!(self.ends_with(words), "no {words:?} last in: {self}");
    }
}

/// Looks into JSON.
pub(crate) trait Look {
    /// Checks these fields; a field that begins with `/` is a JSON pointer. An absent field is null.
    #[track_caller]
    fn has(&self, fields: Value);

    /// Returns the number of a list's items.
    #[track_caller]
    fn count(&self) -> usize;

    /// Returns this field of each item of a list, which has to be text.
    #[track_caller]
    fn texts(&self, field: &str) -> Vec<String>;
}

impl Look for Value {
    fn has(&self, fields: Value) {
        for (field, wanted) in fields.as_object().expect("an object") {
            let found = match field.starts_with('/') {
                true => self.pointer(field),
                false => self.get(field),
            };
            assert_eq!(found.unwrap_or(&Value::Null), wanted, "{field} of {self}");
        }
    }

    fn count(&self) -> usize {
        self.as_array().expect("a list").len()
    }

    fn texts(&self, field: &str) -> Vec<String> {
        let items = self.as_array().expect("a list").iter();
        items
            .map(|it| it[field].as_str().expect("a text").to_owned())
            .collect()
    }
}

#[test]
fn checks_fail_for_other_texts_and_fields() {
    let fails = |check: &dyn Fn()| {
        let check = std::panic::AssertUnwindSafe(check);
        assert!(std::panic::catch_unwind(check).is_err());
    };
    let value = json!({"a": 1, "b": [{"c": "x"}]});
    value.has(json!({"a": 1, "/b/0/c": "x", "absent": null}));
    assert_eq!(
        (value["b"].count(), &value["b"].texts("c")[..]),
        (1, &["x".to_owned()][..])
    );
    for other in [
        json!({"a": 2}),
        json!({"a": null}),
        json!({"/b/0/c": "y"}),
        json!({"absent": 1}),
    ] {
        fails(&|| value.has(other.clone()));
    }
    fails(&|| _ = value["a"].count());
    fails(&|| _ = value["b"].texts("a"));
    fails(&|| "one two".says("three"));
    fails(&|| "one two".lacks("two"));
    fails(&|| "one two".begins("two"));
    fails(&|| "one two".finishes("one"));
}
