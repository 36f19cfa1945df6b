//! Errors that people can meet. Each variant has a sample in the frozen file of the command line, and no sentence names
//! an inner part of icm for which the glossary has no word.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, LitStr, Macro, Meta, Token};

use super::modules::{is_for_tests, sources};

/// Enums of reasons that do not implement `Error`.
const REASONS: [&str; 2] = ["ErrorKind", "Refusal"];
/// Errors that no message repeats: a payload that cannot be read counts as withheld.
const NEVER_SHOWN: [&str; 1] = ["PayloadError"];
/// Words for inner parts, and for the libraries and the language below them. The glossary has none of them.
const INNER: [&str; 35] = [
    "axum",
    "backtrace",
    "crc",
    "entities",
    "entity",
    "enum",
    "fdatasync",
    "fsync",
    "hnsw",
    "iterator",
    "materialised",
    "messagepack",
    "mmap",
    "msgpack",
    "mutex",
    "opstamp",
    "overlay",
    "panic",
    "panicked",
    "projection",
    "projections",
    "redb",
    "rmcp",
    "rmp",
    "serde",
    "sled",
    "struct",
    "tantivy",
    "thread",
    "tier",
    "tiers",
    "tokio",
    "unwrap",
    "usearch",
    "vec",
];
/// Parts of texts that Rust writes for programmers.
const CODE: [&str; 9] = [
    "\"",
    "::",
    "{",
    "Some(",
    "None",
    "Ok(",
    "Err(",
    "(os error",
    "  ",
];
/// First words of a message that begin with a capital letter: names.
const NAMES: [&str; 3] = ["Claude", "ONNX", "Zed"];
/// Words for a deed in a hint without a command or an option.
const DEEDS: [&str; 14] = [
    "convert", "do", "fetch", "free", "give", "known", "mend", "nearest", "run", "shorten", "try",
    "update", "use", "write",
];
/// Variants that a hint is not always possible for: the kinds of errors of an operating system have no end.
const MAY_LACK_HINT: [&str; 1] = ["ServiceError::Io"];

/// An error as it is printed.
#[derive(Debug, Default)]
struct Sample {
    heading: String,
    exit_code: String,
    message: String,
    hint: String,
}

/// Returns the samples of the frozen file.
fn samples() -> Vec<Sample> {
    let path = root().join("crates/cli/tests/frozen/errors.txt");
    let text = fs::read_to_string(path).expect("the frozen file of errors");
    let (mut found, mut heading) = (Vec::<Sample>::new(), "");
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            heading = name;
        } else if let Some(code) = line.strip_prefix("exit code ") {
            found.push(Sample {
                heading: heading.to_owned(),
                exit_code: code.to_owned(),
                ..Sample::default()
            });
        } else if let Some(sample) = found.last_mut() {
            if let Some(message) = line.strip_prefix("error: ") {
                message.clone_into(&mut sample.message);
            } else if let Some(hint) = line.strip_prefix("hint: ") {
                hint.clone_into(&mut sample.hint);
            }
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the folders of the sources of all crates.
fn crates() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("crates")).expect("the folder of the crates");
    let paths = entries.map(|entry| entry.expect("an entry").path().join("src"));
    paths.collect()
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Mod(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        _ => &[],
    }
}

fn derives_error(attributes: &[Attribute]) -> bool {
    let derives = attributes.iter().filter(|it| it.path().is_ident("derive"));
    let mut lists = derives.filter_map(|it| match &it.meta {
        Meta::List(list) => Some(list.tokens.to_string()),
        _ => None,
    });
    lists.any(|list| {
        let mut names = list.split(',').filter_map(|it| it.rsplit("::").next());
        names.any(|name| name.trim() == "Error")
    })
}

/// The errors of the sources: `Type::Variant`, and `Type` for a structure.
#[derive(Default)]
struct Errors {
    found: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Errors {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        match item {
            Item::Enum(it)
                if derives_error(&it.attrs) || REASONS.iter().any(|of| it.ident == of) =>
            {
                let variants = it.variants.iter().map(|variant| &variant.ident);
                let names = variants.map(|variant| format!("{}::{variant}", it.ident));
                self.found.extend(names);
            }
            Item::Struct(it) if derives_error(&it.attrs) => {
                self.found.insert(it.ident.to_string());
            }
            _ => visit::visit_item(self, item),
        }
    }
}

/// The literals of the sources that become messages and hints.
#[derive(Default)]
struct Sentences {
    found: Vec<String>,
}

impl Sentences {
    fn take<'e>(&mut self, parts: impl Iterator<Item = &'e Expr>) {
        let mut literals = Literals::default();
        parts.for_each(|part| literals.visit_expr(part));
        self.found.append(&mut literals.found);
    }
}

impl<'ast> Visit<'ast> for Sentences {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    // `#[error("…")]`
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("error") {
            self.found.extend(attribute.parse_args_with(first_text));
        }
    }

    // `ServiceError::invalid(…)`
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(function) = &*call.func {
            let of_error = |it: String| it == "Refusal" || it.ends_with("Error");
            let path = &function.path;
            if path.is_ident("invalid") || owner(path).is_some_and(of_error) {
                self.take(call.args.iter());
            }
        }
        visit::visit_expr_call(self, call);
    }

    // `error.with_hint(…)`
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "with_hint" {
            self.take(call.args.iter());
        }
        visit::visit_expr_method_call(self, call);
    }

    // `LogError::NotAStore { … }`
    fn visit_expr_struct(&mut self, it: &'ast syn::ExprStruct) {
        if owner(&it.path).is_some_and(|it| it.ends_with("Error")) {
            self.take(it.fields.iter().map(|field| &field.expr));
        }
        visit::visit_expr_struct(self, it);
    }
}

/// Reads the literal at the start of `#[error(…)]`, and skips its arguments.
fn first_text(input: ParseStream<'_>) -> syn::Result<String> {
    let text: LitStr = input.parse()?;
    input.step(|cursor| {
        let mut rest = *cursor;
        while let Some((_, next)) = rest.token_tree() {
            rest = next;
        }
        Ok(((), rest))
    })?;
    Ok(text.value())
}

/// Returns the name of the type before the last name of a path.
fn owner(path: &syn::Path) -> Option<String> {
    let names: Vec<_> = path
        .segments
        .iter()
        .map(|it| it.ident.to_string())
        .collect();
    names.iter().nth_back(1).cloned()
}

/// The literals of an expression, also those in `format!`.
#[derive(Default)]
struct Literals {
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        self.found.push(text.value());
    }

    fn visit_macro(&mut self, it: &'ast Macro) {
        let parts = it.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        for part in parts.iter().flatten() {
            self.visit_expr(part);
        }
    }
}

/// Returns the inner words of a text, without the names of its arguments.
fn inner_words(text: &str) -> Vec<String> {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    let text = [first]
        .into_iter()
        .chain(rest)
        .collect::<Vec<_>>()
        .join(" ");
    let text = text.to_lowercase();
    let words = text.split(|it: char| !it.is_alphanumeric());
    let words = words.filter(|word| INNER.contains(word));
    words.map(str::to_owned).collect()
}

/// Returns the faults of a printed error.
fn faults(sample: &Sample) -> Vec<&'static str> {
    let Sample { message, hint, .. } = sample;
    let mut found = Vec::new();
    let mut note = |is_wrong: bool, fault| found.extend(is_wrong.then_some(fault));
    let first = message.split_whitespace().next().unwrap_or_default();
    let is_name = NAMES.contains(&first);
    note(
        first.starts_with(char::is_uppercase) && !is_name,
        "begins with a capital letter",
    );
    let is_ended = message.ends_with('.') || hint.ends_with('.');
    note(is_ended, "ends with a full stop");
    let has = |it: &str| message.contains(it) || hint.contains(it);
    note(CODE.into_iter().any(has), "repeats code");
    let words = [inner_words(message), inner_words(hint)].concat();
    note(!words.is_empty(), "names an inner part");
    let names_fix = |it: &str| it.contains('`');
    if hint.is_empty() {
        let is_said = names_fix(message)
            || ["; ", "please report"]
                .iter()
                .any(|it| message.contains(it));
        let may_lack = MAY_LACK_HINT.contains(&sample.heading.as_str());
        note(!is_said && !may_lack, "names no fix");
    } else {
        let mut words = hint.split(|it: char| !it.is_alphanumeric());
        let is_deed = words.any(|word| DEEDS.contains(&word));
        note(!names_fix(hint) && !is_deed, "has a hint without a deed");
    }
    found
}

#[test]
fn each_error_has_a_sample() {
    let mut errors = Errors::default();
    for src in crates() {
        for source in sources(&src) {
            errors.visit_file(&source.file);
        }
    }
    let mut wanted = errors.found;
    wanted.retain(|name| !NEVER_SHOWN.contains(&name.as_str()));
    assert!(wanted.len() >= 90, "only {} variants", wanted.len());
    let sampled: BTreeSet<_> = samples().into_iter().map(|it| it.heading).collect();
    let absent: Vec<_> = wanted.difference(&sampled).collect();
    assert!(
        absent.is_empty(),
        "no sample in crates/cli/src/error/tests.rs: {absent:?}"
    );
    let left: Vec<_> = sampled.difference(&wanted).collect();
    assert!(left.is_empty(), "samples of no error: {left:?}");
}

#[test]
fn printed_errors_name_the_fault_and_the_fix() {
    let samples = samples();
    let mut wrong = Vec::new();
    for sample in &samples {
        if sample.exit_code == "0" {
            assert_eq!(sample.message, "", "{sample:?}");
        } else {
            assert_ne!(sample.message, "", "{sample:?}");
            let faults = faults(sample);
            wrong.extend(faults.into_iter().map(|fault| (fault, sample)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(samples.len() >= 110, "only {} samples", samples.len());
}

#[test]
fn sentences_of_errors_have_no_inner_words() {
    let glossary = fs::read_to_string(root().join("docs/guide/src/glossary.md")).expect("a page");
    let rows = glossary.lines().filter_map(|it| it.strip_prefix("| "));
    let explained: BTreeSet<_> = rows.filter_map(|it| it.split(" |").next()).collect();
    let both = INNER.iter().find(|word| explained.contains(*word));
    assert_eq!(both, None, "the glossary explains it");
    let (mut wrong, mut read) = (Vec::new(), 0);
    for src in crates() {
        for source in sources(&src) {
            let mut sentences = Sentences::default();
            sentences.visit_file(&source.file);
            read += sentences.found.len();
            let found = sentences.found.into_iter();
            wrong
                .extend(found.filter(|text| !inner_words(text).is_empty() || text.contains(":?}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(read >= 500, "only {read} sentences");
}

#[test]
fn faults_are_seen() {
    let of = |message: &str, hint: &str| {
        faults(&Sample {
            message: message.to_owned(),
            hint: hint.to_owned(),
            ..Sample::default()
        })
    };
    assert!(of("no memory 7", "list them with `icm list`").is_empty());
    assert!(of("no memory 7; name another one", "").is_empty());
    assert!(of("no memory 7", "give another id").is_empty());
    let capital = "begins with a capital letter";
    for (message, hint, fault) in [
        ("No memory 7", "see `icm list`", capital),
        ("no memory 7.", "see `icm list`", "ends with a full stop"),
        ("no memory \"7\"", "see `icm list`", "repeats code"),
        ("the tier is empty", "see `icm list`", "names an inner part"),
        ("no memory 7", "", "names no fix"),
        ("no memory 7", "that is bad", "has a hint without a deed"),
    ] {
        assert_eq!(of(message, hint), [fault], "{message}");
    }
    assert_eq!(inner_words("{tier} of Tantivy"), ["tantivy"]);
    let source = syn::parse_file(
        "#[derive(Debug, thiserror::Error)] enum A { #[error(\"one {}\", .x.y())] B { x: u8 } }
         fn f() { ServiceError::invalid_with(format!(\"two {}\", \"three\"), \"four\").with_hint(\"five\"); }
         #[cfg(test)] mod tests { fn f() { ServiceError::invalid(\"none\"); } }",
    );
    let source = source.expect("Rust");
    let mut sentences = Sentences::default();
    sentences.visit_file(&source);
    let mut found = sentences.found;
    found.sort_unstable();
    assert_eq!(found, ["five", "four", "one {}", "three", "two {}"]);
    let mut errors = Errors::default();
    errors.visit_file(&source);
    assert_eq!(Vec::from_iter(errors.found), ["A::B"]);
}
