//! Every variant of the errors that people can meet, as the command line prints it: `tests/frozen/errors.txt`.
//!
//! `replay-tests/tests/structure/errors.rs` compares the headings of that file with the enums in the sources. A new
//! variant therefore needs a sample here. The same test checks the words.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use icm_api::error::{OPENED_READ_ONLY, ServiceError};
use icm_api::{limits, when};
use icm_clients::hooks::HookError;
use icm_clients::install::InstallError;
use icm_clients::names::Client;
use icm_embedders::ModelError;
use icm_extract::ExtractError;
use icm_log::cases::Case;
use icm_log::facts::FactsError;
use icm_log::head::HeadError;
use icm_log::segment::HeaderError;
use icm_log::{Gap, LogError, OriginId, Refusal, Seq};
use icm_projections::ViewError;
use icm_text::TextError;
use icm_vectors::VectorError;
use icm_vectors::embed::EmbedError;

use super::{CliError, ErrorKind, printed};
use crate::commands::clients::not_written;

#[path = "../../tests/icm/frozen.rs"]
mod frozen;

const ID: &str = "01M808CE1SZ4T9B4QX6R7K2W3V";
const NEAR: &str = "01M808CE1T0000000000000000";

/// An error and the heading that names its variant.
struct Sample {
    heading: String,
    error: CliError,
}

/// Returns the sample of an error that `shown` makes an error of the command line. The heading is the name of the type
/// and of the variant, as `Debug` writes it.
fn sample<E: Debug>(error: E, shown: impl FnOnce(E) -> CliError) -> Sample {
    let kind = std::any::type_name::<E>();
    let kind = kind.rsplit("::").next().unwrap();
    let written = format!("{error:?}");
    let mut words = written.split(|it: char| !it.is_alphanumeric());
    let variant = words.next().unwrap();
    Sample {
        heading: match kind == variant {
            true => kind.to_owned(),
            false => format!("{kind}::{variant}"),
        },
        error: shown(error),
    }
}

/// Returns an error of the operating system with its number, which no message repeats.
fn refused(kind: io::ErrorKind, text: &str) -> io::Error {
    io::Error::new(kind, format!("{text} (os error 1)"))
}

fn denied() -> io::Error {
    refused(io::ErrorKind::PermissionDenied, "Permission denied")
}

fn absent() -> io::Error {
    refused(io::ErrorKind::NotFound, "No such file or directory")
}

fn of_service(error: impl Into<ServiceError>) -> CliError {
    let error: ServiceError = error.into();
    error.into()
}

fn of_view(error: impl Into<ViewError>) -> CliError {
    let error: ViewError = error.into();
    of_service(error)
}

/// Returns the error of an export in which `what` is wrong.
fn of_export(what: String) -> CliError {
    of_service(LogError::BadBundle {
        path: "laptop.icmx".into(),
        offset_bytes: 1_234,
        what,
    })
}

/// Returns the error of a store, or an export, whose `what` is too new.
fn of_newer(what: String) -> CliError {
    of_service(LogError::NewerFormat { what })
}

fn damaged(what: &str) -> LogError {
    LogError::Damaged {
        case: Case::C,
        file: "log/3f2a/00000000000000000001.icmlog".into(),
        seq: Seq(7),
        offset_bytes: 4_096,
        what: what.to_owned(),
    }
}

/// Requests that are refused for what they ask.
fn requests() -> Vec<Sample> {
    let invalid = [
        limits::topic("payments//retries").unwrap_err(),
        limits::text("the content", "", 1).unwrap_err(),
        limits::text("the content", "four", 3).unwrap_err(),
        when::position_meant("15")
            .map(|hint| ServiceError::invalid_with("`15` is no point in time", hint))
            .unwrap(),
    ];
    let secret = |field: &str| ServiceError::Secret {
        field: field.to_owned(),
        rule: "aws-access-key-id",
    };
    let ambiguous = |matches: &[&str]| ServiceError::Ambiguous {
        what: "memory",
        prefix: "01M8".to_owned(),
        matches: matches.iter().map(|it| (*it).to_owned()).collect(),
    };
    let others = [
        ServiceError::nothing(
            format!("memory {ID} is forgotten"),
            format!("bring it back first: `icm revive {ID}`"),
        ),
        secret("content"),
        secret("actor"),
        ambiguous(&[ID, NEAR]),
        ambiguous(&[ID, "@12"]),
        ServiceError::OtherPlan,
        ServiceError::Conflict {
            request_id: "deploy-17".to_owned(),
        },
    ];
    let errors = invalid.into_iter().chain(others);
    errors.map(|error| sample(error, of_service)).collect()
}

/// Names of things that are not there.
fn absent_things() -> Vec<Sample> {
    let not_found = |what, id: &str, nearest: &[&str]| ServiceError::NotFound {
        what,
        id: id.to_owned(),
        nearest: nearest.iter().map(|it| (*it).to_owned()).collect(),
    };
    let errors = [
        not_found("memory", ID, &[]),
        not_found("memory", ID, &[NEAR]),
        not_found("memory", "@12", &[]),
        not_found("event", "12", &["@12"]),
        not_found("event", "c0ffee", &[]),
        not_found("memory or event", "c0ffee", &[]),
        not_found("topic", "payments", &[]),
        not_found("memoir", "billing", &[]),
        not_found("concept", "invoice", &[]),
        not_found("origin", "3f2a", &[]),
    ];
    errors
        .into_iter()
        .map(|error| sample(error, of_service))
        .collect()
}

/// Stores and files that cannot be read or written.
fn stores() -> Vec<Sample> {
    let stopped = |asked| ServiceError::Stopped { pid: 4_711, asked };
    let read_only = |why: &str| ServiceError::ReadOnly {
        why: why.to_owned(),
    };
    let failed = |source| ServiceError::Io {
        doing: "reading notes.jsonl".to_owned(),
        source,
    };
    let ended = |source| ServiceError::ImportEnded {
        taken: "2 lines".to_owned(),
        source: Box::new(source),
    };
    let full = refused(io::ErrorKind::StorageFull, "No space left on device");
    let errors = [
        ServiceError::Busy { waited_ms: 5_000 },
        stopped(false),
        stopped(true),
        ServiceError::Damaged {
            what: damaged("its first check fails").to_string(),
        },
        ServiceError::NewerFormat {
            what: "icm.tar.zst has version 2".to_owned(),
        },
        ServiceError::BadBackup {
            file: "icm.tar.zst".to_owned(),
            why: "its end is missing".to_owned(),
        },
        ServiceError::BadExport {
            why: "notes.txt is no file of `icm log export`".to_owned(),
        },
        ServiceError::DoesNotFit {
            why: gap().to_string(),
        },
        read_only(OPENED_READ_ONLY),
        read_only("/store/store.toml: it is empty"),
        read_only("/store/log: creating failed: Permission denied"),
        ServiceError::NoSpace {
            why: "writing icm.tar.zst: No space left on device; nothing of it was kept".to_owned(),
        },
        failed(absent()),
        failed(denied()),
        failed(full),
        failed(refused(io::ErrorKind::FileTooLarge, "File too large")),
        failed(refused(io::ErrorKind::InvalidData, "it is a pipe")),
        ended(failed(absent())),
        ended(ServiceError::Busy { waited_ms: 5_000 }),
        ServiceError::Internal("deciding it failed".to_owned()),
    ];
    errors
        .into_iter()
        .map(|error| sample(error, of_service))
        .collect()
}

fn gap() -> Gap {
    Gap {
        origin: OriginId([0x3f; 16]),
        from_seq: Seq(5),
    }
}

/// Errors of the log, and the parts of an event that they repeat.
fn log() -> Vec<Sample> {
    let path = || PathBuf::from("/store/log");
    let errors = [
        LogError::Io {
            doing: "reading",
            path: path(),
            source: absent(),
        },
        LogError::Busy { waited_ms: 5_000 },
        damaged("its first check fails"),
        LogError::NewerFormat {
            what: "event 7 has a newer format".to_owned(),
        },
        LogError::NotAStore {
            path: path(),
            why: "not a folder".to_owned(),
        },
        LogError::NotWritable {
            path: path(),
            why: "creating failed: Permission denied (os error 13)".to_owned(),
        },
        LogError::NoSpace { path: path() },
        LogError::TooLarge {
            what: "number of bytes of a batch",
            len: 80_000_000,
            max: 67_108_864,
        },
        LogError::BadBundle {
            path: "laptop.icmx".into(),
            offset_bytes: 1_234,
            what: "it is cut off: its end is missing".to_owned(),
        },
        LogError::Gaps(vec![gap(), gap()]),
        LogError::TooTangled {
            what: format!("chain {} is in more than 4096 pieces", OriginId([0x3f; 16])),
        },
        LogError::StaleCursor { position: 12 },
    ];
    let mut samples: Vec<_> = errors.map(|error| sample(error, of_service)).into();
    samples.push(sample(gap(), |gap| of_service(LogError::Gaps(vec![gap]))));
    let refusals = [
        Refusal::Damaged {
            case: Case::M,
            file: "log/3f2a".into(),
            seq: Seq(7),
            offset_bytes: 0,
            what: "events that were acknowledged are missing".to_owned(),
        },
        Refusal::Newer {
            what: "store.toml has format 2, this version knows 1".to_owned(),
        },
        Refusal::NoStoreFile {
            why: "its store.toml cannot be read (it is empty)".to_owned(),
        },
        Refusal::Repairing,
    ];
    let shown = |refusal: Refusal| of_service(refusal.to_error(Path::new("/store")));
    samples.extend(refusals.map(|refusal| sample(refusal, shown)));
    samples
}

/// Errors of the bytes of an event and of a segment. Messages of the log repeat them.
fn bytes() -> Vec<Sample> {
    let field = "time";
    let length = HeadError::Length {
        len: 100,
        need: 192,
    };
    let bad_segment = |error: HeaderError| of_service(damaged(&error.to_string()));
    let segment = |error: HeaderError| of_newer(error.to_string());
    let facts = FactsError {
        kind: "memory.stored",
        why: "the importance is unknown",
    };
    vec![
        sample(length, |error| of_export(format!("event 7: {error}"))),
        sample(HeadError::NewerFormat { format: 2 }, |error| {
            of_newer(error.to_string())
        }),
        sample(HeadError::Field { field }, |error| {
            of_newer(error.to_string())
        }),
        sample(HeaderError::Bad, bad_segment),
        sample(HeaderError::Field { field: "format" }, segment),
        sample(HeaderError::NewerFormat { oldest_reader: 2 }, segment),
        sample(facts, |error| of_export(format!("event 7: {error}"))),
    ]
}

/// Errors of views. A view is built anew when its first error is met, so people meet these in notices and reports, or
/// if building fails, too.
fn views() -> Vec<Sample> {
    let path = || PathBuf::from("/store/views/g1/rows");
    let views = [
        ViewError::Log(LogError::Busy { waited_ms: 5_000 }),
        ViewError::Unusable {
            view: "rows",
            why: "the record of ordinal 7 is damaged".to_owned(),
        },
        ViewError::Io {
            doing: "reading",
            path: path(),
            source: absent(),
        },
        ViewError::Io {
            doing: "creating",
            path: path(),
            source: denied(),
        },
        ViewError::Stopped {
            why: damaged("its first check fails").to_string(),
        },
        ViewError::Busy,
    ];
    let texts = [
        TextError::Index {
            doing: "reading the living versions",
            source: denied().into(),
        },
        TextError::Io {
            doing: "making the index",
            source: denied(),
        },
        TextError::Format {
            found: "an unknown payload".to_owned(),
        },
        TextError::Torn,
        TextError::Damaged {
            files: vec!["live/meta.json".to_owned()],
        },
        TextError::OutOfTurn { ordinal: 7 },
        TextError::Busy,
    ];
    let vectors = [
        VectorError::Unusable {
            why: "it is too short".to_owned(),
        },
        VectorError::Io {
            doing: "reading",
            path: "/store/views/g1/vectors".into(),
            source: absent(),
        },
    ];
    let mut samples: Vec<_> = views.map(|error| sample(error, of_view)).into();
    samples.extend(texts.map(|error| sample(error, of_view)));
    samples.extend(vectors.map(|error| sample(error, of_view)));
    samples
}

/// Errors of models.
fn models() -> Vec<Sample> {
    let path = || PathBuf::from("/store/models/e5-small/model.toml");
    let embedding = |hint: Option<&str>| EmbedError::Unavailable {
        model: "e5-small".to_owned(),
        why: "its folder has no model.toml".to_owned(),
        hint: hint.map(str::to_owned),
    };
    let embedding = [
        EmbedError::Io {
            path: path(),
            source: denied(),
        },
        EmbedError::Damaged {
            path: path(),
            why: "it has no format".to_owned(),
        },
        EmbedError::Format {
            path: path(),
            found: 2,
            known: 1,
        },
        embedding(Some("`icm model remove e5-small`, then install it again")),
    ];
    let installing = [
        ModelError::Unknown {
            name: "e6".to_owned(),
            hint: "none is installed; known are e5-small, bge-m3".to_owned(),
        },
        ModelError::Refused {
            what: "another process is installing or removing a model here".to_owned(),
            hint: "try again once it is done".to_owned(),
        },
        ModelError::NotFetched {
            name: "ONNX Runtime".to_owned(),
            why: "the network cannot be reached".to_owned(),
            hint: "`pip install onnxruntime`, or name its library with `ORT_DYLIB_PATH`".to_owned(),
        },
        ModelError::Unusable(EmbedError::Damaged {
            path: path(),
            why: "it has no format".to_owned(),
        }),
        ModelError::Io {
            doing: "making /store/models".to_owned(),
            source: denied(),
        },
    ];
    let shown = |error: EmbedError| CliError::from(ModelError::from(error));
    let mut samples: Vec<_> = embedding.map(|error| sample(error, shown)).into();
    samples.extend(installing.map(|error| sample(error, CliError::from)));
    samples
}

/// Errors of files of clients that icm writes into.
fn installing() -> Vec<Sample> {
    let target = || PathBuf::from("/home/you/dotfiles/claude.json");
    let errors = [
        InstallError::TooBig {
            bytes: 20_000_000,
            max: 16_777_216,
        },
        InstallError::NotUtf8 { at: 12 },
        InstallError::DoesNotParse {
            format: "JSON",
            why: "expected `,` at line 3, column 5".to_owned(),
        },
        InstallError::DuplicateKey {
            key: "mcpServers".to_owned(),
        },
        InstallError::OtherShape {
            path: "mcpServers".to_owned(),
            expected: "an object",
        },
        InstallError::AnotherServer {
            command: "npx icm".to_owned(),
        },
        InstallError::AnotherFile,
        InstallError::ReadOnly,
        InstallError::NotAFile,
        InstallError::AnotherUser { target: target() },
        InstallError::OutsideProject { target: target() },
        InstallError::BrokenMarks,
        InstallError::Layout,
        InstallError::Changed,
    ];
    let file = Path::new("/home/you/.claude.json");
    let shown = |error: InstallError| not_written(file, &error, 0);
    let mut samples: Vec<_> = errors.map(|error| sample(error, shown)).into();
    let of_list = [
        InstallError::Io {
            doing: "read",
            path: file.to_owned(),
            source: denied(),
        },
        InstallError::Ledger {
            path: "/home/you/.local/share/icm-clients/written.json".into(),
            why: "expected `,` at line 3, column 5".to_owned(),
        },
    ];
    samples.extend(of_list.map(|error| sample(error, CliError::from)));
    samples
}

/// Errors of the input of a hook, and of transcripts.
fn reading() -> Vec<Sample> {
    let client = Client::ClaudeCode;
    let hooks = [
        HookError::NoHooks {
            client: Client::Zed,
            with_hooks: vec!["claude-code", "codex"],
        },
        HookError::UnknownEvent {
            client,
            event: "Prompt".to_owned(),
            known: vec!["SessionStart", "UserPromptSubmit"],
        },
        HookError::Empty { client },
        HookError::TooLarge {
            len_bytes: 20_000_000,
            limit_bytes: 16_777_216,
        },
        HookError::CutOff { len_bytes: 512 },
        HookError::NotJson {
            problem: "expected value at line 1 column 1".to_owned(),
        },
        HookError::NotAnObject {
            client,
            found: "a list",
        },
        HookError::WrongType {
            client,
            field: "session_id".to_owned(),
            expected: "a text",
            found: "a number",
        },
    ];
    let transcripts = [
        ExtractError::Io {
            offset: 4_096,
            source: denied(),
        },
        ExtractError::TooLong {
            len_max_bytes: 64 << 20,
        },
    ];
    let mut samples: Vec<_> = hooks.map(|error| sample(error, CliError::from)).into();
    samples.extend(transcripts.map(|error| sample(error, CliError::from)));
    samples
}

/// The kinds of failures, each with its exit code.
fn kinds() -> Vec<Sample> {
    let shown = |kind| match kind {
        ErrorKind::ClosedPipe => CliError::output(&io::ErrorKind::BrokenPipe.into()),
        kind => CliError::failed("the file is a folder")
            .with_hint("name a file in it with `-o FILE`")
            .of_kind(kind),
    };
    let kinds = [
        ErrorKind::NotFound,
        ErrorKind::Failed,
        ErrorKind::Damage,
        ErrorKind::ClosedPipe,
    ];
    kinds.map(|kind| sample(kind, shown)).into()
}

/// Returns the samples as a page: a heading for each variant, then exit code, text and JSON of each sample.
fn page(samples: &[Sample]) -> String {
    let mut page = String::from(
        "Every error that people can meet, by the variant that it has in the code. Made by the tests of `icm-cli`.\n\
         A sample is the exit code, what is printed, and what is printed with `--json`.\n",
    );
    let mut heading = "";
    for sample in samples {
        if sample.heading != heading {
            heading = &sample.heading;
            page.push_str(&format!("\n## {heading}\n"));
        }
        let text = printed(&sample.error, false);
        let text = anstream::adapter::strip_str(&text);
        let json = printed(&sample.error, true);
        let code = sample.error.exit_code();
        page.push_str(&format!("\nexit code {code}\n{text}{json}"));
    }
    page
}

#[test]
fn errors_are_printed_as_before() {
    let parts = [
        requests(),
        absent_things(),
        stores(),
        log(),
        bytes(),
        views(),
        models(),
        installing(),
        reading(),
        kinds(),
    ];
    let samples: Vec<Sample> = parts.into_iter().flatten().collect();
    for Sample { heading, error } in &samples {
        // The printed line would hide these.
        let parts = [Some(&error.message), error.hint.as_ref()];
        for part in parts.into_iter().flatten() {
            assert!(!part.contains(char::is_control), "{heading}: {part:?}");
            assert!(!part.contains("  "), "{heading}: {part:?}");
        }
    }
    let headings: BTreeSet<_> = samples.iter().map(|it| &it.heading).collect();
    assert!(headings.len() >= 90, "only {} variants", headings.len());
    frozen::check("errors.txt", &page(&samples));
}
