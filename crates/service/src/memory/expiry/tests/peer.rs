//! A recall of another process, which asks the owner of the store.

use super::{TEXT, newest, opened, store};
use icm_api::{Caller, RecallRequest};

#[test]
fn whoever_shows_a_memory_that_recalls_use_up_records_it() {
    let (_folder, _clock, service, _) = opened();
    let request = RecallRequest {
        record: true,
        ..RecallRequest::new("demo of the payments service")
    };
    let caller = Caller::default();
    store(&service, "The payments service has a demo each month", "");
    let answer = service.recall_for_peer(&caller, &request);
    assert_eq!(answer.expect("an answer").results.len(), 1);
    service.record_recalls();
    let before = newest(&service, Some("memory.recalled"));
    store(&service, TEXT, "usage 2");
    let refused = service.recall_for_peer(&caller, &request);
    let refused = refused.expect_err("the peer asks itself").to_string();
    assert!(refused.contains("records it"), "{refused}");
    service.record_recalls();
    let after = newest(&service, Some("memory.recalled"));
    assert_eq!(before.event, after.event, "nothing was shown");
}
