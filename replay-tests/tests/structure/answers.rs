//! Answers in JSON: the guide names every field of their types.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syn::visit::Visit;
use syn::{Attribute, Expr, Field, ItemStruct, LitStr, Meta, Token};

use super::modules::sources;

/// Types beside those called `…Request` whose JSON goes from process to process only.
const NOT_SHOWN: [&str; 5] = [
    "Caller",
    "DecayPolicy",
    "Dedup",
    "SessionStart",
    "TagFilter",
];
/// A field that is empty in every answer that is shown.
const ALWAYS_EMPTY: &str = "to_be_judged";

/// The types of answers, each with the names of its fields in JSON.
#[derive(Default)]
struct Answers(Vec<(String, Vec<String>)>);

impl<'ast> Visit<'ast> for Answers {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        let name = item.ident.to_string();
        let is_shown = !name.ends_with("Request") && !NOT_SHOWN.contains(&name.as_str());
        if is_shown && is_serialised(&item.attrs) {
            let fields = item.fields.iter().filter_map(name_in_json);
            self.0.push((name, fields.collect()));
        }
    }
}

fn is_serialised(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| match &it.meta {
        Meta::List(list) if it.path().is_ident("derive") => {
            let names = list.tokens.to_string();
            names.split(',').any(|name| name.trim() == "Serialize")
        }
        _ => false,
    })
}

/// Returns the name of a field in JSON; `None` if it is left out, or if its own fields stand in its place.
fn name_in_json(field: &Field) -> Option<String> {
    let mut name = field.ident.as_ref().map(ToString::to_string);
    for attribute in field.attrs.iter().filter(|it| it.path().is_ident("serde")) {
        let read = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("skip") || meta.path.is_ident("flatten") {
                name = None;
            } else if meta.path.is_ident("rename") {
                name = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.input.peek(Token![=]) {
                meta.value()?.parse::<Expr>()?;
            }
            Ok(())
        });
        read.expect("an attribute of serde");
    }
    name
}

/// Returns the words in the spans of code of a page.
fn words(page: &str) -> BTreeSet<&str> {
    let spans = page.split('`').skip(1).step_by(2);
    let is_between = |it: char| !it.is_ascii_alphanumeric() && it != '_';
    spans.flat_map(|span| span.split(is_between)).collect()
}

#[test]
fn the_guide_names_every_field_of_an_answer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut answers = Answers::default();
    for source in sources(&root.join("crates/api/src")) {
        answers.visit_file(&source.file);
    }
    let page = fs::read_to_string(root.join("docs/guide/src/json.md")).expect("a page");
    let named = words(&page);
    let (mut missing, mut read) = (Vec::new(), 0);
    for (name, fields) in &answers.0 {
        read += fields.len();
        let unnamed = fields.iter().filter(|it| !named.contains(it.as_str()));
        let unnamed = unnamed.filter(|it| *it != ALWAYS_EMPTY);
        missing.extend(unnamed.map(|field| format!("{name}.{field}")));
    }
    assert!(missing.is_empty(), "json.md does not name {missing:?}");
    assert!(read >= 300, "only {read} fields");
}

#[test]
fn fields_are_read_as_serde_names_them() {
    let source = "
        #[derive(Debug, Serialize)]
        struct Answer {
            id: u64,
            #[serde(rename = \"other\", skip_serializing_if = \"Option::is_none\", default)]
            renamed: u64,
            #[serde(flatten)]
            inside: u64,
            #[serde(skip)]
            left_out: u64,
        }
        #[derive(Deserialize)]
        struct Read { a: u64 }
        #[derive(Serialize)]
        struct ReadRequest { a: u64 }";
    let mut answers = Answers::default();
    answers.visit_file(&syn::parse_file(source).expect("Rust"));
    let expected = vec!["id".to_owned(), "other".to_owned()];
    assert_eq!(answers.0, [("Answer".to_owned(), expected)]);
    let named = words("a `b{\"c_d\",e}` f `g`");
    assert_eq!(
        named.into_iter().collect::<Vec<_>>(),
        ["", "b", "c_d", "e", "g"]
    );
}
