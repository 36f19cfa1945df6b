//! Asks the recorded recalls of a store again at their own moments, to show the effect of other settings.

use std::collections::HashSet;

use icm_api::error::Result;
use icm_api::{Agreement, Progress, Recalled, ReplayBenchReport, ReplayedRecall};
use icm_service::{RecordedRecall, Service};

/// Asks the newest `most` recorded recalls again: of `now`, and of `other`, the same store with other settings. Nothing
/// is recorded.
///
/// # Errors
/// The store cannot be read, or the model of `other` cannot embed its memories.
pub fn bench_replay(
    now: &Service,
    other: Option<&Service>,
    most: usize,
    progress: &dyn Progress,
) -> Result<ReplayBenchReport> {
    for service in [Some(now), other].into_iter().flatten() {
        // Row versions without a vector of the model would be ranked by the built-in model instead.
        service.embed_for_reading(progress)?;
    }
    let (recorded, withheld) = now.recorded_recalls(most)?;
    progress.start("asking again", Some(recorded.len() as u64));
    let mut report = ReplayBenchReport {
        recalls: recorded.len() as u64,
        withheld,
        since: Agreement::default(),
        other: other.map(|_| Agreement::default()),
        changed: Vec::new(),
    };
    for recall in &recorded {
        let found = ask(now, recall)?;
        add(&mut report.since, &ids(&recall.results), &ids(&found));
        if let (Some(other), Some(agreement)) = (other, &mut report.other) {
            let other = ask(other, recall)?;
            add(agreement, &ids(&found), &ids(&other));
            if ids(&found) != ids(&other) {
                report.changed.push(changed(recall, &found, &other));
            }
        } else if ids(&recall.results) != ids(&found) {
            let mut changed = changed(recall, &recall.results, &found);
            // The log has only ids. A text that cannot be read any more is left out.
            let then = format!("@{}", recall.position);
            for went in &mut changed.went {
                went.content =
                    (now.get(&went.id, Some(&then)).ok()).and_then(|there| there.content);
            }
            report.changed.push(changed);
        }
        progress.advance(1);
    }
    progress.finish();
    end(&mut report.since);
    report.other.iter_mut().for_each(end);
    // The largest change first; among equal ones the newest first.
    report.changed.sort_by(|a, b| {
        let by_overlap = a.overlap.total_cmp(&b.overlap);
        by_overlap.then(b.position.cmp(&a.position))
    });
    Ok(report)
}

fn ask(service: &Service, recall: &RecordedRecall) -> Result<Vec<Recalled>> {
    let answer = service.recall_again(recall)?;
    let results = answer.results.into_iter();
    Ok(results
        .map(|hit| Recalled {
            id: hit.memory.id,
            content: hit.memory.content,
        })
        .collect())
}

fn ids(results: &[Recalled]) -> Vec<&str> {
    results.iter().map(|result| result.id.as_str()).collect()
}

fn changed(recall: &RecordedRecall, before: &[Recalled], after: &[Recalled]) -> ReplayedRecall {
    let missing = |from: &[Recalled], of: &[Recalled]| {
        let known: HashSet<_> = from.iter().map(|result| &result.id).collect();
        let new = of.iter().filter(|result| !known.contains(&result.id));
        new.cloned().collect::<Vec<_>>()
    };
    ReplayedRecall {
        position: recall.position,
        query: recall.request.query.clone(),
        overlap: overlap(&ids(before), &ids(after)),
        first: (after.first())
            .filter(|first| before.first().is_none_or(|before| before.id != first.id))
            .cloned(),
        came: missing(before, after),
        went: missing(after, before),
    }
}

/// Returns the size of the intersection divided by that of the union (Jaccard's index); 1 for two empty lists.
fn overlap(a: &[&str], b: &[&str]) -> f64 {
    let (a, b): (HashSet<_>, HashSet<_>) = (a.iter().collect(), b.iter().collect());
    match a.union(&b).count() {
        0 => 1.0,
        all => a.intersection(&b).count() as f64 / all as f64,
    }
}

/// Adds the comparison of two lists to the sums.
fn add(agreement: &mut Agreement, a: &[&str], b: &[&str]) {
    let overlap = overlap(a, b);
    agreement.same += u64::from(a == b);
    agreement.same_first += u64::from(a.first() == b.first());
    agreement.same_set += u64::from(overlap == 1.0);
    agreement.overlap += overlap;
    agreement.of += 1;
}

/// Divides the sum of overlaps by their number.
fn end(agreement: &mut Agreement) {
    agreement.overlap /= agreement.of.max(1) as f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_tells_order_first_and_set() {
        let mut agreement = Agreement::default();
        add(&mut agreement, &["a", "b", "c"], &["a", "b", "c"]);
        add(&mut agreement, &["a", "b", "c"], &["a", "c", "b"]);
        add(&mut agreement, &["a", "b"], &["b", "c", "d"]);
        add(&mut agreement, &[], &[]);
        end(&mut agreement);
        let Agreement {
            same,
            same_first,
            same_set,
            overlap,
            of,
        } = agreement;
        assert_eq!((same, same_first, same_set, of), (2, 3, 3, 4));
        assert!((overlap - 3.25 / 4.0).abs() < 1e-9, "{overlap}");
    }
}
