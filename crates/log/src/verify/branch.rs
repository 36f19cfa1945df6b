//! Chains that branch: two events of one origin have the same seq, because an exact copy of a store wrote under its
//! origin. Both branches are valid; the branch is reported.

use super::{Expect, Severity, Verify};
use crate::chain::SegmentFile;
use crate::error::Result;
use crate::scan::read_one;
use icm_event::id::Seq;
use icm_event::segment::HEADER_LEN;

/// The ends of the segments that were read so far.
#[derive(Default)]
pub(super) struct Ends {
    ends: Vec<Expect>,
    /// First seqs of the segments.
    begun: Vec<Seq>,
}

impl Verify<'_> {
    /// Continues from the end that the next segment names, if that is not the last one.
    pub(super) fn take_branch(
        &mut self,
        segment: &SegmentFile,
        expect: &mut Expect,
        ends: &mut Ends,
    ) -> Result<()> {
        let first = segment.name.first_seq;
        ends.ends.push(expect.clone());
        let disk = &*self.log.disk;
        let prev = read_one(disk, &segment.path, HEADER_LEN as u64, |record| {
            record.prev()
        })?;
        let fits = |end: &&Expect| end.seq == first && Some(end.prev) == prev;
        if !fits(&&*expect)
            && let Some(end) = ends.ends.iter().find(fits)
        {
            *expect = end.clone();
        }
        if ends.begun.contains(&first) {
            let message = format!(
                "the chain branches at event {first}: two machines wrote under one origin, and both \
                 branches are kept"
            );
            let (path, notice) = (segment.path.clone(), Severity::Notice);
            self.find(None, "fork", notice, &path, 0, Some(first), message);
        }
        ends.begun.push(first);
        Ok(())
    }
}
