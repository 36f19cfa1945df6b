//! No circles among the modules of a crate. A module and those inside it may know each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemMod, ItemUse, UseTree, Visibility};

/// The names from the root of a crate to a module.
type Module = Vec<String>;
/// The modules that each module names.
type Uses = BTreeMap<Module, BTreeSet<Module>>;

/// A source file of a crate, without tests.
pub(super) struct Source {
    module: Module,
    pub(super) file: File,
}

/// Returns the files of a crate, with their modules.
pub(super) fn sources(src: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![(src.to_owned(), Module::new())];
    while let Some((folder, module)) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            let stem = path.file_stem().expect("a name").to_string_lossy();
            let inside = |name: &str| [module.as_slice(), &[name.to_owned()]].concat();
            if path.is_dir() {
                folders.push((path.clone(), inside(&stem)));
            } else if path.extension().is_some_and(|it| it == "rs") && stem != "tests" {
                let text = fs::read_to_string(&path).expect("a source file");
                let file = syn::parse_file(&text).expect("Rust");
                let module = match &*stem {
                    "lib" | "main" | "mod" => module.clone(),
                    name => inside(name),
                };
                found.push(Source { module, file });
            }
        }
    }
    found
}

pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| {
        it.path().is_ident("cfg")
            && matches!(&it.meta, syn::Meta::List(list) if list.tokens.to_string().contains("test"))
    })
}

/// The paths that a module names, as written, and its re-exports by name.
#[derive(Default)]
struct Paths {
    named: Vec<Module>,
    exported: BTreeMap<String, Module>,
}

impl Paths {
    fn leaves(&mut self, tree: &UseTree, before: &[String], is_exported: bool) {
        let with = |name: &dyn ToString| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.leaves(&path.tree, &with(&path.ident), is_exported),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.leaves(tree, before, is_exported);
                }
            }
            UseTree::Name(name) => {
                self.leaf(with(&name.ident), name.ident.to_string(), is_exported);
            }
            UseTree::Rename(name) => {
                self.leaf(with(&name.ident), name.rename.to_string(), is_exported);
            }
            UseTree::Glob(_) => self.named.push(before.to_vec()),
        }
    }

    fn leaf(&mut self, path: Module, name: String, is_exported: bool) {
        if is_exported {
            self.exported.insert(name, path.clone());
        }
        self.named.push(path);
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(it) => &it.attrs,
            Item::Fn(it) => &it.attrs,
            Item::Impl(it) => &it.attrs,
            Item::Use(it) => &it.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    // A module within a file counts as that file.
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        visit::visit_item_mod(self, module);
    }

    // `pub(crate)` names no module.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_exported = !matches!(item.vis, Visibility::Inherited);
        self.leaves(&item.tree, &[], is_exported);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|it| it.ident.to_string());
        self.named.push(names.collect());
        visit::visit_path(self, path);
    }
}

/// Returns the modules that each module of a crate names.
fn uses(src: &Path) -> Uses {
    let mut all: BTreeMap<Module, Paths> = BTreeMap::new();
    for source in sources(src) {
        let paths = all.entry(source.module).or_default();
        paths.visit_file(&source.file);
    }
    let mut found = Uses::new();
    for (module, paths) in &all {
        let used = paths
            .named
            .iter()
            .filter_map(|path| target(&all, module, path, 0));
        found.insert(module.clone(), used.filter(|it| it != module).collect());
    }
    found
}

/// Returns the module of the item that `module` names by `path`, through re-exports.
fn target(
    all: &BTreeMap<Module, Paths>,
    module: &Module,
    path: &[String],
    depth: usize,
) -> Option<Module> {
    let mut at = module.clone();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => at.clear(),
        "super" | "self" => {}
        // The first name is a crate, an item in scope, or a module inside this one.
        first => {
            let inside = [module.as_slice(), &[first.to_owned()]].concat();
            if !all.contains_key(&inside) {
                return None;
            }
        }
    }
    while let Some(name) = rest.first() {
        match name.as_str() {
            "crate" | "self" => {}
            "super" => {
                at.pop();
            }
            name => {
                let inside = [at.as_slice(), &[name.to_owned()]].concat();
                if all.contains_key(&inside) {
                    at = inside;
                } else {
                    let exported = all.get(&at).and_then(|paths| paths.exported.get(name));
                    let exported = exported.filter(|_| depth < 8);
                    return match exported {
                        Some(path) => target(all, &at, path, depth + 1).or(Some(at)),
                        None => Some(at),
                    };
                }
            }
        }
        rest = &rest[1..];
    }
    Some(at)
}

/// Returns `true` if one of the two modules is inside the other.
fn is_family(a: &Module, b: &Module) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// Returns the modules that can be reached from one, without those inside each other.
fn reached(uses: &Uses, from: &Module) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        for used in uses.get(module).into_iter().flatten() {
            if !is_family(module, used) && found.insert(used.clone()) {
                next.push(used);
            }
        }
    }
    found
}

/// Returns the circles, each as the modules that reach one another.
fn circles(uses: &Uses) -> BTreeSet<Vec<String>> {
    let all: BTreeMap<&Module, BTreeSet<Module>> =
        uses.keys().map(|it| (it, reached(uses, it))).collect();
    let of = |module: &Module| -> Vec<String> {
        let around = all[module]
            .iter()
            .filter(|it| all.get(it).is_some_and(|it| it.contains(module)));
        around.map(|it| it.join("::")).collect()
    };
    all.keys()
        .map(|it| of(it))
        .filter(|circle| circle.len() > 1)
        .collect()
}

fn module(name: &str) -> Module {
    name.split("::").map(str::to_owned).collect()
}

#[test]
fn a_circle_is_found_and_a_family_is_none() {
    let uses = |edges: &[(&str, &str)]| {
        let mut uses = Uses::new();
        for (from, to) in edges {
            uses.entry(module(from)).or_default().insert(module(to));
            uses.entry(module(to)).or_default();
        }
        uses
    };
    let circle = uses(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]);
    assert_eq!(
        circles(&circle),
        [vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]].into()
    );
    let family = uses(&[("a", "a::b"), ("a::b", "a"), ("a::b", "c")]);
    assert_eq!(circles(&family), BTreeSet::new());
}

#[test]
fn paths_are_followed_through_uses_and_exports() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    write(
        "lib.rs",
        "mod a; mod b; mod c; pub use b::{B, inner::D as E};",
    );
    write(
        "a.rs",
        "use crate::{B, E as F}; #[cfg(test)] mod tests { use crate::c::C; }",
    );
    write(
        "b/mod.rs",
        "pub(crate) mod inner; pub struct B(crate::c::C);",
    );
    write(
        "b/inner.rs",
        "pub struct D; fn d() { super::super::c::f(); }",
    );
    write("c.rs", "pub struct C; pub fn f() {}");
    let uses = uses(folder.path());
    let of = |name: &str| {
        uses[&module(name)]
            .iter()
            .map(|it| it.join("::"))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("a"), ["b", "b::inner"]);
    assert_eq!(of("b"), ["c"]);
    assert_eq!(of("b::inner"), ["c"]);
    assert!(of("c").is_empty());
}

#[test]
fn no_modules_know_each_other_in_a_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut looked_at = 0;
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(crates).expect("the folder of the crates") {
        let entry = entry.expect("an entry");
        let uses = uses(&entry.path().join("src"));
        looked_at += uses.len();
        let circles = circles(&uses);
        if !circles.is_empty() {
            found.insert(entry.file_name(), circles);
        }
    }
    assert!(looked_at > 300, "only {looked_at} modules were found");
    assert!(found.is_empty(), "circles: {found:#?}");
}
