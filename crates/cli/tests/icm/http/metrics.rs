//! Numbers for a monitor.

use super::Server;
use crate::world::{Says, World};

#[test]
fn a_monitor_reads_how_many_were_answered() {
    let world = World::with_memories();
    let before = world.json("stats")["positions"].as_u64().expect("a number");
    let server = Server::of(&world, "");
    server.get("/recall?query=billing").is(200);
    server.get("/a/path/that/somebody/made/up").is(404);
    let metrics = server.get("/metrics");
    let text = &metrics.is(200).body;
    for line in [
        "icm_http_requests_total{path=\"/recall\",method=\"GET\",status=\"200\"} 1",
        "icm_http_requests_total{path=\"other\",method=\"GET\",status=\"404\"} 1",
        "icm_http_request_duration_seconds_count{path=\"/recall\"} 1",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    text.lacks("made");
    let events = text
        .lines()
        .find_map(|line| line.strip_prefix("icm_log_events "));
    let events: u64 = events.and_then(|n| n.parse().ok()).expect("a number");
    // The recall may be recorded by now.
    assert!([before, before + 1].contains(&events), "{text}");
}
