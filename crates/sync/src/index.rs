//! The index of a machine: a file that lists the bundles which the machine has put at a target. Its lines describe the
//! machine, then each bundle, then the digest of the lines before. The format is in `schemas/sync.md`.

use icm_log::bundle::ChainRange;
use icm_log::{OriginId, Seq};
use serde::{Deserialize, Serialize};

use crate::refused::Reason;

/// File name of the index.
pub(crate) const INDEX: &str = "index";
/// Suffix of the names of bundles.
const BUNDLE: &str = ".icmx";
/// Number of hex digits in the name of a bundle: the first 16 bytes of its BLAKE3 digest.
const NAME_DIGITS: usize = 32;
/// The newest format of the index that this version can read.
const FORMAT: u32 = 1;

/// The bundles of one machine at a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) writer: OriginId,
    /// Number of redactions that the machine held when it wrote its bundles.
    pub(crate) redactions: u64,
    pub(crate) bundles: Vec<Listed>,
}

/// A line of the index: a bundle, its length in bytes and the ranges of events in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listed {
    pub(crate) file: String,
    pub(crate) bytes: u64,
    pub(crate) ranges: Vec<ChainRange>,
}

impl Listed {
    /// Returns the number of events in the bundle.
    pub(crate) fn events(&self) -> u64 {
        events_of(&self.ranges)
    }
}

/// Returns the number of events in the ranges; `u64::MAX` if the sum overflows.
pub(crate) fn events_of<'r>(ranges: impl IntoIterator<Item = &'r ChainRange>) -> u64 {
    let ranges = ranges.into_iter();
    let counts = ranges.map(|it| (it.to_seq.0 - it.from_seq.0).saturating_add(1));
    counts.fold(0, u64::saturating_add)
}

#[derive(Serialize, Deserialize)]
struct First {
    icm_sync: u32,
    writer: OriginId,
    redactions: u64,
}

#[derive(Serialize, Deserialize)]
struct Last {
    end: String,
}

/// Returns the file name of the bundle with this digest.
pub(crate) fn name_of(digest: &blake3::Hash) -> String {
    format!("{}{BUNDLE}", &digest.to_hex()[..NAME_DIGITS])
}

/// Returns `true` if `name` is the name of a bundle; such a name cannot lead out of its folder.
pub(crate) fn is_name(name: &str) -> bool {
    name.strip_suffix(BUNDLE).is_some_and(|digits| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        digits.len() == NAME_DIGITS && digits.bytes().all(is_digit)
    })
}

impl Index {
    /// Returns the index of a machine that has written no bundle yet.
    pub(crate) fn empty(writer: OriginId) -> Index {
        Index {
            writer,
            redactions: 0,
            bundles: Vec::new(),
        }
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = ChainRange> {
        self.bundles.iter().flat_map(|it| it.ranges.iter().copied())
    }

    pub(crate) fn encode(&self) -> String {
        let first = First {
            icm_sync: FORMAT,
            writer: self.writer,
            redactions: self.redactions,
        };
        let mut text = line(&first);
        text.extend(self.bundles.iter().map(line));
        let end = blake3::hash(text.as_bytes()).to_hex().to_string();
        text + &line(&Last { end })
    }

    /// Parses the index in the folder of `writer`.
    ///
    /// # Errors
    /// The reason for refusing the index, and an explanation for a person.
    pub(crate) fn parse(text: &str, writer: OriginId) -> Result<Index, (Reason, String)> {
        let changed = |why: String| (Reason::Changed, why);
        // On Windows, git may check the index out with CR LF.
        let text = &text.replace("\r\n", "\n");
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        let first: First = serde_json::from_str(first)
            .map_err(|_| changed("it is no index of `icm sync`".to_owned()))?;
        if first.icm_sync > FORMAT {
            let why = "a newer version of icm wrote it: update icm here";
            return Err((Reason::Newer, why.to_owned()));
        }
        let cut = || changed("it is cut off: its end is missing".to_owned());
        let last = text.trim_end_matches('\n').rfind('\n').ok_or_else(cut)? + 1;
        let end: Last = serde_json::from_str(&text[last..]).map_err(|_| cut())?;
        let digest = blake3::hash(&text.as_bytes()[..last]);
        if end.end != *digest.to_hex() {
            return Err(changed(
                "it was changed: its digest does not fit".to_owned(),
            ));
        }
        if first.writer != writer {
            return Err(changed(format!("it is that of {}", first.writer)));
        }
        let listed = text[..last].lines().skip(1).map(|line| {
            let listed: Listed = serde_json::from_str(line).ok()?;
            let mut ranges = listed.ranges.iter();
            let are_ranges = ranges.all(|it| Seq(1) <= it.from_seq && it.from_seq <= it.to_seq);
            // An event is longer than a byte, so a count above `bytes` is false.
            let is_sound = is_name(&listed.file) && are_ranges && listed.events() <= listed.bytes;
            is_sound.then_some(listed)
        });
        let bundles = listed.collect::<Option<_>>();
        Ok(Index {
            writer,
            redactions: first.redactions,
            bundles: bundles.ok_or_else(|| changed("a line of it is no bundle".to_owned()))?,
        })
    }
}

fn line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).expect("plain values encode");
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use icm_log::EventId;

    use super::*;

    fn index() -> Index {
        let range = |from_seq, to_seq| ChainRange {
            origin: OriginId([3; 16]),
            from_seq: Seq(from_seq),
            to_seq: Seq(to_seq),
            head: EventId([9; 32]),
        };
        let listed = |n: u8, ranges| Listed {
            file: name_of(&blake3::hash(&[n])),
            bytes: 100 + u64::from(n),
            ranges,
        };
        Index {
            writer: OriginId([1; 16]),
            redactions: 2,
            bundles: vec![
                listed(1, vec![range(1, 4)]),
                listed(2, vec![range(5, 6), range(9, 10)]),
            ],
        }
    }

    #[test]
    fn there_and_back_and_whatever_is_cut_or_changed_is_refused() {
        let (index, writer) = (index(), OriginId([1; 16]));
        let text = index.encode();
        assert_eq!(Index::parse(&text, writer), Ok(index.clone()));
        let of_windows = text.replace('\n', "\r\n");
        assert_eq!(Index::parse(&of_windows, writer), Ok(index));
        for len in 0..text.len() - 1 {
            assert!(Index::parse(&text[..len], writer).is_err(), "cut to {len}");
        }
        for at in 0..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            if let Ok(text) = String::from_utf8(bytes) {
                assert!(Index::parse(&text, writer).is_err(), "byte {at}");
            }
        }
        assert!(Index::parse(&text, OriginId([2; 16])).is_err());
        let newer = text.replacen("\"icm_sync\":1", "\"icm_sync\":2", 1);
        let refused = Index::parse(&newer, writer).unwrap_err();
        assert_eq!(refused.0, Reason::Newer);
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        assert!(is_name(&name_of(&blake3::hash(b"x"))));
        let long = "a".repeat(31);
        for name in [
            "index",
            "../x.icmx",
            ".icmx",
            &format!("{long}/.icmx"),
            &format!("{long}A.icmx"),
        ] {
            assert!(!is_name(name), "{name}");
        }
        let mut odd = index();
        odd.bundles[0].file = "../../etc/passwd".to_owned();
        assert!(Index::parse(&odd.encode(), odd.writer).is_err());
        for (from_seq, to_seq) in [(0, 4), (5, 4), (u64::MAX, 1), (1, u64::MAX)] {
            let mut odd = index();
            (
                odd.bundles[0].ranges[0].from_seq,
                odd.bundles[0].ranges[0].to_seq,
            ) = (Seq(from_seq), Seq(to_seq));
            assert!(Index::parse(&odd.encode(), odd.writer).is_err());
        }
    }
}
