//! Waiting in the product: one crate sleeps, and few constants say for how long.

use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprCall, ExprMethodCall, Lit, Type};

/// Most constants of type `Duration`. Raised, two places may wait differently for the same thing.
const CONSTANTS_MAX: usize = 25;
/// The folder whose files may sleep, below `crates/`.
const SLEEPS: &str = "wait/src";

/// The findings in one source file, without tests.
#[derive(Default)]
struct File {
    /// Names of constants.
    constants: Vec<String>,
    /// Constants whose comment does not say what raising them does.
    unexplained: Vec<String>,
    /// Number of durations made of a number outside a constant.
    literals: usize,
    /// Number of calls that sleep.
    sleeps: usize,
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| {
        it.path().is_ident("cfg")
            && matches!(&it.meta, syn::Meta::List(list) if list.tokens.to_string().contains("test"))
    })
}

fn docs(attributes: &[Attribute]) -> String {
    let mut text = String::new();
    for attribute in attributes {
        if attribute.path().is_ident("doc")
            && let syn::Meta::NameValue(value) = &attribute.meta
            && let Expr::Lit(literal) = &value.value
            && let Lit::Str(line) = &literal.lit
        {
            text.push_str(&line.value());
        }
    }
    text
}

impl File {
    fn read(text: &str) -> File {
        let mut found = File::default();
        found.visit_file(&syn::parse_file(text).expect("Rust"));
        found
    }

    fn constant(&mut self, name: &syn::Ident, what: &Type, attributes: &[Attribute]) -> bool {
        let Type::Path(path) = what else {
            return false;
        };
        let is_time = (path.path.segments.last()).is_some_and(|last| last.ident == "Duration");
        if is_time {
            self.constants.push(name.to_string());
            if !docs(attributes).contains("Raised, ") {
                self.unexplained.push(name.to_string());
            }
        }
        is_time
    }
}

impl Visit<'_> for File {
    fn visit_item(&mut self, item: &syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_const(&mut self, item: &syn::ItemConst) {
        if !self.constant(&item.ident, &item.ty, &item.attrs) {
            visit::visit_item_const(self, item);
        }
    }

    fn visit_item_static(&mut self, item: &syn::ItemStatic) {
        if !self.constant(&item.ident, &item.ty, &item.attrs) {
            visit::visit_item_static(self, item);
        }
    }

    fn visit_impl_item_const(&mut self, item: &syn::ImplItemConst) {
        if !self.constant(&item.ident, &item.ty, &item.attrs) {
            visit::visit_impl_item_const(self, item);
        }
    }

    fn visit_expr_call(&mut self, call: &ExprCall) {
        if let Expr::Path(path) = &*call.func {
            let mut names = path
                .path
                .segments
                .iter()
                .rev()
                .map(|it| it.ident.to_string());
            let name = names.next().unwrap_or_default();
            let of = names.next().unwrap_or_default();
            let is_number = |it: &Expr| matches!(it, Expr::Lit(_) | Expr::Binary(_));
            if of == "Duration" && call.args.iter().any(is_number) {
                self.literals += 1;
            }
            if ["sleep", "sleep_until", "park_timeout"].contains(&&*name) {
                self.sleeps += 1;
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, called: &syn::Macro) {
        // The arms of `select!` may sleep, too.
        let tokens = called.tokens.to_string();
        self.sleeps += tokens.matches(":: sleep").count();
    }

    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        if call.method == "sleep" {
            self.sleeps += 1;
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// Returns the files of the product, with their paths below `crates/`.
fn sources(crates: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let entries = fs::read_dir(crates).expect("the folder of the crates");
    let mut folders: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path().join("src"))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            let stem = path.file_stem().expect("a name").to_string_lossy();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") && stem != "tests" {
                let text = fs::read_to_string(&path).expect("a source file");
                found.push((
                    path.strip_prefix(crates).expect("below it").to_owned(),
                    text,
                ));
            }
        }
    }
    found
}

#[test]
fn one_place_sleeps_and_few_constants_say_how_long() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let sources = sources(&crates);
    assert!(sources.len() > 300, "only {} files", sources.len());
    let (mut constants, mut wrong, mut sleeps) = (Vec::new(), Vec::new(), 0);
    for (path, text) in &sources {
        let file = File::read(text);
        let name = path.display();
        sleeps += file.sleeps;
        if file.sleeps > 0 && !path.starts_with(SLEEPS) {
            wrong.push(format!("{name} sleeps: use icm_wait"));
        }
        if file.literals > 0 {
            wrong.push(format!(
                "{name} makes a Duration of a number: name it, or use icm_wait::bounds"
            ));
        }
        let unexplained = file.unexplained.iter();
        wrong.extend(unexplained.map(|it| format!("{name}: {it} does not say `Raised, …`")));
        constants.extend(file.constants.into_iter().map(|it| format!("{name} {it}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(sleeps >= 2, "icm_wait sleeps in {sleeps} places");
    let len = constants.len();
    assert!((10..=CONSTANTS_MAX).contains(&len), "{len}: {constants:#?}");
}

#[test]
fn waiting_lines_of_a_file_are_seen() {
    let file = File::read(
        "
        const A: Duration = Duration::from_secs(1);
        /// Of 1 s. Raised, less.
        static B: std::time::Duration = Duration::from_secs(1);
        struct S;
        impl S { const C: Duration = Duration::ZERO; }
        fn f() { thread::sleep(A); let a = Duration::from_millis(5); Duration::from_secs(given); }
        async fn g() { select! { () = tokio::time::sleep(A) => {} } Duration::from_secs(2 * 60); }
        #[cfg(test)]
        mod tests { fn f() { sleep(Duration::from_millis(5)); } }
        ",
    );
    assert_eq!(file.constants, ["A", "B", "C"]);
    assert_eq!(file.unexplained, ["A", "C"]);
    assert_eq!((file.literals, file.sleeps), (2, 2));
}
