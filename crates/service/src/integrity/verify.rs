//! Verifying a store, and rebuilding its views.

use icm_log::verify::{Report, Severity};
use icm_projections::fold::fold_afresh;
use icm_projections::{ViewError, Views};

use crate::history::heads;
use crate::service::Service;
use icm_api::error::VIEWS_WAIT;
use icm_api::error::{OPENED_READ_ONLY, Result, ServiceError, plain};
use icm_api::{Finding, OriginHead, Progress, RebuildReport, VerifyReport};

impl Service {
    /// Verifies the chains. `expect` is an earlier output of [`Service::heads`]: today's log must still contain that
    /// history.
    pub fn log_verify(
        &self,
        expect: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<VerifyReport> {
        self.retry_while_rewritten(
            || self.log_verify_once(expect, progress),
            |report| !report.ok,
        )
    }

    fn log_verify_once(
        &self,
        expect: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<VerifyReport> {
        self.log.refresh()?;
        progress.start("verifying the log", Some(self.log.len_bytes()?));
        let report = self.log.verify(&mut |bytes| progress.advance(bytes))?;
        progress.finish();
        let mut verified = verify_report(&report);
        if let Some(expect) = expect {
            self.check_expected(expect, &mut verified)?;
        }
        Ok(verified)
    }

    fn check_expected(&self, expect: &str, report: &mut VerifyReport) -> Result<()> {
        let expected = heads::parse(expect)?;
        if expected.is_empty() {
            return Err(ServiceError::invalid_with(
                "the file of expected heads is empty",
                "give the file that `icm log heads` was written to",
            ));
        }
        for (origin, seq, event) in expected {
            if !self.log.has_event(origin, seq, event)? {
                report.ok = false;
                report.findings.push(Finding {
                    code: "history_changed".to_owned(),
                    severity: "damage".to_owned(),
                    message: format!("event {seq} of {origin} is not the one that was expected"),
                    file: None,
                    seq: Some(seq.0),
                });
            }
        }
        Ok(())
    }

    /// Verifies the chains and every byte of the views' files, and compares the views with a fresh fold of the log.
    /// Wrong views are rebuilt.
    pub fn verify(&self, progress: &dyn Progress) -> Result<VerifyReport> {
        self.retry_while_rewritten(|| self.verify_once(progress), |report| !report.ok)
    }

    fn verify_once(&self, progress: &dyn Progress) -> Result<VerifyReport> {
        // The rest of a redaction would change the log in between.
        self.resume_redaction()?;
        let mut report = self.log_verify_once(None, progress)?;
        if self.log.tip().is_none() {
            return Ok(report);
        }
        let events = report.events;
        let fold = || {
            progress.start("folding the log afresh", Some(events));
            let mut done = 0;
            let folded = fold_afresh(&self.log, &mut |events| {
                progress.advance(events.saturating_sub(done));
                done = events;
            });
            progress.finish();
            folded
        };
        let mut fresh = match fold() {
            Ok(tally) => tally,
            // If the log cannot be read, the findings of the chains say where.
            Err(_) if !report.ok => return Ok(report),
            Err(error) => return Err(error.into()),
        };
        report.state_hash = Some(fresh.state_hash().to_string());
        let (checked, shown) = {
            let looked = crate::snapshot::catching_panics(|| {
                let views = self.newest_snapshot(Views::are_stale)?;
                Ok((views.check(), views.tally().clone()))
            });
            match looked {
                Ok(looked) => looked,
                Err(crate::snapshot::QueryError::Service(error)) => return Err(error),
                Err(crate::snapshot::QueryError::View(error)) => {
                    self.rebuild_after(&error, &mut report)?;
                    return Ok(report);
                }
            }
        };
        if shown.position != fresh.position {
            // Another process appended between the fold and the look at the views.
            fresh = fold()?;
            report.state_hash = Some(fresh.state_hash().to_string());
        }
        let wrong = match checked {
            Err(error @ ViewError::Unusable { .. }) => Some(error),
            Err(error) => return Err(error.into()),
            Ok(()) if shown.position == fresh.position && !shown.agrees(&fresh) => {
                Some(ViewError::Unusable {
                    view: "table",
                    why: "it disagrees with a fresh fold of the log".to_owned(),
                })
            }
            Ok(()) => None,
        };
        if let Some(error) = wrong {
            self.rebuild_after(&error, &mut report)?;
        }
        Ok(report)
    }

    /// Rebuilds views that verify found wrong, and adds a notice: nothing is lost with a view.
    fn rebuild_after(&self, error: &ViewError, report: &mut VerifyReport) -> Result<()> {
        let one_at_a_time = self.snapshots.write();
        self.snapshots.put(None);
        let (views, in_memory) = self.build()?;
        self.snapshots.put(Some(views));
        drop(one_at_a_time);
        let said = error.to_string();
        let message = match in_memory {
            None => format!("{}: rebuilt from the log", plain(said)),
            // If only the disk is in the way, one reason is enough.
            Some(reason) if said.contains(" (os error ") => {
                format!("the views on disk were not checked: {reason}")
            }
            Some(reason) => format!(
                "{}; the views are kept in memory for this run: {reason}",
                plain(said)
            ),
        };
        report.findings.push(Finding {
            code: "view_rebuilt".to_owned(),
            severity: "notice".to_owned(),
            message,
            file: Some("views".to_owned()),
            seq: None,
        });
        Ok(())
    }

    /// Rebuilds all views from the log alone.
    pub fn rebuild(&self, progress: &dyn Progress) -> Result<RebuildReport> {
        self.retry_while_rewritten(|| self.rebuild_once(progress), |_| false)
    }

    fn rebuild_once(&self, progress: &dyn Progress) -> Result<RebuildReport> {
        if self.options.read_only {
            return Err(ServiceError::ReadOnly {
                why: OPENED_READ_ONLY.to_owned(),
            });
        }
        let start = std::time::Instant::now();
        self.log.refresh()?;
        let Some(tip) = self.log.tip() else {
            return Err(ServiceError::invalid_with(
                format!("{} holds no memories yet", self.options.dir.display()),
                "store one with `icm store`, or name another store with `--db`",
            ));
        };
        progress.start("rebuilding the views", Some(tip.position.0));
        let one_at_a_time = self.snapshots.write();
        let mut done = 0;
        let views = Views::rebuild(&self.views_dir(), &self.log, VIEWS_WAIT, &mut |events| {
            progress.advance(events - done);
            done = events;
        })?;
        progress.finish();
        let tally = views.tally().clone();
        self.snapshots.put(Some(views));
        drop(one_at_a_time);
        Ok(RebuildReport {
            events: tally.events,
            memories: tally.memories,
            positions: tally.position.0,
            state_hash: tally.state_hash().to_string(),
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

pub(crate) fn verify_report(report: &Report) -> VerifyReport {
    VerifyReport {
        ok: report.ok(),
        events: report.events,
        positions: report.positions.0,
        origins: report
            .heads
            .iter()
            .map(|head| OriginHead {
                origin: head.origin.to_string(),
                seq: head.seq.0,
                head: head.event.to_string(),
                own: head.own,
            })
            .collect(),
        state_hash: None,
        missing_bodies: report.missing_bodies,
        findings: report
            .findings
            .iter()
            .map(|finding| Finding {
                code: finding.code.clone(),
                severity: match finding.severity {
                    Severity::Notice => "notice",
                    Severity::Newer => "newer",
                    Severity::Damage => "damage",
                }
                .to_owned(),
                message: match finding.case {
                    Some(case) => format!("{} (case {case:?})", finding.message),
                    None => finding.message.clone(),
                },
                // A finding about the store as a whole has no file.
                file: Some(finding.file.display().to_string()).filter(|file| !file.is_empty()),
                seq: finding.seq.map(|seq| seq.0),
            })
            .collect(),
    }
}
