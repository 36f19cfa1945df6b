//! Makes text fit for a terminal, and values for people.
//!
//! Anybody may have written a stored text, so every text passes [`icm_guard::sanitize::clean`] before it reaches a
//! terminal.

use icm_guard::sanitize::clean;
pub(crate) use icm_guard::terminal::{cut, one_line, width, wrap};

/// Returns the text without control sequences and invisible characters.
pub(crate) fn cleaned(text: &str) -> String {
    clean(text).into_owned()
}

/// Returns a number of bytes with its unit: `512 B`, `3.4 kB`, `1.2 MB`.
pub(crate) fn bytes(n: u64) -> String {
    let mut value = n as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB"] {
        // A value that would round to 1000 belongs to the next unit.
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if unit == "B" || value >= 99.95 {
        format!("{value:.0} {unit}")
    } else {
        format!("{value:.1} {unit}")
    }
}

/// Returns a number with its noun: `1 memory`, `2 memories`.
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Returns places in chains for people.
pub(crate) fn places(places: &[icm_api::ChainPlace]) -> String {
    let named = places.iter();
    let named = named.map(|place| format!("{} from seq {}", place.origin, place.seq));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        for (n, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (64_000_000, "64.0 MB"),
            (999_999, "1.0 MB"),
            (123_456_789_000, "123 GB"),
        ] {
            assert_eq!(bytes(n), expected);
        }
    }
}
