//! The registry of note types, their relations, and the order in which a chain searches them. A team can add to the
//! built-in registry.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::NotesError;
use throughline_model::invalid::Invalid;

/// The built-in note types.
pub const BUILT_IN_TYPES: &str = include_str!("registry.yaml");

/// The built-in relations.
pub const BUILT_IN_RELATIONS: &str = include_str!("relations.yaml");

/// The folder of a team's own registry, below the folder that notes are synced with.
pub const SCHEMA_FOLDER: &str = "_schema";

/// The type of a note if no other type is known.
pub const GENERAL_TYPE: &str = "general";

/// The largest registry file of a team that is read, bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// A note type.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteType {
    /// What a note of this type contains.
    #[serde(default)]
    pub description: String,
    /// The tags that every note of this type has.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The kind of memory; `None` for the type's own name.
    kind: Option<String>,
    /// Memories of these kinds also count as notes of this type.
    #[serde(default)]
    kinds: Vec<String>,
    /// The default importance, from 0 to 1.
    #[serde(default = "middling")]
    pub importance: f32,
}

fn middling() -> f32 {
    0.6
}

/// A relation: which types may stand on its two sides.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
struct Relation {
    #[serde(default)]
    description: String,
    /// For each source type, the allowed target types.
    #[serde(flatten)]
    pairs: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypesFile {
    #[serde(default)]
    types: BTreeMap<String, NoteType>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RelationsFile {
    #[serde(default)]
    relations: BTreeMap<String, Relation>,
    #[serde(default)]
    chains: BTreeMap<String, Vec<String>>,
}

/// All types, relations and chains.
#[derive(Clone, Debug, PartialEq)]
pub struct Registry {
    types: BTreeMap<String, NoteType>,
    relations: BTreeMap<String, Relation>,
    chains: BTreeMap<String, Vec<String>>,
}

impl Registry {
    /// Returns the built-in registry.
    pub fn built_in() -> Self {
        let mut own = Self { types: BTreeMap::new(), relations: BTreeMap::new(), chains: BTreeMap::new() };
        // A test parses both built-in files, so this cannot fail.
        let read = own.add_types(BUILT_IN_TYPES).and_then(|()| own.add_relations(BUILT_IN_RELATIONS));
        debug_assert_eq!(read, Ok(()));
        own
    }

    /// Returns the built-in registry plus the additions of a team's files in `folder`.
    pub fn load(folder: &Path) -> Result<Self, NotesError> {
        let mut registry = Self::built_in();
        let schema = folder.join(SCHEMA_FOLDER);
        for (name, add) in
            [("types.yaml", Self::add_types as fn(&mut Self, &str) -> _), ("type-relations.yaml", Self::add_relations)]
        {
            let file = schema.join(name);
            let text = match super::read_in_folder(folder, &file, MAX_FILE_BYTES) {
                Ok(None) => continue,
                Ok(Some(text)) => Ok(text),
                Err(why) => Err(why),
            };
            text.and_then(|text| add(&mut registry, &text)).map_err(|why| NotesError::Registry(why.at(file.display())))?;
        }
        Ok(registry)
    }

    /// Returns the built-in registry plus the additions of a project's team.
    pub fn of_project(root: &Path) -> Result<Self, NotesError> {
        Self::load(&super::folder_of_project(root, &root.join(super::NOTES_FOLDER))?)
    }

    fn add_types(&mut self, text: &str) -> Result<(), Invalid> {
        let file: TypesFile = super::yaml::parse(text)?;
        for (name, kind) in file.types {
            if !is_name(&name) {
                return Err(format!("{name:?} is not a type name: use lower-case words joined by hyphens").into());
            }
            if !(0.0..=1.0).contains(&kind.importance) {
                return Err(format!("{name}: importance is {}, which is not within 0 to 1", kind.importance).into());
            }
            if let Some(kind) = kind.kind.iter().chain(&kind.kinds).find(|kind| !is_kind(kind)) {
                return Err(format!("{name}: {kind:?} is not a kind: use lower-case words joined by `_` or hyphens").into());
            }
            self.types.insert(name, kind);
        }
        Ok(())
    }

    fn add_relations(&mut self, text: &str) -> Result<(), Invalid> {
        let file: RelationsFile = super::yaml::parse(text)?;
        for (name, relation) in file.relations {
            let own = self.relations.entry(name).or_default();
            if !relation.description.is_empty() {
                own.description = relation.description;
            }
            for (from, to) in relation.pairs {
                own.pairs.entry(from).or_default().extend(to);
            }
        }
        self.chains.extend(file.chains);
        let named = self
            .relations
            .values()
            .flat_map(|relation| relation.pairs.iter().flat_map(|(from, to)| std::iter::once(from).chain(to)));
        match named.chain(self.chains.values().flatten()).find(|name| !self.types.contains_key(*name)) {
            Some(name) => Err(format!("there is no type {name:?}").into()),
            None => Ok(()),
        }
    }

    /// Returns the names of all types in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// Returns the type of this name.
    pub fn get(&self, name: &str) -> Option<&NoteType> {
        self.types.get(name)
    }

    /// Returns the kind of memory that a note of this type is stored as.
    pub fn kind_of(&self, name: &str) -> String {
        self.types.get(name).and_then(|it| it.kind.clone()).unwrap_or_else(|| name.to_owned())
    }

    /// Returns the note type of a memory of this kind that has no explicit type; `None` if it is not a note.
    pub fn type_of(&self, kind: &str) -> Option<&str> {
        let named = self.types.get_key_value(kind).map(|(name, _)| name);
        let of = |it: &NoteType| it.kind.as_deref() == Some(kind) || it.kinds.iter().any(|of| of == kind);
        named.or_else(|| self.types.iter().find(|(_, it)| of(it)).map(|(name, _)| name)).map(String::as_str)
    }

    /// Returns the kinds of memories that belong to a type.
    pub fn kinds_of(&self, name: &str) -> Vec<String> {
        let Some(it) = self.types.get(name) else { return Vec::new() };
        let mut kinds = vec![self.kind_of(name), name.to_owned()];
        kinds.extend(it.kinds.iter().cloned());
        kinds.dedup();
        kinds
    }

    /// Expands note types to the kinds of memories they include; other names are kept.
    pub fn expand_types(&self, types: &[String]) -> Vec<String> {
        let kinds_of = |name: &String| if self.get(name).is_some() { self.kinds_of(name) } else { vec![name.clone()] };
        let mut kinds: Vec<String> = types.iter().flat_map(kinds_of).collect();
        kinds.dedup();
        kinds
    }

    /// Returns the names of all kinds that are notes.
    pub fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self.names().flat_map(|name| self.kinds_of(name)).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// Returns the names of the relations.
    pub fn relations(&self) -> impl Iterator<Item = &str> {
        self.relations.keys().map(String::as_str)
    }

    /// Returns whether notes of these types may have this relation. A relation that is not in the registry is never
    /// allowed.
    pub fn allows_relation(&self, from: &str, relation: &str, to: &str) -> bool {
        self.relations.get(relation).is_some_and(|it| it.pairs.get(from).is_some_and(|all| all.iter().any(|one| one == to)))
    }

    /// Returns the types that a type may have a relation to.
    pub fn allowed_targets(&self, from: &str, relation: &str) -> &[String] {
        self.relations.get(relation).and_then(|it| it.pairs.get(from)).map_or(&[], Vec::as_slice)
    }

    /// Returns the types of a chain, in search order.
    pub fn chain(&self, name: &str) -> Option<&[String]> {
        self.chains.get(name).or_else(|| self.chains.get(name.strip_suffix("_chain")?)).map(Vec::as_slice)
    }

    /// Returns the names of the chains.
    pub fn chains(&self) -> impl Iterator<Item = &str> {
        self.chains.keys().map(String::as_str)
    }
}

/// Returns whether this is a valid type name; it must also be a valid folder name.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('-')
}

fn is_kind(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_programs_own_can_be_read() {
        let mut own = Registry { types: BTreeMap::new(), relations: BTreeMap::new(), chains: BTreeMap::new() };
        own.add_types(BUILT_IN_TYPES).unwrap();
        own.add_relations(BUILT_IN_RELATIONS).unwrap();
        assert_eq!(own.names().count(), 14);
        assert_eq!(own.chain("debugging").unwrap().len(), 4);
        assert_eq!(own.chain("session_chain"), own.chain("session"));
    }

    #[test]
    fn every_kind_that_the_contract_names_is_of_one_type_or_none() {
        let own = Registry::built_in();
        for (kind, of) in [
            ("decision", "architecture-decision"),
            ("error_fix", "root-cause"),
            ("failure", "debug-blocked"),
            ("learning", "pattern-discovery"),
            ("discovery", "pattern-discovery"),
            ("commit", "execution-summary"),
            ("task", "session-handoff"),
            ("session_summary", "session-summary"),
            ("compact_summary", "session-snapshot"),
            ("preference", "general"),
            ("security-finding", "security-finding"),
        ] {
            assert_eq!(own.type_of(kind), Some(of));
            assert!(own.kinds_of(of).contains(&kind.to_owned()));
        }
        assert_eq!(own.type_of("turn"), None);
    }

    #[test]
    fn relations_hold_between_the_types_that_they_name() {
        let own = Registry::built_in();
        assert!(own.allows_relation("root-cause", "resolves", "debug-eliminated"));
        assert!(own.allows_relation("architecture-decision", "informs", "pattern-discovery"));
        assert!(own.allows_relation("debug-blocked", "triggers", "health-event"));
        assert!(own.allows_relation("root-cause", "generates", "pattern-discovery"));
        assert!(!own.allows_relation("bootstrap", "resolves", "root-cause"));
    }

    #[test]
    fn a_team_adds_types_and_is_told_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let schema = folder.path().join(SCHEMA_FOLDER);
        fs::create_dir(&schema).unwrap();
        let write = |name: &str, text: &str| fs::write(schema.join(name), text).unwrap();
        write(
            "types.yaml",
            "types:\n  incident:\n    description: An outage\n    tags: [ops, incident]\n    importance: 0.9\n",
        );
        write(
            "type-relations.yaml",
            "relations:\n  resolves:\n    root-cause: [incident]\nchains:\n  ops: [incident, root-cause]\n",
        );
        let registry = Registry::load(folder.path()).unwrap();
        assert_eq!(registry.names().count(), 15);
        assert_eq!(registry.kind_of("incident"), "incident");
        assert!(registry.allows_relation("root-cause", "resolves", "incident"));
        assert!(registry.allows_relation("root-cause", "resolves", "debug-blocked"), "what is there stays");
        for (text, wrong) in [
            ("types:\n  Incident: {}\n", "is not a type name"),
            ("types:\n  incident: {importance: 2}\n", "not within 0 to 1"),
            ("types:\n  incident: {wieght: 2}\n", "wieght"),
            ("types: [\n", "line"),
        ] {
            write("types.yaml", text);
            let why = Registry::load(folder.path()).unwrap_err().to_string();
            assert!(why.contains(wrong) && why.contains("types.yaml"), "{why}");
        }
        write("types.yaml", "types: {}\n");
        let why = Registry::load(folder.path()).unwrap_err().to_string();
        assert!(why.contains("there is no type \"incident\""), "{why}");
    }
}
