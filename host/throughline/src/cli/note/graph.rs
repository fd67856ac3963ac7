//! `throughline note graph`: prints the relations between notes.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use super::context::NoteContext;
use super::{CommandError, Store, output};
use throughline_engine::runtime::Runtime;
use throughline_notes::links::{Link, NameIndex};
use throughline_store::StoredNote;

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A tree
    Text,
    /// The language of Graphviz
    Dot,
    /// An object: nodes, edges, dangling
    Json,
}

/// Print the relations between notes
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The identifier of a note, or the name of its file with or without the day; by default all notes that have
    /// relations
    #[arg(value_name = "NOTE")]
    note: Option<String>,
    /// How many links to follow from the note
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = crate::cli::number::small::<1, 10>)]
    hop: u8,
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Use the project of this folder, or the known project of this name or path, instead of the current one
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

/// A link between two notes, by their indices in the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: usize,
    relation: String,
    to: usize,
}

/// All notes and the links between them.
struct Graph {
    notes: Vec<StoredNote>,
    edges: Vec<Edge>,
    /// Links without a target: the note, and the name of the missing target.
    dangling: Vec<(usize, String)>,
}

impl Graph {
    fn of(store: &Store, context: &NoteContext) -> Result<Self, CommandError> {
        let notes = store.notes_of(&context.project.id, &context.registry)?;
        let mut names = NameIndex::default();
        for it in &notes {
            names.add(&it.stem, &[&it.note.uid, &it.memory]);
        }
        let mut edges = Vec::new();
        let mut dangling = Vec::new();
        for (from, it) in notes.iter().enumerate() {
            for link in Link::all(&it.note, &context.registry) {
                let targets = names.resolve(&link.target);
                if targets.is_empty() {
                    dangling.push((from, link.target));
                } else {
                    let others = targets.into_iter().filter(|to| *to != from);
                    edges.extend(others.map(|to| Edge { from, relation: link.relation.clone(), to }));
                }
            }
        }
        edges.sort();
        edges.dedup();
        Ok(Self { notes, edges, dangling })
    }

    /// Returns the notes that can be reached over at most `most` links, with their distances.
    fn reach(&self, from: &[usize], most: u8) -> BTreeMap<usize, u8> {
        let mut away: BTreeMap<usize, u8> = from.iter().map(|at| (*at, 0)).collect();
        let mut queue: VecDeque<usize> = from.iter().copied().collect();
        while let Some(at) = queue.pop_front() {
            let next = away[&at] + 1;
            if next > most {
                continue;
            }
            for edge in &self.edges {
                let other = match edge {
                    Edge { from, to, .. } if *from == at => *to,
                    Edge { from, to, .. } if *to == at => *from,
                    _ => continue,
                };
                away.entry(other).or_insert_with(|| {
                    queue.push_back(other);
                    next
                });
            }
        }
        away
    }
}

pub(super) fn run(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<(), CommandError> {
    let context = NoteContext::of(runtime, arguments.project.as_deref(), None)?;
    let graph = Graph::of(store, &context)?;
    let away = match &arguments.note {
        Some(name) => {
            let named = store.notes_named(&context.project.id, name, &context.registry)?;
            let begins = |it: &StoredNote| name.len() >= 4 && it.memory.starts_with(name.as_str());
            let from: Vec<usize> = graph
                .notes
                .iter()
                .enumerate()
                .filter(|(_, it)| named.iter().any(|other| other.memory == it.memory) || (named.is_empty() && begins(it)))
                .map(|(at, _)| at)
                .collect();
            if from.is_empty() {
                return Err(CommandError::new(format!("there is no note {name} in this project"))
                    .hint("`throughline note recall --json` and `throughline memory list` show the identifiers"));
            }
            graph.reach(&from, arguments.hop)
        }
        None => graph.edges.iter().flat_map(|edge| [edge.from, edge.to]).map(|at| (at, 0)).collect(),
    };
    let mut out = output::stdout();
    match arguments.format {
        Format::Json => return json(&graph, &away),
        Format::Dot => write!(out, "{}", dot(&graph, &away))?,
        Format::Text => text(&mut out, &graph, &away)?,
    }
    Ok(out.flush()?)
}

fn edges<'a>(graph: &'a Graph, away: &'a BTreeMap<usize, u8>) -> impl Iterator<Item = &'a Edge> {
    graph.edges.iter().filter(|edge| away.contains_key(&edge.from) && away.contains_key(&edge.to))
}

fn text(out: &mut impl Write, graph: &Graph, away: &BTreeMap<usize, u8>) -> Result<(), CommandError> {
    if away.is_empty() {
        writeln!(anstream::stderr().lock(), "no note of this project has relations")?;
    }
    let mut order: Vec<(u8, usize)> = away.iter().map(|(at, hops)| (*hops, *at)).collect();
    order.sort_unstable();
    for (hops, at) in order {
        let it = &graph.notes[at];
        let indent = "  ".repeat(hops.into());
        writeln!(out, "{indent}{} [{}] {}", it.memory, it.note.note_type, output::clean_line(&super::recall::brief(it)))?;
        for edge in edges(graph, away).filter(|edge| edge.from == at) {
            let to = &graph.notes[edge.to];
            writeln!(out, "{indent}    {} → {} {}", edge.relation, to.memory, output::clean_line(&to.note.title))?;
        }
        for (_, target) in graph.dangling.iter().filter(|(from, _)| *from == at) {
            writeln!(out, "{indent}    {} does not exist", output::clean_line(target))?;
        }
    }
    Ok(())
}

fn dot(graph: &Graph, away: &BTreeMap<usize, u8>) -> String {
    let quoted = |text: &str| format!("\"{}\"", output::clean_line(text).replace('\\', "\\\\").replace('"', "\\\""));
    let mut dot = String::from("digraph notes {\n  node [shape=box];\n");
    for at in away.keys() {
        let it = &graph.notes[*at];
        let label = format!("{}\n{}", it.note.title, it.note.note_type);
        let label = label.lines().map(|line| quoted(line).trim_matches('"').to_owned()).collect::<Vec<_>>().join("\\n");
        let _ = writeln!(dot, "  {} [label=\"{label}\"];", quoted(&it.memory));
    }
    for edge in edges(graph, away) {
        let (from, to) = (&graph.notes[edge.from], &graph.notes[edge.to]);
        let _ = writeln!(dot, "  {} -> {} [label={}];", quoted(&from.memory), quoted(&to.memory), quoted(&edge.relation));
    }
    dot.push_str("}\n");
    dot
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Node<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    note_type: &'a str,
    title: &'a str,
    /// The name of the file without its extension.
    name: &'a str,
    hop: u8,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Relation<'a> {
    from: &'a str,
    #[serde(rename = "relation")]
    name: &'a str,
    to: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Dangling<'a> {
    from: &'a str,
    target: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Neighbourhood<'a> {
    nodes: Vec<Node<'a>>,
    edges: Vec<Relation<'a>>,
    dangling: Vec<Dangling<'a>>,
}

fn json(graph: &Graph, away: &BTreeMap<usize, u8>) -> Result<(), CommandError> {
    let id = |at: usize| graph.notes[at].memory.as_str();
    let node = |(at, hop): (&usize, &u8)| {
        let it = &graph.notes[*at];
        Node { id: id(*at), note_type: &it.note.note_type, title: &it.note.title, name: &it.stem, hop: *hop }
    };
    let dangling = graph.dangling.iter().filter(|(from, _)| away.contains_key(from));
    output::json(&Neighbourhood {
        nodes: away.iter().map(node).collect(),
        edges: edges(graph, away)
            .map(|edge| Relation { from: id(edge.from), name: &edge.relation, to: id(edge.to) })
            .collect(),
        dangling: dangling.map(|(from, target)| Dangling { from: id(*from), target }).collect(),
    })
}
