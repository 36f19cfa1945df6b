use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::*;

/// 2026-11-21T12:00:00Z, a Saturday.
const NOW: u64 = 1_795_262_400_000;

fn read(text: &str) -> GivenExpiry {
    parse(text, NOW, &TimeZone::UTC).expect(text)
}

fn written(text: &str) -> String {
    let GivenExpiry { facts, path, zone } = read(text);
    to_text(&facts, path.as_deref(), zone.as_deref())
}

#[test]
fn conditions_as_users_write_them() {
    for (text, expect) in [
        ("time 30d", "time 2026-12-21T12:00:00Z"),
        ("time 2 weeks", "time 2026-12-05T12:00:00Z"),
        ("time 2026-12-24", "time 2026-12-25T00:00:00Z"),
        ("time 2026-11-21", "time 2026-11-22T00:00:00Z"),
        ("Time 2026-12-24T10:00:00Z", "time 2026-12-24T10:00:00Z"),
        ("usage 3", "usage 3"),
        ("file-exists  a b.txt ", "file-exists a b.txt"),
        ("file_exist /x", "file-exists /x"),
        ("file-pristine /x", "file-pristine /x"),
        (
            "period 2026-01-01..2026-02-01",
            "period 2026-01-01T00:00:00Z..2026-02-02T00:00:00Z",
        ),
        ("period 2027-01-01..", "period 2027-01-01T00:00:00Z.."),
        ("period ..2027-01-01", "period ..2027-01-02T00:00:00Z"),
        (
            "period mon-fri 09:00-17:00",
            "period mon-fri 09:00-17:00 UTC",
        ),
        ("period 22:00-06:00", "period 22:00-06:00 UTC"),
        ("period Sat,sunday", "period sat-sun UTC"),
        (
            "period fri-mon 9:00-24:00",
            "period mon,fri-sun 09:00-24:00 UTC",
        ),
        ("period mon-sun", "period mon-sun UTC"),
        (
            "period mon 08:00-09:00 Europe/Berlin",
            "period mon 08:00-09:00 Europe/Berlin",
        ),
    ] {
        assert_eq!(written(text), expect, "{text}");
        assert_eq!(written(expect), expect, "{text}");
    }
}

#[test]
fn other_texts_are_refused_with_the_five_forms() {
    for text in [
        "",
        "time",
        "soon 3",
        "usage 0",
        "usage many",
        "period",
        "time -3d",
        "time soon",
        "period mon-fry 09:00-17:00",
        "period 09:00",
        "period 25:00-26:00",
        "period ..",
        "period 2026-02-01..2026-01-01",
        "period mon tue",
    ] {
        let refused = parse(text, NOW, &TimeZone::UTC);
        assert!(refused.is_err(), "{text}: {refused:?}");
    }
    let error = parse("soon 3", NOW, &TimeZone::UTC).expect_err("no form");
    let hint = error.hint().unwrap_or_default();
    for form in ["time", "usage", "file-exists", "file-pristine", "period"] {
        assert!(hint.contains(form), "{hint}");
    }
    assert!(refuse_passed(&read("time 2020-01-01"), NOW, &TimeZone::UTC).is_err());
    assert!(refuse_passed(&read("period 2020-01-01..2020-02-01"), NOW, &TimeZone::UTC).is_err());
    assert!(refuse_passed(&read("period 2020-01-01.."), NOW, &TimeZone::UTC).is_ok());
}

#[test]
fn a_time_that_has_passed_is_named_as_it_was_typed() {
    let zone = TimeZone::fixed(jiff::tz::offset(-8));
    for (text, named) in [
        ("time 2026-11-20", "expire at the end of 2026-11-20:"),
        ("time 2026-11-20 09:30", "expire at 2026-11-20 09:30:"),
        ("period ..2026-11-19", "expire at the end of 2026-11-19:"),
    ] {
        let given = parse(text, NOW, &zone).expect(text);
        let error = refuse_passed(&given, NOW, &zone).expect_err(text);
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn another_process_understands_a_settled_condition() {
    let zone = TimeZone::fixed(jiff::tz::offset(-8));
    let settle = |text| settled(text, Path::new("/w"), &zone);
    assert_eq!(settle("file-exists a/b"), "file-exists /w/a/b");
    assert_eq!(settle("file-pristine /a"), "file-pristine /a");
    for (given, path) in [
        ("./a/../b", "/w/a/../b"),
        ("a/./b/.", "/w/a/b"),
        ("../a", "/w/../a"),
        ("..a/.b/b..", "/w/..a/.b/b.."),
        ("/./a//b/", "/a/b"),
        ("/a//b/", "/a//b/"),
        (".", "/w"),
    ] {
        let given = format!("file-exists {given}");
        let settled = settled(&given, Path::new("/w"), &zone);
        assert_eq!(settled, format!("file-exists {path}"));
    }
    assert_eq!(settle("period mon"), "period mon -08:00");
    assert_eq!(settle("time 3d"), "time 3d");
    assert_eq!(settle("nonsense"), "nonsense");
}

#[test]
fn conditions_are_told_in_the_zone_of_the_reader() {
    let zone = TimeZone::fixed(jiff::tz::offset(-8));
    for (text, shown, meaning) in [
        (
            "time 2026-12-24T09:30:12.345Z",
            "time 2026-12-24 01:30",
            "expires 2026-12-24 01:30",
        ),
        (
            "time 2026-12-24T08:00:00Z",
            "time 2026-12-23",
            "expires at the end of 2026-12-23",
        ),
        ("usage 3", "usage 3", "expires after 3 recalls"),
        ("usage 1", "usage 1", "expires after 1 recall"),
        (
            "file-exists /a b",
            "file-exists /a b",
            "expires once /a b is gone",
        ),
        (
            "file-pristine /a",
            "file-pristine /a",
            "expires once /a is changed or gone",
        ),
        (
            "period 2027-01-01T08:00:00Z..2027-02-01T08:00:00Z",
            "period 2027-01-01..2027-01-31",
            "is shown from 2027-01-01 until the end of 2027-01-31",
        ),
        (
            "period 2027-01-01T09:00:00Z..",
            "period 2027-01-01 01:00..",
            "is shown from 2027-01-01 01:00",
        ),
        (
            "period mon 08:00-09:00 Europe/Berlin",
            "period mon 08:00-09:00 Europe/Berlin",
            "is shown mon 08:00-09:00 Europe/Berlin",
        ),
        (
            "period mon Etc/UTC",
            "period mon Etc/UTC",
            "is shown mon UTC",
        ),
        ("condition 9", "condition 9", "expires: condition 9"),
    ] {
        assert_eq!(in_zone(text, &zone), shown);
        assert_eq!(told(text, &zone), meaning);
    }
}

#[test]
fn hours_of_the_week_are_those_of_the_zone() {
    let within = |text: &str, at: &str| {
        let given = read(text);
        let at: Timestamp = at.parse().expect("a time");
        is_within_week(&given.facts, given.zone.as_deref(), ms_of(at))
    };
    // 2026-11-20 is a Friday.
    let office = "period mon-fri 09:00-17:00";
    assert!(within(office, "2026-11-20T09:00:00Z"));
    assert!(within(office, "2026-11-20T16:59:59Z"));
    assert!(!within(office, "2026-11-20T17:00:00Z"));
    assert!(!within(office, "2026-11-21T10:00:00Z"), "a Saturday");
    let berlin = "period mon-fri 09:00-17:00 +01:00";
    assert!(within(berlin, "2026-11-20T08:00:00Z"));
    assert!(!within(berlin, "2026-11-20T16:00:00Z"));
    let night = "period fri 22:00-06:00";
    assert!(within(night, "2026-11-20T23:00:00Z"));
    assert!(within(night, "2026-11-21T05:59:00Z"), "the night of Friday");
    assert!(!within(night, "2026-11-21T23:00:00Z"));
    assert!(!within(night, "2026-11-20T05:00:00Z"));
    let whole = "period 08:00-08:00";
    assert!(within(whole, "2026-11-21T05:00:00Z"));
}

#[test]
fn recalls_that_are_left_are_told() {
    for (left, shown, meaning) in [
        (None, "usage 3", "expires after 3 recalls"),
        (Some(3), "usage 3", "expires after 3 recalls"),
        (Some(2), "usage 3, 2 left", "expires after 2 more recalls"),
        (Some(1), "usage 3, 1 left", "expires after 1 more recall"),
        (Some(0), "usage 3, 0 left", "expires with this recall"),
    ] {
        assert_eq!(in_zone_left("usage 3", left, &TimeZone::UTC), shown);
        assert_eq!(told_left("usage 3", left, &TimeZone::UTC), meaning);
    }
    let time = "time 2026-12-24T09:30:00Z";
    assert_eq!(
        told_left(time, None, &TimeZone::UTC),
        told(time, &TimeZone::UTC)
    );
}

#[test]
fn a_memory_outside_of_its_period_is_shown_again_by_itself() {
    let again = |text: &str| shown_again(text, NOW, &TimeZone::UTC);
    let from = again("period 2026-11-23T09:00:00Z..2027-01-01T00:00:00Z");
    assert_eq!(from.as_deref(), Some("from 2026-11-23 09:00"));
    let hours = again("period mon-fri 09:00-17:00 UTC");
    assert_eq!(hours.as_deref(), Some("in these hours"));
    for over in [
        "period ..2026-11-20",
        "time 2026-11-20T00:00:00Z",
        "usage 1",
    ] {
        assert_eq!(again(over), None, "{over}");
    }
}
