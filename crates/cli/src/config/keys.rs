//! A key of the config file: its type and its check.

use std::fmt;

use toml::Value;

use crate::error::CliError;

/// A key of the config file.
pub(crate) struct Key {
    /// `section.field`, or `field` if it stands before the first section.
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// Sentences for the template and the reference page.
    pub(crate) about: &'static str,
    /// A value in the form of the file, for a key without a default.
    pub(crate) example: Option<&'static str>,
}

/// The values that a key takes. Bounds are inclusive.
pub(crate) enum Takes {
    Bool,
    /// A whole number from … to; `u64::MAX` is no bound.
    Whole(u64, u64),
    /// A number from … to.
    Number(f64, f64),
    OneOf(&'static [&'static str]),
    /// A text that `is_one` accepts; errors call it `named`.
    Text {
        named: &'static str,
        is_one: fn(&str) -> bool,
    },
    /// A list of texts; errors call them by this name.
    Texts(&'static str),
}

impl Key {
    pub(super) const fn example(self, example: &'static str) -> Key {
        Key {
            example: Some(example),
            ..self
        }
    }

    /// Returns the section, empty before the first one, and the key's name in the section.
    pub(crate) fn split(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or(("", self.name))
    }

    /// Returns `true` if another value can change the results of recalls.
    #[cfg(feature = "bench")]
    pub(crate) fn changes_results(&self) -> bool {
        matches!(self.split().0, "ranking" | "embedding")
    }

    /// Refuses a value that the key does not take. The error never repeats the value, which may be a secret.
    pub(crate) fn check(&self, value: &Value) -> Result<(), CliError> {
        if self.takes.accepts(value) {
            return Ok(());
        }
        let message = format!("`{}` must be {}", self.name, self.takes);
        Err(CliError::invalid(message))
    }
}

impl Takes {
    fn accepts(&self, value: &Value) -> bool {
        let number = value
            .as_float()
            .or(value.as_integer().map(|whole| whole as f64));
        match self {
            Takes::Bool => value.is_bool(),
            Takes::Whole(min, max) => (value.as_integer())
                .and_then(|whole| u64::try_from(whole).ok())
                .is_some_and(|whole| (*min..=*max).contains(&whole)),
            Takes::Number(min, max) => number.is_some_and(|number| (*min..=*max).contains(&number)),
            Takes::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Takes::Text { is_one, .. } => value.as_str().is_some_and(is_one),
            Takes::Texts(_) => value
                .as_array()
                .is_some_and(|texts| texts.iter().all(Value::is_str)),
        }
    }
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Takes::Bool => f.write_str("true or false"),
            Takes::Whole(min, u64::MAX) => write!(f, "a number, {min} or more"),
            Takes::Whole(min, max) => write!(f, "a number from {min} to {max}"),
            Takes::Number(min, max) => write!(f, "a number from {min} to {max}"),
            Takes::OneOf(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                let (last, others) = words.split_last().expect("a choice has words");
                write!(f, "{} or {last}", others.join(", "))
            }
            Takes::Text { named, .. } | Takes::Texts(named) => f.write_str(named),
        }
    }
}
