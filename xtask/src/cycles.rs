//! Finds import cycles between the files of a crate.
//!
//! A file imports another one where it names an item that the other one defines, directly or through a re-export. A
//! module that only declares its children and re-exports their items imports nothing.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use syn::visit::{self, Visit};

/// Maximum re-exports that lead to one item. A longer chain is a loop of re-exports.
const REEXPORTS_MAX: usize = 16;

/// The path of a module in its crate, such as `["call", "grant"]`.
type ModulePath = Vec<String>;

/// What one module declares.
#[derive(Default)]
struct ModuleScope {
    file: String,
    items: BTreeSet<String>,
    /// Imported and re-exported names, each with the path behind it.
    imports: BTreeMap<String, Vec<String>>,
    /// Paths of glob imports.
    globs: Vec<Vec<String>>,
    /// The paths that the module names, but for those of its re-exports.
    named: Vec<Vec<String>>,
}

/// The modules of one crate.
#[derive(Default)]
struct CrateModules(BTreeMap<ModulePath, ModuleScope>);

/// Returns a finding for each cycle between the files of a crate. `sources` holds its files by their path under
/// `src/`.
///
/// # Errors
/// A file is not Rust.
pub(crate) fn find(sources: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let mut modules = CrateModules::default();
    for (file, text) in sources {
        let parsed = syn::parse_file(text).with_context(|| format!("{file} cannot be parsed"))?;
        modules.read(module_path(file), file, &parsed.items);
    }
    let imports = modules.imports();
    let finding = |files: &Vec<&str>| {
        let arrows = files.iter().flat_map(|from| imports[from].iter().map(move |(to, name)| (*from, *to, name)));
        let inside = arrows.filter(|(_, to, _)| files.contains(to));
        let inside: Vec<String> = inside.map(|(from, to, name)| format!("{from} takes {name} from {to}")).collect();
        format!("{} files import each other in a cycle: {}", files.len(), inside.join("; "))
    };
    Ok(cycles(&imports).iter().map(finding).collect())
}

/// Returns the module that a file holds: `call/mod.rs` and `call.rs` are both `call`.
fn module_path(file: &str) -> ModulePath {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    match stem {
        "lib" | "main" => Vec::new(),
        stem => stem.split('/').map(str::to_owned).collect(),
    }
}

impl CrateModules {
    fn read(&mut self, path: ModulePath, file: &str, items: &[syn::Item]) {
        let mut scope = ModuleScope { file: file.to_owned(), ..ModuleScope::default() };
        for item in items.iter().filter(|item| !is_test_only(item)) {
            match item {
                syn::Item::Mod(module) => {
                    scope.items.insert(module.ident.to_string());
                    if let Some((_, items)) = &module.content {
                        self.read(child(&path, &module.ident.to_string()), file, items);
                    }
                    continue;
                }
                syn::Item::Use(import) => {
                    let is_reexport = !matches!(import.vis, syn::Visibility::Inherited);
                    scope.import(&import.tree, &mut Vec::new(), is_reexport);
                    continue;
                }
                item => scope.items.extend(name_of(item)),
            }
            NamedPaths(&mut scope.named).visit_item(item);
        }
        self.0.insert(path, scope);
    }

    /// Returns for each file the files that it imports, with one name of each.
    fn imports(&self) -> BTreeMap<&str, BTreeMap<&str, String>> {
        let mut imports: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
        for (path, scope) in &self.0 {
            let from = imports.entry(&scope.file).or_default();
            for named in &scope.named {
                if let Some(file) = self.defining_file(path, named, 0).filter(|file| *file != scope.file) {
                    from.entry(file).or_insert_with(|| named.join("::"));
                }
            }
        }
        imports
    }

    /// Returns the file that defines what a path in a module names. `None` for a module, and for other crates.
    fn defining_file(&self, module: &[String], path: &[String], reexports: usize) -> Option<&str> {
        if reexports > REEXPORTS_MAX {
            return None;
        }
        let (mut at, mut rest) = (module.to_vec(), path);
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ => break,
            }
            rest = others;
        }
        while let Some((first, others)) = rest.split_first() {
            let scope = self.0.get(&at)?;
            let inner = child(&at, first);
            if self.0.contains_key(&inner) {
                (at, rest) = (inner, others);
            } else if scope.items.contains(first) {
                return Some(&scope.file);
            } else if let Some(import) = scope.imports.get(first) {
                let whole: Vec<String> = import.iter().chain(others).cloned().collect();
                return self.defining_file(&at, &whole, reexports + 1);
            } else {
                let globs = scope.globs.iter().map(|glob| glob.iter().chain(rest).cloned().collect::<Vec<_>>());
                return globs.filter_map(|whole| self.defining_file(&at, &whole, reexports + 1)).next();
            }
        }
        None
    }
}

impl ModuleScope {
    fn import(&mut self, tree: &syn::UseTree, prefix: &mut Vec<String>, is_reexport: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.import(&path.tree, prefix, is_reexport);
                prefix.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, prefix, is_reexport)),
            syn::UseTree::Glob(_) => self.globs.push(prefix.clone()),
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.imports.extend(prefix.last().map(|last| (last.clone(), prefix.clone())));
            }
            syn::UseTree::Name(name) => self.bind(&name.ident, &name.ident, prefix, is_reexport),
            syn::UseTree::Rename(rename) => self.bind(&rename.ident, &rename.rename, prefix, is_reexport),
        }
    }

    fn bind(&mut self, name: &syn::Ident, alias: &syn::Ident, prefix: &[String], is_reexport: bool) {
        let path: Vec<String> = prefix.iter().cloned().chain((name != "self").then(|| name.to_string())).collect();
        if !is_reexport {
            self.named.push(path.clone());
        }
        self.imports.insert(alias.to_string(), path);
    }
}

/// Collects the paths that code names, those in macro calls included.
struct NamedPaths<'a>(&'a mut Vec<Vec<String>>);

impl<'ast> Visit<'ast> for NamedPaths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        // An import inside a function: what it names is all that counts here.
        let mut scope = ModuleScope::default();
        scope.import(&import.tree, &mut Vec::new(), false);
        self.0.append(&mut scope.named);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // The tokens of a macro call have no syntax that is known here, so read what looks like a path.
        let tokens = call.tokens.to_string();
        let is_path_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == ' ';
        for run in tokens.split(|c: char| !is_path_part(c)).filter(|run| run.contains("::")) {
            let segments = run.split("::").map(|segment| segment.split_whitespace());
            let segments = segments.filter_map(|mut words| words.next_back()).map(str::to_owned);
            self.0.push(segments.collect());
        }
        visit::visit_macro(self, call);
    }
}

fn child(path: &[String], name: &str) -> ModulePath {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

fn is_test_only(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Const(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => list.tokens.to_string() == "test",
        _ => false,
    })
}

fn name_of(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Returns the groups of files of which each reaches each other one.
fn cycles<'a>(imports: &BTreeMap<&'a str, BTreeMap<&'a str, String>>) -> Vec<Vec<&'a str>> {
    let reached = |from: &'a str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(file) = next.pop() {
            next.extend(imports.get(file).into_iter().flat_map(BTreeMap::keys).filter(|to| seen.insert(**to)));
        }
        seen
    };
    let reach: BTreeMap<&str, BTreeSet<&str>> = imports.keys().map(|file| (*file, reached(file))).collect();
    let mut found: BTreeSet<Vec<&str>> = BTreeSet::new();
    for (file, others) in reach.iter().filter(|(file, others)| others.contains(**file)) {
        found.insert(others.iter().filter(|other| reach[**other].contains(file)).copied().collect());
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let owned = |(file, text): &(&str, &str)| ((*file).to_owned(), (*text).to_owned());
        find(&files.iter().map(owned).collect()).unwrap()
    }

    #[test]
    fn a_planted_cycle_is_found() {
        let files = [
            ("lib.rs", "mod host; mod call;"),
            ("host.rs", "use crate::call::Step; pub struct Host(Step);"),
            ("call/mod.rs", "mod step; pub use step::Step;"),
            ("call/step.rs", "pub struct Step; fn run() { let _ = crate::host::Host::open(); }"),
        ];
        let found = found(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("call/step.rs takes crate::host::Host::open from host.rs"), "{found:?}");
        assert!(found[0].contains("host.rs takes crate::call::Step from call/step.rs"), "{found:?}");
    }

    #[test]
    fn a_parent_that_defines_what_its_child_takes_is_in_a_cycle() {
        let files = [
            ("lib.rs", "mod call;"),
            ("call.rs", "mod step; pub struct Rejection; pub fn run() { step::run() }"),
            ("call/step.rs", "use super::*; pub fn run() { let _: Option<Rejection> = None; }"),
        ];
        assert_eq!(found(&files).len(), 1);
    }

    #[test]
    fn a_path_in_a_macro_call_counts() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub fn f() { println!(\"{}\", crate::b::g(1)); }"),
            ("b.rs", "use crate::a; pub fn g(_: u8) -> u8 { a::f(); 1 }"),
        ];
        assert_eq!(found(&files).len(), 1);
    }

    #[test]
    fn a_facade_and_a_test_are_in_no_cycle() {
        let files = [
            ("lib.rs", "mod call; pub use call::Step;"),
            ("call/mod.rs", "mod step; mod run; pub use step::Step; pub(crate) use run::run;"),
            ("call/run.rs", "use super::Step; pub(crate) fn run(_: Step) {}"),
            (
                "call/step.rs",
                "pub struct Step; #[cfg(test)] mod tests { use super::super::run; fn f() { run(super::Step) } }",
            ),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }
}
