use std::path::Path;

use crate::service::Service;
use crate::service::tests::service;
use icm_api::{Author, Authors, Caller, StoreRequest, Trust, UpdateRequest};

fn by(actor: &str) -> Caller {
    Caller {
        actor: actor.to_owned(),
        ..Caller::default()
    }
}

fn stored(folder: &Path, actor: &str, trust: Trust) -> (Service, String) {
    let service = service(&folder.join("store"));
    let request = StoreRequest {
        trust,
        ..StoreRequest::new("ports", "The server listens on port 8080")
    };
    let receipt = service.store(&by(actor), request).expect("it is stored");
    (service, receipt.id)
}

fn update(service: &Service, actor: &str, id: &str, content: Option<&str>, trust: Option<Trust>) {
    let request = UpdateRequest {
        id: id.to_owned(),
        content: content.map(str::to_owned),
        trust,
        ..UpdateRequest::default()
    };
    service.update(&by(actor), request).expect("it is updated");
}

fn authors(service: &Service, id: &str) -> Authors {
    let memory = service.get(id, None).expect("a memory");
    let why = service.why(id, 1).expect("an answer");
    assert_eq!(memory.authors, why.memory.authors);
    memory.authors.expect("they are known")
}

/// Asserts who wrote the text, and who made the memory if that is another actor.
fn are(authors: &Authors, text: (&str, Trust), first: Option<(&str, Trust)>) {
    let told = |author: &Author| (author.actor.clone(), author.trust);
    let owned = |(actor, trust): (&str, Trust)| (actor.to_owned(), trust);
    assert_eq!(told(&authors.text), owned(text));
    assert_eq!(authors.first.as_ref().map(told), first.map(owned));
}

#[test]
fn the_text_of_today_is_that_of_its_writer() {
    let folder = tempfile::tempdir().expect("a folder");
    let (service, id) = stored(folder.path(), "user", Trust::User);
    are(&authors(&service, &id), ("user", Trust::User), None);

    // Another field is no text.
    let importance = UpdateRequest {
        id: id.clone(),
        importance: Some(icm_api::Importance::High),
        ..UpdateRequest::default()
    };
    let updated = service.update(&by("agent:codex"), importance);
    updated.expect("it is updated");
    are(&authors(&service, &id), ("user", Trust::User), None);

    let made = Some(("user", Trust::User));
    let text = "The server listens on port 9090";
    update(&service, "agent:codex", &id, Some(text), None);
    are(&authors(&service, &id), ("agent:codex", Trust::Agent), made);

    // A person vouches for the text.
    update(&service, "user", &id, None, Some(Trust::External));
    let wrote = ("agent:codex", Trust::External);
    are(&authors(&service, &id), wrote, made);

    let text = "The server listens on port 9443";
    update(&service, "user", &id, Some(text), None);
    are(&authors(&service, &id), ("user", Trust::User), None);
}

#[test]
fn a_person_corrects_the_text_of_an_agent() {
    let folder = tempfile::tempdir().expect("a folder");
    let (service, id) = stored(folder.path(), "agent:codex", Trust::Agent);
    let text = "The server listens on port 9443";
    update(&service, "user", &id, Some(text), None);
    let made = Some(("agent:codex", Trust::Agent));
    are(&authors(&service, &id), ("user", Trust::User), made);
}
