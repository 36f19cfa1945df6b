//! What a power cut leaves.

use super::tree::{Tree, by_coin};
use crate::rng::Rng;

/// What becomes of bytes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// They made it.
    Kept,
    /// They are gone.
    Dropped,
    /// They made it in order up to some byte or sector.
    Halved,
    /// Some sectors or pages made it, later ones perhaps without earlier ones.
    Reordered,
}

/// What becomes of names that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// They made it.
    Kept,
    /// They are gone.
    Dropped,
    /// Each made it or not.
    Some,
}

/// One way in which the power can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashPlan {
    /// What becomes of bytes.
    pub writes: Writes,
    /// What becomes of names.
    pub names: Names,
    /// Decides where there is a choice.
    pub seed: u64,
}

impl CrashPlan {
    /// Every combination, those with a choice in them once for each of `seeds` seeds.
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
