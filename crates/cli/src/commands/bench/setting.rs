//! The argument `--set KEY=VALUE`.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

use crate::config::KEYS;

/// Parses an argument `key=value`. Completions offer the keys that change the results of a recall.
#[derive(Clone)]
pub(super) struct SettingParser;

impl TypedValueParser for SettingParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let keys = KEYS.iter().filter(|key| key.changes_results());
        let starts = keys.map(|key| PossibleValue::new(format!("{}=", key.name)));
        Some(Box::new(starts))
    }
}
