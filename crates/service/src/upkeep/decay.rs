//! Decay: a tick says how memories fade up to a day. Its cost does not depend on their number: the weight of a memory
//! is computed when it is shown.

use icm_log::facts::MemoryDecayed;
use icm_log::{Kind, NewEvent, SKEW_MAX_MS, SubjectId};
use icm_projections::Views;
use icm_projections::fold::{Rates, day_of};
use jiff::{Timestamp, tz::TimeZone};

use crate::command::RequestKeyOf;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::{
    Caller, DecayAction, DecayPolicy, DecayReceipt, DecayRequest, Importance, TickAhead,
};

/// Returns the facts of a tick.
fn facts_of(policy: &DecayPolicy, day: u32) -> MemoryDecayed {
    MemoryDecayed {
        as_of_day: day,
        rate_ppm: policy.rate_ppm,
        critical_ppm: policy.critical_ppm,
        high_ppm: policy.high_ppm,
        medium_ppm: policy.medium_ppm,
        low_ppm: policy.low_ppm,
    }
}

impl Service {
    /// Sets how memories fade.
    #[must_use]
    pub fn with_decay(mut self, policy: DecayPolicy) -> Service {
        self.settings.decay = policy;
        self
    }

    /// Writes the tick of today, unless such a tick is already in force.
    ///
    /// # Errors
    /// `Invalid` for a rate that is not from 0 to 1.
    pub fn decay(&self, caller: &Caller, request: &DecayRequest) -> Result<DecayReceipt> {
        let mut policy = self.settings.decay;
        if let Some(rate) = request.rate {
            policy.rate_ppm = share("rate", rate)?;
        }
        let day = day_of(self.now_ms());
        let facts = facts_of(&policy, day);
        let plan = |views: &Views| -> QueryResult<DecayReceipt> {
            let schedule = views.schedule_at(views.tally().position)?;
            let rates = Rates::from(facts);
            let before = schedule.rates_of(day);
            let changes = before != Some(rates) && views.tally().memories > 0;
            Ok(DecayReceipt {
                action: match changes {
                    true => DecayAction::Decayed,
                    false => DecayAction::Unchanged,
                },
                dry_run: request.dry_run,
                day: day_text(day),
                rate: decimal(rates.rate_ppm),
                memories: fading(views, &rates),
                replaces_rate: before
                    .filter(|_| changes)
                    .map(|before| decimal(before.rate_ppm)),
                ahead: self.ticks_ahead(views)?,
                event: None,
                position: None,
            })
        };
        if request.dry_run || self.is_empty()? {
            return self.with_views(plan);
        }
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let mut receipt = plan(views)?;
            if receipt.action == DecayAction::Decayed {
                let appended = command.append(views, vec![tick(facts)])?;
                receipt.event = Some(appended[0].event.to_string());
                receipt.position = Some(appended[0].position.0);
            }
            Ok(receipt)
        })
    }

    /// Returns the ticks for days so far ahead that no correct clock can have reached them.
    pub(crate) fn ticks_ahead(&self, views: &Views) -> QueryResult<Vec<TickAhead>> {
        let ticks = views.ticks_after(day_of(self.now_ms().saturating_add(SKEW_MAX_MS)))?;
        let ahead = ticks.iter().map(|tick| TickAhead {
            event: tick.stamp.event.to_string(),
            day: day_text(tick.as_of_day),
        });
        Ok(ahead.collect())
    }

    /// Returns the tick that a recall writes on its way: today's, if there is none yet and some memory is older than
    /// today. It goes before the recall in one batch, which tells it from a tick that a user asked for.
    pub(crate) fn tick_due(&self) -> Option<NewEvent> {
        if !self.settings.decay.auto {
            return None;
        }
        let views = self.snapshots.newest()?;
        let day = day_of(self.now_ms());
        let tally = views.tally();
        let is_older = |ms: u64| day_of(ms) < day;
        if tally.memories == 0 || !tally.first_ms.is_some_and(is_older) {
            return None;
        }
        let schedule = views.schedule_at(tally.position).ok()?;
        let is_due = schedule.last_day().is_none_or(|last| last < day);
        is_due.then(|| tick(facts_of(&self.settings.decay, day)))
    }
}

fn tick(facts: MemoryDecayed) -> NewEvent {
    NewEvent {
        kind: Kind::MEMORY_DECAYED,
        subject: SubjectId::ZERO,
        refs: Vec::new(),
        facts: facts.encode(),
        payload: icm_log::payload::encode(&icm_log::payload::Nothing {}),
    }
}

/// Returns how many living memories lose weight each day.
fn fading(views: &Views, rates: &Rates) -> u64 {
    let of = |importance: Importance| {
        let fades = rates.rate_ppm > 0 && rates.factor_ppm(importance.into()) > 0;
        u64::from(fades) * views.tally().living(importance.into())
    };
    Importance::ALL.into_iter().map(of).sum()
}

/// Returns a share from 0 to 1 in parts per million.
pub(crate) fn share(what: &str, share: f64) -> Result<u32> {
    match (0.0..=1.0).contains(&share) {
        true => Ok((share * 1e6).round() as u32),
        false => Err(ServiceError::invalid(format!(
            "the {what} is {share}, it must be from 0 to 1"
        ))),
    }
}

/// Returns parts per million as they are shown.
pub(crate) fn decimal(ppm: u32) -> f64 {
    f64::from(ppm) / 1e6
}

/// Returns a day as users write it.
pub(crate) fn day_text(day: u32) -> String {
    let moment = Timestamp::from_second(i64::from(day) * 86_400);
    moment.map_or_else(
        |_| "?".to_owned(),
        |moment| moment.to_zoned(TimeZone::UTC).date().to_string(),
    )
}
