//! Shown lines against real lines, and the names that both give to one thing.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::mask::{Kind, Masked, mask, replace_names};

/// A line of a page that stands for any lines. At the end of a line it stands for any text.
const ANY_LINES: &str = "…";

/// Whether a line of a page shows this line of a run.
fn shows(page: &Masked, run: &Masked) -> bool {
    let begins = |start: &str| !start.is_empty() && run.line.starts_with(start);
    page.line == run.line || page.line.strip_suffix(ANY_LINES).is_some_and(begins)
}

/// Ids and hashes of a page with those of the run.
#[derive(Default)]
pub(super) struct Names {
    real: BTreeMap<String, String>,
}

static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:0[0-9A-HJKMNP-TV-Z]{5,25}|[0-9a-f]{4,64})\b").unwrap());

impl Names {
    /// Notes that a page shows `real` as `shown`.
    fn bind(&mut self, shown: &str, real: &str) -> Result<(), String> {
        let known = self.real.get(shown);
        if known.is_some_and(|known| known != real) {
            return Err(format!("{shown} stood for another one before"));
        }
        let other = self.real.iter().find(|it| it.1 == real && it.0 != shown);
        if let Some((other, _)) = other {
            return Err(format!("{shown} and {other} are the same in truth"));
        }
        self.real.insert(shown.to_owned(), real.to_owned());
        Ok(())
    }

    /// Learns the names of lines that differ, so that later commands of the page still mean the same.
    fn guess(&mut self, page: &[Masked], run: &[Masked]) {
        for (a, b) in common(page, run) {
            for ((kind, shown), (_, real)) in page[a].texts.iter().zip(&run[b].texts) {
                if matches!(kind, Kind::Id | Kind::Hash) {
                    // A name that contradicts an earlier one is not learned.
                    let _ = self.bind(shown, real);
                }
            }
        }
    }

    /// Returns a command of a page with the ids and hashes of the run, beginnings of them included.
    pub(super) fn command(&self, shown: &str) -> Result<String, String> {
        let mut error = None;
        let command = WORD.replace_all(shown, |word: &Captures<'_>| {
            let mut known = self.real.range(word[0].to_owned()..);
            let found = |it: &(&String, &String)| it.0.starts_with(&word[0]);
            let Some((shown, real)) = known.next().filter(found) else {
                return word[0].to_owned();
            };
            // One hash may be shown at several lengths.
            if let Some((other, _)) = known.next().filter(found)
                && !other.starts_with(shown.as_str())
            {
                error = Some(format!("`{}` could be {shown} or {other}", &word[0]));
            }
            real.clone()
        });
        error.map_or(Ok(command.into_owned()), Err)
    }

    /// Returns real lines with the page's names. Names that the page did not have are taken over.
    pub(super) fn adopt(&mut self, real: &[String]) -> Vec<String> {
        for line in real {
            for (kind, text) in mask(line, false).texts {
                let is_name = matches!(kind, Kind::Id | Kind::Hash);
                if is_name && !self.real.values().any(|real| *real == text) {
                    self.real.insert(text.clone(), text);
                }
            }
        }
        let shown: BTreeMap<&str, &str> = self
            .real
            .iter()
            .map(|(shown, real)| (real.as_str(), shown.as_str()))
            .collect();
        let name = |real: &str| shown.get(real).copied().unwrap_or(real).to_owned();
        real.iter().map(|line| replace_names(line, name)).collect()
    }
}

fn masked(lines: &[String], any_position: bool) -> Vec<Masked> {
    lines.iter().map(|it| mask(it, any_position)).collect()
}

/// Compares the lines of a page with real ones, and learns their names. The error is a list of lines.
pub(super) fn compare(
    shown: &[String],
    real: &[String],
    any_position: bool,
    names: &mut Names,
) -> Result<(), String> {
    let (page, run) = (masked(shown, any_position), masked(real, any_position));
    let Some(pairs) = pair(&page, &run) else {
        names.guess(&masked(shown, true), &masked(real, true));
        return Err(difference(shown, real, &common(&page, &run)));
    };
    for (a, b) in pairs {
        let texts = page[a].texts.iter().zip(&run[b].texts);
        for ((kind, text), (_, now)) in texts {
            let fits = match kind {
                Kind::Id | Kind::Hash => names.bind(text, now),
                Kind::Date if text != now && !is_recent(now) => Err(format!("{text} is {now}")),
                _ => Ok(()),
            };
            fits.map_err(|why| format!("- {}\n+ {}\n  {why}", shown[a], real[b]))?;
        }
    }
    Ok(())
}

/// Returns the lines that a page has to show: real ones where the page differs. A line `…` stays where nothing but `…`
/// stood for the real lines.
pub(super) fn updated(shown: &[String], real: &[String], any_position: bool) -> Vec<String> {
    let pairs = common(&masked(shown, any_position), &masked(real, any_position));
    let (mut a, mut b) = (0, 0);
    let mut lines = Vec::new();
    for &(until_a, until_b) in pairs.iter().chain([&(shown.len(), real.len())]) {
        match &shown[a..until_a] {
            [line] if line == ANY_LINES => lines.push(line.clone()),
            _ => lines.extend_from_slice(&real[b..until_b]),
        }
        lines.extend(shown.get(until_a).cloned());
        (a, b) = (until_a + 1, until_b + 1);
    }
    lines
}

/// Whether a date is that of the run.
fn is_recent(date: &str) -> bool {
    let now = jiff::Timestamp::now();
    let today = now.to_zoned(jiff::tz::TimeZone::UTC).date();
    let yesterday = today.yesterday().unwrap();
    date == today.to_string() || date == yesterday.to_string()
}

/// Returns the lines that belong together. `None` if the lines of the page are not those of the run.
fn pair(page: &[Masked], run: &[Masked]) -> Option<Vec<(usize, usize)>> {
    // `fits[a][b]` says whether the rest of the page from `a` fits the rest of the run from `b`.
    let mut fits = vec![vec![false; run.len() + 1]; page.len() + 1];
    for a in (0..=page.len()).rev() {
        for b in (0..=run.len()).rev() {
            let is_last = b == run.len();
            fits[a][b] = match page.get(a) {
                None => is_last,
                Some(it) if it.line == ANY_LINES => fits[a + 1][b] || (!is_last && fits[a][b + 1]),
                Some(it) => !is_last && shows(it, &run[b]) && fits[a + 1][b + 1],
            };
        }
    }
    if !fits[0][0] {
        return None;
    }
    let (mut a, mut b) = (0, 0);
    let mut pairs = Vec::new();
    while a < page.len() {
        if page[a].line != ANY_LINES {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if fits[a + 1][b] {
            a += 1;
        } else {
            b += 1;
        }
    }
    Some(pairs)
}

/// Returns a longest list of lines that both have, in order.
fn common(page: &[Masked], run: &[Masked]) -> Vec<(usize, usize)> {
    // `common[a][b]` counts the lines that the rests from `a` and `b` have in common.
    let mut common = vec![vec![0; run.len() + 1]; page.len() + 1];
    for a in (0..page.len()).rev() {
        for b in (0..run.len()).rev() {
            common[a][b] = if shows(&page[a], &run[b]) {
                common[a + 1][b + 1] + 1
            } else {
                common[a + 1][b].max(common[a][b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut pairs = Vec::new();
    while a < page.len() && b < run.len() {
        if shows(&page[a], &run[b]) {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if common[a + 1][b] >= common[a][b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

/// Returns both texts as one list of lines: `-` for lines of the page alone, `+` for lines of the run alone.
fn difference(shown: &[String], real: &[String], common: &[(usize, usize)]) -> String {
    let (mut a, mut b) = (0, 0);
    let mut lines = Vec::new();
    for &(until_a, until_b) in common.iter().chain([&(shown.len(), real.len())]) {
        lines.extend(shown[a..until_a].iter().map(|line| format!("- {line}")));
        lines.extend(real[b..until_b].iter().map(|line| format!("+ {line}")));
        lines.extend(real.get(until_b).map(|line| format!("  {line}")));
        (a, b) = (until_a + 1, until_b + 1);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Names, compare, updated};

    const A: &str = "01M8CA6D2RJ5T7N50XTXG2HXNM";
    const B: &str = "01M8CA6EERGYS931BCCWABPCS3";
    const REAL_A: &str = "01N8CA6D2RJ5T7N50XTXG2HXN1";
    const REAL_B: &str = "01N8CA6D2SJ5T7N50XTXG2HXN2";

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn run(names: &mut Names, shown: &str, real: &str) -> Result<(), String> {
        compare(&lines(shown), &lines(real), false, names)
    }

    fn fits(shown: &str, real: &str) -> bool {
        run(&mut Names::default(), shown, real).is_ok()
    }

    #[test]
    fn names_are_learned_and_replaced_in_commands() {
        let mut names = Names::default();
        let shown = format!("…\nstored {A} in a @3\nstored {B} in b @4 by 92d712e9ab01");
        let real =
            format!("x {REAL_B}\nstored {REAL_A} in a @3\nstored {REAL_B} in b @4 by 0123456789ab");
        run(&mut names, &shown, &real).unwrap();
        for (command, now) in [
            (format!("icm get {A}"), format!("icm get {REAL_A}")),
            (
                "icm get 01M8CA6E -l 2".to_owned(),
                format!("icm get {REAL_B} -l 2"),
            ),
            (
                "icm undo 92d7".to_owned(),
                "icm undo 0123456789ab".to_owned(),
            ),
            (
                "icm list -t dead --at 2026-03-01".to_owned(),
                "icm list -t dead --at 2026-03-01".to_owned(),
            ),
        ] {
            assert_eq!(names.command(&command).unwrap(), now);
        }
        assert!(names.command("icm get 01M8CA6").is_err());
        let now = names.adopt(&lines(&format!("{REAL_B} by 0123456789ab, 00ff00ff")));
        assert_eq!(now, [format!("{B} by 92d712e9ab01, 00ff00ff")]);
    }

    #[test]
    fn one_name_is_one_thing() {
        let mut names = Names::default();
        run(&mut names, A, REAL_A).unwrap();
        let error = run(&mut names, A, REAL_B).unwrap_err();
        assert!(error.ends_with("stood for another one before"), "{error}");
        let error = run(&mut names, B, REAL_A).unwrap_err();
        assert!(error.ends_with("are the same in truth"), "{error}");
    }

    #[test]
    fn a_line_with_dots_stands_for_any_lines() {
        assert!(fits("…", ""));
        assert!(fits("a\n…\nb", "a\nb"));
        assert!(fits("a\n…\nb\n…", "a\nb\nc\nb\nd"));
        assert!(fits("…\nb", "a\nb\nc\nb"));
        assert!(fits("a b…\nc", "a bc d\nc"));
        assert!(!fits("…\nb", "a\nb\nc"));
        assert!(!fits("a b…", "a c"));
        assert!(!fits("a\n…", "b\na"));
        assert!(!fits("", "a"));
        assert!(!fits("a", ""));
    }

    #[test]
    fn positions_fits_and_old_dates_have_to_be_right() {
        assert!(!fits("stored @3", "stored @4"));
        assert!(!fits("fit 0.99", "fit 0.98"));
        assert!(!fits("of 2025-02-11", "of 2025-02-12"));
        assert!(fits("of 2025-02-11", "of 2025-02-11"));
        let today = jiff::Timestamp::now().to_string();
        assert!(fits("of 2025-02-11", &format!("of {}", &today[..10])));
        let any = compare(&lines("@3"), &lines("@4"), true, &mut Names::default());
        assert!(any.is_ok());
    }

    #[test]
    fn names_of_lines_that_differ_are_learned() {
        let mut names = Names::default();
        let real = format!("stored {REAL_A} in a @4");
        run(&mut names, &format!("stored {A} in a @3"), &real).unwrap_err();
        assert_eq!(names.command(A).unwrap(), REAL_A);
        assert_eq!(names.adopt(&[real]), [format!("stored {A} in a @4")]);
    }

    #[test]
    fn dots_stay_where_they_fit() {
        let now = |shown: &str, real: &str| updated(&lines(shown), &lines(real), false).join(" ");
        assert_eq!(now("a\n…\nd\ne\n…", "a\nb\nc\nd\nf\ng"), "a … d f g");
        assert_eq!(now("…\nd\n@1\ne", "a\nd\n@2\ne"), "… d @2 e");
        assert_eq!(now("", "a"), "a");
        assert_eq!(now("…", "a"), "…");
    }

    #[test]
    fn a_difference_shows_both() {
        let error = run(&mut Names::default(), "a\nb\nd", "a\nc\nd").unwrap_err();
        assert_eq!(error, "  a\n- b\n+ c\n  d");
    }
}
