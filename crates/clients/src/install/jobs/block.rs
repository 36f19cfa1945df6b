//! A block of rules between two marks in a file with other people's text.

use super::super::error::InstallError;
use super::Made;

const BEGIN: &str = "<!-- icm:begin (written by `icm init`; `icm uninstall` takes it out) -->";
const BEGIN_WORD: &str = "<!-- icm:begin";
const END: &str = "<!-- icm:end -->";

/// Puts the block at the end, or in place of the old block.
pub(super) fn put(text: &str, body: &str) -> Result<Made, InstallError> {
    let block = format!("{BEGIN}\n{}\n{END}", body.trim_end());
    if let Some((from, to)) = find(text)? {
        return Ok(match text[from..to] == block {
            true => Made::Same,
            false => Made::Updated([&text[..from], &block, &text[to..]].concat()),
        });
    }
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Ok(Made::New(format!("{text}{gap}{block}\n")))
}

/// Removes the block, with one blank line before it.
pub(super) fn take(text: &str) -> Result<Made, InstallError> {
    let Some((from, to)) = find(text)? else {
        return Ok(Made::Same);
    };
    let mut before = &text[..from];
    let mut after = &text[to..];
    after = after.strip_prefix('\n').unwrap_or(after);
    if before.ends_with("\n\n") {
        before = &before[..before.len() - 1];
    }
    Ok(Made::New(format!("{before}{after}")))
}

/// Returns the byte range of the block; `None` if there is no block.
fn find(text: &str) -> Result<Option<(usize, usize)>, InstallError> {
    let counts = (text.matches(BEGIN_WORD).count(), text.matches(END).count());
    match (counts, text.find(BEGIN_WORD), text.find(END)) {
        ((0, 0), ..) => Ok(None),
        ((1, 1), Some(from), Some(end)) if from < end => Ok(Some((from, end + END.len()))),
        _ => Err(InstallError::BrokenMarks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_and_goes() {
        for text in ["", "# Mine\n", "# Mine\n\n- x\n"] {
            let Made::New(with) = put(text, "rules\n").expect("it is put") else {
                panic!("it is new");
            };
            assert_eq!(put(&with, "rules\n").expect("again"), Made::Same);
            assert_eq!(
                take(&with).expect("it is taken"),
                Made::New(text.to_owned())
            );
            let Made::Updated(other) = put(&with, "others").expect("it is put") else {
                panic!("it is another");
            };
            assert!(other.contains("others") && !other.contains("rules"));
            let more = format!("{with}\nmore\n");
            let Made::New(rest) = take(&more).expect("it is taken") else {
                panic!("it was there");
            };
            assert_eq!(rest, format!("{text}\nmore\n"));
        }
    }

    #[test]
    fn marks_that_do_not_pair_are_refused() {
        for text in [
            END,
            BEGIN,
            &format!("{END}{BEGIN}"),
            &format!("{BEGIN}{END}{BEGIN}{END}"),
        ] {
            assert!(
                matches!(put(text, "x"), Err(InstallError::BrokenMarks)),
                "{text}"
            );
            assert!(
                matches!(take(text), Err(InstallError::BrokenMarks)),
                "{text}"
            );
        }
    }
}
