//! The imports between the files of a crate, read from the sources, and the cycles among them.
//!
//! A file imports another if it names an item of it, by `use` or by a path. A name that a file only hands on (`pub use`) leads to
//! the file that defines it. Unit tests do not count. Calls of methods are not seen, because that would take a compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The path of a module within its crate; empty for the root.
type ModulePath = Vec<String>;

/// A name that a file imports, and the path that it stands for.
struct Import {
    name: String,
    path: Vec<String>,
    is_public: bool,
}

/// A file of a crate.
struct Module {
    /// Relative to the folder of the crate's sources.
    file: PathBuf,
    imports: Vec<Import>,
    /// All words outside of imports.
    words: BTreeSet<String>,
    /// All paths of two or more words outside of imports.
    paths: Vec<Vec<String>>,
}

/// The files of a crate and what they import from each other.
pub struct Modules {
    modules: BTreeMap<ModulePath, Module>,
}

impl Modules {
    /// Reads the crate whose sources are in this folder.
    pub fn read(sources: &Path) -> Self {
        let root = ["lib.rs", "main.rs"].map(|name| sources.join(name)).into_iter().find(|file| file.exists());
        let mut modules = Self { modules: BTreeMap::new() };
        modules.add(sources, &root.expect("a crate has a root"), Vec::new());
        modules
    }

    fn add(&mut self, sources: &Path, file: &Path, path: ModulePath) {
        let tokens = without_tests(&tokens(&std::fs::read_to_string(file).expect("UTF-8")));
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a name");
        let folder = file.parent().expect("a folder");
        let below = if ["lib", "main", "mod"].contains(&name) { folder.to_owned() } else { folder.join(name) };
        for child in tokens.windows(3).filter(|it| it[0] == "mod" && it[2] == ";").map(|it| it[1].clone()) {
            let files = [below.join(format!("{child}.rs")), below.join(&child).join("mod.rs")];
            if let Some(file) = files.into_iter().find(|file| file.exists()) {
                self.add(sources, &file, path.iter().cloned().chain([child]).collect());
            }
        }
        let relative = file.strip_prefix(sources).expect("it is below the sources").to_owned();
        self.modules.insert(path, Module::of(relative, &tokens));
    }

    /// Returns how many files there are.
    pub fn files(&self) -> usize {
        self.modules.len()
    }

    /// Returns each set of files that import each other in a circle, directly or through others.
    pub fn cycles(&self) -> Vec<Vec<PathBuf>> {
        let edges: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
            self.modules.keys().map(|path| (path, self.imported_by(path))).collect();
        let reachable: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
            edges.keys().map(|path| (*path, reachable(&edges, path))).collect();
        let mut cycles = BTreeSet::new();
        for (path, reached) in &reachable {
            let circle: BTreeSet<&ModulePath> =
                reached.iter().copied().filter(|other| reachable[other].contains(path)).collect();
            if circle.len() > 1 {
                cycles.insert(circle);
            }
        }
        let files = |circle: BTreeSet<&ModulePath>| circle.into_iter().map(|path| self.modules[path].file.clone()).collect();
        cycles.into_iter().map(files).collect()
    }

    /// Returns the modules that a module imports.
    fn imported_by(&self, from: &ModulePath) -> BTreeSet<&ModulePath> {
        let module = &self.modules[from];
        let mut imported = BTreeSet::new();
        let mut aliases = BTreeMap::new();
        for Import { name, path, is_public } in &module.imports {
            // An imported module counts where it is used.
            if let Some(whole) = self.absolute(from, path).filter(|whole| self.modules.contains_key(whole)) {
                aliases.insert(name.as_str(), whole);
            } else if !is_public || module.words.contains(name) {
                imported.extend(self.target(from, path));
            }
        }
        for path in &module.paths {
            match aliases.get(path[0].as_str()) {
                Some(whole) => {
                    let path: Vec<String> = ["crate".into()].iter().chain(whole).chain(&path[1..]).cloned().collect();
                    imported.extend(self.target(&Vec::new(), &path));
                }
                None => imported.extend(self.target(from, path)),
            }
        }
        imported.remove(from);
        imported
    }

    /// Returns the module in which the item of a path is defined; none for items of other crates.
    fn target(&self, from: &[String], path: &[String]) -> Option<&ModulePath> {
        let whole = self.absolute(from, path)?;
        let (module, found) = (0..=whole.len()).rev().find_map(|length| self.modules.get_key_value(&whole[..length]))?;
        let Some((item, rest)) = whole[module.len()..].split_first() else { return Some(module) };
        match found.imports.iter().find(|import| import.name == *item) {
            // `use x::x` in module `x` would otherwise lead to itself.
            Some(import) if self.absolute(module, &import.path).as_ref() != Some(&whole) => {
                let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
                self.target(module, &path)
            }
            _ => Some(module),
        }
    }

    /// Returns the path from the crate's root; none for paths into other crates.
    fn absolute(&self, from: &[String], path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([from, rest].concat()),
            "super" => {
                let up = path.iter().take_while(|word| *word == "super").count();
                Some([from.get(..from.len().checked_sub(up)?)?, &path[up..]].concat())
            }
            _ => {
                let child = [from, std::slice::from_ref(first)].concat();
                self.modules.contains_key(&child).then(|| [from, path].concat())
            }
        }
    }
}

impl Module {
    fn of(file: PathBuf, tokens: &[String]) -> Self {
        let mut module = Self { file, imports: Vec::new(), words: BTreeSet::new(), paths: Vec::new() };
        let mut at = 0;
        while at < tokens.len() {
            if tokens[at] == "use" {
                let end = tokens[at..].iter().position(|token| token == ";").map_or(tokens.len(), |length| at + length);
                let is_public = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
                for (path, name) in leaves(&tokens[at + 1..end]) {
                    module.imports.push(Import { name, path, is_public });
                }
                at = end;
            } else if tokens[at] == "pub" && tokens.get(at + 1).is_some_and(|token| token == "(") {
                // A visibility such as `pub(in crate::cli)` imports nothing.
                at += tokens[at..].iter().position(|token| token == ")").unwrap_or(0);
            } else if is_word(&tokens[at]) {
                let mut path = vec![tokens[at].clone()];
                while let [colons, word, ..] = &tokens[at + 1..]
                    && colons == "::"
                    && is_word(word)
                {
                    path.push(word.clone());
                    at += 2;
                }
                module.words.insert(path[0].clone());
                if path.len() > 1 {
                    module.paths.push(path);
                }
            }
            at += 1;
        }
        module
    }
}

/// Returns the paths of a `use` declaration, each with the name that it gets.
fn leaves(tree: &[String]) -> Vec<(Vec<String>, String)> {
    let Some(brace) = tree.iter().position(|token| token == "{") else {
        let mut words: Vec<String> = tree.iter().filter(|token| *token != "::").cloned().collect();
        let alias = words.iter().position(|word| word == "as").map(|at| words.drain(at..).nth(1));
        if words.len() > 1 && words.last().is_some_and(|word| word == "self") {
            words.pop();
        }
        let name = alias.flatten().or_else(|| words.last().cloned()).unwrap_or_default();
        return vec![(words, name)];
    };
    let prefix: Vec<String> = tree[..brace].iter().filter(|token| *token != "::").cloned().collect();
    let inner = &tree[brace + 1..tree.len() - 1];
    let mut depth = 0;
    let parts = inner.split(|token| {
        depth += i32::from(token == "{") - i32::from(token == "}");
        depth == 0 && token == ","
    });
    let parts = parts.filter(|part| !part.is_empty()).flat_map(leaves);
    parts
        .map(|(path, name)| {
            // `use a::{self}` names `a` itself.
            let is_self = path == ["self"];
            let name = if is_self && name == "self" { prefix.last().cloned().unwrap_or_default() } else { name };
            (prefix.iter().cloned().chain(path.into_iter().filter(|_| !is_self)).collect(), name)
        })
        .collect()
}

fn reachable<'a>(
    edges: &BTreeMap<&'a ModulePath, BTreeSet<&'a ModulePath>>,
    from: &'a ModulePath,
) -> BTreeSet<&'a ModulePath> {
    let (mut reached, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(path) = left.pop() {
        left.extend(edges[path].iter().copied().filter(|next| reached.insert(*next)));
    }
    reached
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

/// Splits a source into words, `::` and single characters, without comments, strings and spaces.
fn tokens(source: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            quoted(rest, '"')
        } else if let Some(length) = raw_string(rest) {
            length
        } else if first == '\'' && (rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'')) {
            quoted(rest, '\'')
        } else if is_word(rest) {
            let length = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
            tokens.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of the string or character at the beginning of a text.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Returns the length of the raw string at the beginning of a text, if there is one.
fn raw_string(text: &str) -> Option<usize> {
    let after =
        ["r", "br"].into_iter().find_map(|start| text.strip_prefix(start).filter(|rest| rest.starts_with(['"', '#'])))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let begin = text.len() - body.len();
    Some(body.find(&end).map_or(text.len(), |at| begin + at + end.len()))
}

/// Removes the items that only tests have.
fn without_tests(tokens: &[String]) -> Vec<String> {
    const ATTRIBUTE: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].iter().take(ATTRIBUTE.len()).eq(ATTRIBUTE) {
            at += ATTRIBUTE.len();
            let mut depth = 0;
            while at < tokens.len() {
                let token = tokens[at].as_str();
                depth += i32::from(["{", "(", "["].contains(&token)) - i32::from(["}", ")", "]"].contains(&token));
                at += 1;
                if depth == 0 && (token == "}" || token == ";") {
                    break;
                }
            }
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(files: &[(&str, &str)]) -> Vec<Vec<PathBuf>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Modules::read(folder.path()).cycles()
    }

    #[test]
    fn a_circle_through_a_parent_is_found() {
        let found = cycles(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use super::b::{self, Two}; pub struct One(Two); fn f() { b::g() }"),
            ("b/mod.rs", "mod c; pub struct Two; pub(crate) fn g() { c::h() }"),
            ("b/c.rs", "pub(super) fn h() -> crate::a::One { todo!() }"),
        ]);
        assert_eq!(found, [["a.rs", "b/mod.rs", "b/c.rs"].map(PathBuf::from)]);
    }

    #[test]
    fn names_that_are_handed_on_lead_to_their_file() {
        let found = cycles(&[
            ("lib.rs", "mod a; mod b; pub use a::One; use b::two;"),
            ("a.rs", "pub struct One; fn f() { crate::two() }"),
            ("b.rs", "pub(crate) fn two() { let _ = std::mem::size_of::<u8>(); }"),
        ]);
        assert_eq!(found, Vec::<Vec<PathBuf>>::new());
    }

    #[test]
    fn tests_comments_and_strings_import_nothing() {
        let found = cycles(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub struct One; /// crate::b::Two\n#[cfg(test)] mod tests { use crate::b::Two; fn f(_: [u8; 2]) {} }"),
            (
                "b.rs",
                r##"pub struct Two(super::a::One); const S: &str = r#""crate"#; const C: char = '"'; fn f<'a>(_: &'a str) {}"##,
            ),
        ]);
        assert_eq!(found, Vec::<Vec<PathBuf>>::new());
    }
}
