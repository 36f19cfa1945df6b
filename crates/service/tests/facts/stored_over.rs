//! Stores and updates of the memory of a fact.

use icm_api::error::ServiceError;
use icm_api::{Action, Caller, StoreRequest};
use icm_service::Service;

use crate::{current, history, opened, set};

fn store(service: &Service, content: &str) -> icm_api::error::Result<icm_api::Receipt> {
    let request = StoreRequest {
        key: Some("version".to_owned()),
        ..StoreRequest::new("facts/deploy", content)
    };
    service.store(&Caller::default(), request)
}

#[test]
fn a_store_does_not_change_the_value_of_a_fact() {
    let (_folder, service) = opened();
    let first = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    for content in ["2.0", "deploy version: 2.0"] {
        let refused = store(&service, content).expect_err("it is refused");
        let ServiceError::Invalid { message, hint } = refused else {
            panic!("{refused:?}");
        };
        assert!(
            message.contains("`version` of `deploy` is a fact"),
            "{message}"
        );
        let hint = hint.unwrap_or_default();
        assert!(
            hint.contains("`icm fact set deploy version VALUE`"),
            "{hint}"
        );
    }
    assert_eq!(current(&service), "1.0");
    // The same text changes nothing, and a forgotten fact begins anew.
    let same = store(&service, "deploy version: 1.0").expect("it is the same");
    assert_eq!(same.action, Action::Unchanged);
    let ids = std::slice::from_ref(&first.receipt.id);
    service.forget(&Caller::default(), ids).expect("forgotten");
    let back = store(&service, "deploy version: 2.0").expect("it is back");
    assert_eq!((back.action, back.id), (Action::Stored, first.receipt.id));
    assert_eq!(current(&service), "2.0");
    assert_eq!(history(&service).len(), 1);
}
