//! Counts against naive ones.

use std::ops::RangeInclusive;
use std::time::Duration;

use icm_agents::sessions::{SessionsRequest, sessions};
use icm_api::{Caller, LogRequest, RecallRequest, StoreRequest};
use icm_log::EventId;
use icm_service::{OpenOptions, Service};

use super::density::{Counts, Density};
use super::{FAMILIES, Family, Heads, Seen};

/// A small generator of numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[test]
fn columns_equal_a_naive_count() {
    for seed in 0..60 {
        let mut numbers = Numbers(seed);
        let times_max = 8 + numbers.below(60) as usize;
        let pause = 1 + numbers.below(100_000);
        let mut density = Density::with_times(times_max);
        let (mut ms, mut events) = (1_700_000_000_000 + numbers.below(5_000), Vec::new());
        for _ in 0..1 + numbers.below(2_000) {
            ms += numbers.below(pause);
            let family = FAMILIES[numbers.below(FAMILIES.len() as u64) as usize];
            // A clock that was set back.
            let at = ms - numbers.below(20) / 19 * numbers.below(3_000);
            density.add(at, family);
            events.push((at, family));
        }
        let columns = density.columns(1 + numbers.below(40));
        let mut counted = 0;
        for column in &columns {
            let mut naive = Counts::default();
            for (at, family) in &events {
                if (column.from_ms..column.to_ms).contains(at) {
                    naive[*family as usize] += 1;
                }
            }
            assert_eq!(column.counts, naive, "seed {seed}: {column:?}");
            counted += column.total();
        }
        assert_eq!(counted, events.len() as u64, "seed {seed}");
        assert!(columns.windows(2).all(|two| two[0].to_ms <= two[1].from_ms));
    }
}

fn store(folder: &std::path::Path) -> Service {
    let options = OpenOptions {
        dir: folder.join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    };
    Service::open(options).expect("a store")
}

const ALL: RangeInclusive<i32> = i32::MIN..=i32::MAX;

fn day_of(ms: u64) -> i32 {
    (ms / 86_400_000) as i32
}

fn told(seen: &Seen) -> impl PartialEq + std::fmt::Debug + use<> {
    let chains = seen.chains.list();
    let chains: Vec<_> = (chains.iter())
        .map(|chain| (chain.origin, chain.events, chain.head, chain.newest))
        .collect();
    let alerts: Vec<_> = seen.alerts.until(u64::MAX).collect();
    (
        (seen.events, seen.span_ms, seen.ends.clone()),
        (seen.sessions.at_work(0), chains, alerts),
        seen.density.columns(u64::MAX),
        (
            seen.tally.shown_since(0, u64::MAX),
            seen.tally.sums(u64::MAX, &ALL, day_of),
        ),
    )
}

#[test]
fn increments_equal_one_walk_and_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = store(folder.path());
    let caller = Caller {
        session: Some("night shift".to_owned()),
        ..Caller::default()
    };
    let heads = Heads::default();
    for n in 0..12 {
        let text = format!("the lamp {n} hangs in hall {}", n * 7_919);
        service
            .store(&caller, StoreRequest::new("lamps", text))
            .expect("it stores");
        if n % 3 == 0 {
            let asked = RecallRequest {
                record: true,
                ..RecallRequest::new("lamp in hall")
            };
            service.recall(&caller, &asked).expect("it recalls");
            service.record_recalls();
        }
        let log = service.log_handle();
        heads.with(log, |seen| seen.events).expect("it counts");
    }
    let log = service.log_handle();
    let grown = heads.with(log, told).expect("it counts");
    let at_once = Heads::default().with(log, told).expect("it counts");
    assert_eq!(grown, at_once);

    let (mut events, mut newest) = (0, 0);
    let all = LogRequest::default();
    service
        .log(&all, &mut |entry| {
            events += 1;
            newest = newest.max(entry.position);
            let id = EventId::parse_hex(&entry.event).expect("an id");
            let found = heads.with(log, |seen| seen.position_of(id));
            assert_eq!(found.expect("it counts"), Some(entry.position));
            true
        })
        .expect("it lists");
    let tokens = icm_agents::shown::token_stats(&service, None).expect("it counts");
    heads
        .with(log, |seen| {
            assert_eq!(seen.events, events);
            assert_eq!(seen.ends.last(), Some(&newest));
            let since = seen.tally.shown_since(0, u64::MAX);
            assert_eq!(since.tokens, tokens.total.tokens);
            assert_eq!(since.times, tokens.total.times);
            let sums = seen.tally.sums(u64::MAX, &ALL, day_of);
            let shown = sums.clients.values().chain(sums.fronts.values());
            assert_eq!(shown.copied().collect::<Vec<_>>(), [since, since]);
            let days: Vec<_> = sums.days.values().collect();
            assert_eq!(days.iter().map(|day| day.stored).sum::<u64>(), 12);
            assert_eq!(days.iter().map(|day| day.recalled).sum::<u64>(), 4);
            // The chart under the slider and the days count the same events.
            for family in FAMILIES {
                let columns = seen.density.columns(u64::MAX);
                let drawn = columns.iter().map(|it| it.counts[family as usize]);
                let counted = days.iter().map(|it| it.families[family as usize]);
                assert_eq!(drawn.sum::<u64>(), counted.sum::<u64>(), "{family:?}");
            }
            assert_eq!(seen.sessions.at_work(0).len(), 1);
            let (before, after) = seen.around(seen.ends[1]);
            assert_eq!((before, after), (Some(seen.ends[0]), Some(seen.ends[2])));
            assert_eq!(seen.around(newest).1, None);
        })
        .expect("it counts");
}

#[test]
fn an_earlier_moment_has_the_counts_of_then() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = store(folder.path());
    let (log, heads) = (service.log_handle(), Heads::default());
    for n in 0..6 {
        let caller = Caller {
            session: Some(format!("session {}", n % 2)),
            ..Caller::default()
        };
        let request = StoreRequest::new("lamps", format!("lamp {n} of hall {}", n * 7_919));
        service.store(&caller, request).expect("it stores");
    }
    let newest = service.newest_position().expect("a position");
    for position in 1..=newest {
        let until = SessionsRequest {
            until: Some(format!("@{position}")),
            ..SessionsRequest::default()
        };
        let walked = sessions(&service, &until).expect("sessions");
        let (list, chains) = heads
            .until(log, Some(position), |then| {
                (then.sessions.list(), then.chains.list())
            })
            .expect("it counts");
        assert_eq!(list, walked, "@{position}");
        assert_eq!(chains[0].events, position);
        let sums = heads
            .with(log, |seen| seen.tally.sums(position, &ALL, day_of))
            .expect("it counts");
        let events = sums.days.values().flat_map(|day| day.families);
        assert_eq!(events.sum::<u64>(), position);
    }
}

#[test]
fn kinds_have_their_families() {
    for (kind, family) in [
        ("memory.stored", Family::Memory),
        ("memory.recalled", Family::Recall),
        ("concept.linked", Family::Graph),
        ("session.started", Family::Session),
        ("log.undone", Family::Other),
        ("unknown.7777", Family::Other),
    ] {
        assert_eq!(Family::named(kind), family, "{kind}");
    }
}
