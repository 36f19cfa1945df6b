//! Numbers for people.

/// Returns a number with a comma between thousands: `12,345`.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with its noun: `1 memory`, `12,345 memories`.
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        for (n, shown) in [
            (0, "0 memories"),
            (1, "1 memory"),
            (999, "999 memories"),
            (1_000, "1,000 memories"),
            (12_345_678, "12,345,678 memories"),
        ] {
            assert_eq!(count(n, "memory", "memories"), shown);
        }
    }
}
