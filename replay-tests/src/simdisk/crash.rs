//! Power cuts: the disk that a crash leaves.

use super::tree::{Tree, by_coin};
use crate::rng::Rng;

/// The fate of bytes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// All of them are durable.
    Kept,
    /// None of them is durable.
    Dropped,
    /// They are durable in order, up to some byte or sector.
    Halved,
    /// Some sectors or pages are durable, later ones perhaps without earlier ones.
    Reordered,
}

/// The fate of names that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// All of them are durable.
    Kept,
    /// None of them is durable.
    Dropped,
    /// Each is durable or not, by chance.
    Some,
}

/// One way in which the power can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashPlan {
    /// The fate of bytes.
    pub writes: Writes,
    /// The fate of names.
    pub names: Names,
    /// The seed of random choices.
    pub seed: u64,
}

impl CrashPlan {
    /// Returns every combination; those with random choices once for each of `seeds` seeds.
    pub fn all(seeds: u64) -> Vec<CrashPlan> {
        let mut plans = Vec::new();
        for writes in [
            Writes::Kept,
            Writes::Dropped,
            Writes::Halved,
            Writes::Reordered,
        ] {
            for names in [Names::Kept, Names::Dropped, Names::Some] {
                let choice =
                    matches!(writes, Writes::Halved | Writes::Reordered) || names == Names::Some;
                for seed in 0..if choice { seeds } else { 1 } {
                    plans.push(CrashPlan {
                        writes,
                        names,
                        seed,
                    });
                }
            }
        }
        plans
    }
}

pub(super) fn crash(tree: &Tree, plan: CrashPlan) -> Tree {
    let mut for_names = Rng::new(plan.seed.wrapping_mul(2));
    let mut for_bytes = Rng::new(plan.seed.wrapping_mul(2) + 1);
    let mut coin = by_coin(&mut for_names);
    tree.after_crash(
        || match plan.names {
            Names::Kept => true,
            Names::Dropped => false,
            Names::Some => coin(),
        },
        |file| match plan.writes {
            Writes::Kept => file.kept(),
            Writes::Dropped => file.dropped(),
            Writes::Halved => file.halved(&mut for_bytes),
            Writes::Reordered => file.reordered(&mut for_bytes),
        },
    )
}
