//! Tests of conflicts between machines, as a model sees them.

use icm_api::{Caller, ExportSince, Importance, NoProgress, Trust, UpdateRequest};
use icm_service::{ExportFile, Service};
use serde_json::json;

use crate::client::{Client, EVERYTHING, opened_in};
use crate::look::{Look, Says};

/// Carries the log of `from` to `to`.
fn carry(from: &Service, to: &Service) {
    let mut bytes = Vec::new();
    from.export_log(&ExportSince::Start, &mut bytes, &NoProgress)
        .expect("exported");
    let file = ExportFile::spool(&mut bytes.as_slice(), "an export").expect("an export");
    to.import_log(&Caller::default(), &file, false, &NoProgress)
        .expect("imported");
}

#[tokio::test]
async fn conflicts_are_listed_and_an_update_settles_them() {
    let mut client = Client::legacy(EVERYTHING).await;
    let id = client.put("ports", "Redis listens on 6380", Trust::User);
    let folder = tempfile::tempdir().expect("a folder");
    let other = opened_in(folder.path());
    carry(&client.service, &other);
    for (service, text) in [(&*client.service, "on 1"), (&other, "on 2")] {
        let request = UpdateRequest {
            id: id.clone(),
            content: Some(text.to_owned()),
            ..UpdateRequest::default()
        };
        service
            .update(&Caller::default(), request)
            .expect("updated");
    }
    let (text, _) = client.ok("icm_conflicts", json!({})).await;
    assert_eq!(text, "no conflicts");
    carry(&other, &client.service);
    let (text, found) = client.ok("icm_conflicts", json!({"topic": "ports"})).await;
    text.begins("1 conflict\n");
    assert!(text.contains("on 1") && text.contains("on 2"), "{text}");
    assert_eq!(found["total"], 1);
    let conflict = &found["conflicts"][0];
    conflict.has(json!({"id": id, "field": "content"}));
    // An update with the shown value also settles the conflict.
    let shown = conflict["shown"]["value"].clone();
    let update = json!({"id": id, "content": shown});
    let (_, receipt) = client.ok("icm_memory_update", update).await;
    assert_eq!(receipt["action"], "updated");
    let (text, found) = client.ok("icm_conflicts", json!({})).await;
    assert_eq!(
        (text.as_str(), &found["total"]),
        ("no conflicts", &json!(0))
    );
    // One machine forgets the memory, the other changes it.
    carry(&client.service, &other);
    let forgotten = client
        .service
        .forget(&Caller::default(), std::slice::from_ref(&id));
    forgotten.expect("forgotten");
    let request = UpdateRequest {
        id,
        content: Some("on 3".to_owned()),
        importance: Some(Importance::High),
        ..UpdateRequest::default()
    };
    let updated = other.update(&Caller::default(), request);
    updated.expect("updated");
    carry(&other, &client.service);
    let (text, _) = client.ok("icm_conflicts", json!({})).await;
    text.says("shown (forgotten) (");
    text.says("| written meanwhile content: on 3\n");
    text.says("importance: high (");
    text.lacks("{");
}
