//! The options that filter memories by tags.

use clap::Args;
use icm_api::TagFilter;

/// The tags that memories have or lack. A tag is a keyword.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct TagArgs {
    /// Only memories with this tag (keyword); with commas or repeated: with all of them
    #[arg(
        short = 'k',
        long,
        visible_alias = "keyword",
        value_name = "TAG",
        value_delimiter = ','
    )]
    tag: Vec<String>,
    /// Only memories with one of these tags at least; with commas or repeated
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    any_tag: Vec<String>,
    /// Memories with one of these tags last, behind all others; with commas or repeated
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    not_tag: Vec<String>,
    /// Leave the memories of `--not-tag` out
    #[arg(long, requires = "not_tag")]
    exclude: bool,
}

impl TagArgs {
    /// Returns the filter. Empty values count as absent.
    pub(crate) fn filter(self) -> TagFilter {
        TagFilter {
            all: self.tag,
            any: self.any_tag,
            not: self.not_tag,
            exclude: self.exclude,
        }
    }
}
