//! Chains: what an earlier conversation settled and a later one amended, reversed, refuted or completed; and look-alikes,
//! where the later one is close to the earlier one and leaves it in force.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Deserialize;

use super::conversations::{Conversation, read, write};
use super::lines_of_prompt;
use super::needles::Needles;
use crate::database;
use crate::home::Home;

#[derive(Debug, Deserialize)]
struct Chain {
    id: String,
    /// `amends`, `reverses`, `refutes` or `completes`; `none` for a look-alike.
    relation: String,
    conversations: Vec<Conversation>,
    prompt: String,
    literals: Vec<String>,
    stale: Vec<String>,
}

/// What was measured.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Chains in which something changed.
    pub changes: usize,
    /// Those whose first conversation is linked to a later one.
    pub linked: usize,
    /// Those that are linked by the right relation.
    pub right: usize,
    /// Chains in which nothing changed.
    pub look_alikes: usize,
    /// Those that are linked nevertheless.
    pub false_links: usize,
    /// Pairs of conversations of different chains that are linked.
    pub strange_links: usize,
    /// Changes of which a search finds the last conversation before the earlier ones.
    pub first: usize,
    /// The literals of the changes.
    pub literals: usize,
    /// Those that the prompts brought back.
    pub told: usize,
    /// Changes whose prompt brought back, as if it held, what was superseded.
    pub stale: usize,
    /// The literals of the look-alikes.
    pub kept_literals: usize,
    /// Those that the prompts brought back.
    pub kept_told: usize,
    /// Look-alikes of which a search finds a conversation that says what holds before the other one.
    pub kept_first: usize,
    /// Chains of which prompts mark what holds as earlier, wherever they say it.
    pub doubted: usize,
    /// What is missing or wrong, a line each.
    pub details: Vec<String>,
}

/// A conversation: the chain's place, and its own within the chain.
type ConversationIndex = (usize, usize);

/// The conversations that a link connects, the earlier one first.
type Pair = (ConversationIndex, ConversationIndex);

/// The conversations of a set in a store, and what was found about them.
struct Stored {
    home: Home,
    project: PathBuf,
    /// The conversation of each session.
    places: BTreeMap<String, ConversationIndex>,
    links: BTreeMap<Pair, String>,
    grades: BTreeMap<Pair, String>,
}

impl Stored {
    fn new(chains: &[Chain]) -> Self {
        let home = Home::new();
        let project = home.project("product");
        let mut places: BTreeMap<String, ConversationIndex> = BTreeMap::new();
        for (at, chain) in chains.iter().enumerate() {
            for (nth, conversation) in chain.conversations.iter().enumerate() {
                let session = write(&home, &project, conversation, places.len() as u64 + 1);
                places.insert(session, (at, nth));
            }
        }
        drop(home.run(["ingest".as_ref(), home.projects().as_os_str()]).success());
        let (links, grades) = (links(&home, &places), grades(&home, &places));
        Self { home, project, places, links, grades }
    }

    /// Returns the relations of the links within a chain.
    fn relations(&self, chain: usize) -> BTreeSet<&str> {
        let own = self.links.iter().filter(|((older, newer), _)| older.0 == chain && newer.0 == chain);
        own.map(|(_, relation)| relation.as_str()).collect()
    }

    /// Returns which conversations of a chain the memories are of that a search finds, best first.
    fn found_of_chain(&self, query: &str, chain: usize) -> Vec<usize> {
        let arguments = ["search", "--json", "--limit", "50", "--project"].map(OsStr::new);
        let search = arguments.into_iter().chain([self.project.as_os_str(), OsStr::new("--"), OsStr::new(query)]);
        let found = self.home.json(search);
        let sessions = found.as_array().into_iter().flatten().filter_map(|it| it["session_id"].as_str());
        let places = sessions.filter_map(|session| self.places.get(session));
        places.filter(|place| place.0 == chain).map(|place| place.1).collect()
    }
}

/// Measures the binary under test on a set: `NAME.jsonl` in a folder.
pub fn measure(folder: &Path, name: &str) -> Result<Report> {
    let chains: Vec<Chain> = read(&folder.join(format!("{name}.jsonl")))?;
    let stored = Stored::new(&chains);
    let mut report = Report::default();
    for ((older, newer), relation) in &stored.links {
        if older.0 != newer.0 {
            report.strange_links += 1;
            report.details.push(format!("{} {relation} {}", chains[newer.0].id, chains[older.0].id));
        }
    }
    for (at, chain) in chains.iter().enumerate() {
        let lines = lines_of_prompt(&stored.home, &stored.project, &chain.prompt, at);
        let literals = Needles::new(&chain.literals)?;
        if is_doubted(&literals, &lines) {
            report.doubted += 1;
            report.details.push(format!("{}: what holds is told as earlier", chain.id));
        }
        if chain.relation == "none" {
            report.add_look_alike(&stored, at, chain, &literals, &lines);
        } else {
            report.add_change(&stored, at, chain, &literals, &lines)?;
        }
    }
    Ok(report)
}

impl Report {
    /// Adds a chain in which nothing changed.
    fn add_look_alike(&mut self, stored: &Stored, at: usize, chain: &Chain, literals: &Needles, lines: &[String]) {
        self.look_alikes += 1;
        self.kept_literals += literals.len();
        self.kept_told += literals.count_in(lines);
        let holds = |place: &usize| literals.count_in(&chain.conversations[*place].texts()) == literals.len();
        let is_first = stored.found_of_chain(&chain.prompt, at).first().is_some_and(holds);
        self.kept_first += usize::from(is_first);
        if !is_first {
            self.details.push(format!("{}: a search finds first, or only, what does not say what holds", chain.id));
        }
        if let Some(relation) = stored.relations(at).first() {
            self.false_links += 1;
            self.details.push(format!("{}: {relation}, but the earlier one holds", chain.id));
        }
    }

    /// Adds a chain in which something changed.
    fn add_change(&mut self, stored: &Stored, at: usize, chain: &Chain, literals: &Needles, lines: &[String]) -> Result<()> {
        self.changes += 1;
        self.literals += literals.len();
        self.told += literals.count_in(lines);
        let relations = stored.relations(at);
        self.linked += usize::from(!relations.is_empty());
        self.right += usize::from(relations.contains(chain.relation.as_str()));
        if relations.is_empty() {
            self.details.push(format!("{}: {} was not seen", chain.id, chain.relation));
        }
        let last = chain.conversations.len() - 1;
        let order = stored.found_of_chain(&chain.prompt, at);
        let is_first = order.first() == Some(&last);
        self.first += usize::from(is_first);
        if !is_first {
            let head = match order.iter().position(|place| *place == last) {
                Some(before) => format!("what holds comes after {before} earlier memories"),
                None => "what holds is not found".to_owned(),
            };
            let earlier = order.first().copied().unwrap_or(0);
            let grade = stored.grades.get(&((at, earlier), (at, last))).map_or("no link", String::as_str);
            self.details
                .push(format!("{}: a search finds an earlier conversation first, or none: {head}; {grade}", chain.id));
        }
        let stale = chain.stale.iter().map(|it| Needles::new(std::slice::from_ref(it))).collect::<Result<Vec<_>>>()?;
        let is_stale = |line: &&String| is_current(line) && stale.iter().any(|it| it.match_in(line));
        if let Some(line) = lines.iter().find(is_stale) {
            self.stale += 1;
            self.details.push(format!("{}: told as current: {line}", chain.id));
        }
        Ok(())
    }
}

/// Returns whether a line of a prompt's answer is told as what holds.
pub(super) fn is_current(line: &str) -> bool {
    !line.contains("(earlier)")
}

/// Returns whether what is looked for is told only as what a later memory may have changed.
pub(super) fn is_doubted(literals: &Needles, lines: &[String]) -> bool {
    let current: Vec<String> = lines.iter().filter(|line| is_current(line)).cloned().collect();
    literals.count_in(&current) < literals.count_in(lines)
}

/// Returns the links that hide the older one, by the conversations that they connect.
fn links(home: &Home, places: &BTreeMap<String, ConversationIndex>) -> BTreeMap<Pair, String> {
    let database = database::open(&home.database());
    let select = database.prepare(
        "SELECT o.session_id, n.session_id, s.relation FROM supersessions s
         JOIN memories o ON o.rowid = s.older JOIN memories n ON n.rowid = s.newer
         WHERE s.undone_at IS NULL AND s.relation <> 'follows'",
    );
    // A binary of before this knows no links, and can still be measured.
    let Ok(mut select) = select else { return BTreeMap::new() };
    let rows = select
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)))
        .expect("rows");
    rows.map(|row| row.expect("a row"))
        .filter_map(|(older, newer, relation)| Some(((*places.get(&older)?, *places.get(&newer)?), relation)))
        .collect()
}

/// Returns the strongest link of any kind between two conversations, in words for a reader.
fn grades(home: &Home, places: &BTreeMap<String, ConversationIndex>) -> BTreeMap<Pair, String> {
    let database = database::open(&home.database());
    let select = database.prepare(
        "SELECT o.session_id, n.session_id, s.relation, s.may_change, s.similarity FROM supersessions s
         JOIN memories o ON o.rowid = s.older JOIN memories n ON n.rowid = s.newer
         WHERE s.undone_at IS NULL ORDER BY s.relation <> 'follows', s.may_change, s.similarity",
    );
    let Ok(mut select) = select else { return BTreeMap::new() };
    let rows = select
        .query_map([], |row| {
            let sessions: (String, String) = (row.get(0)?, row.get(1)?);
            let (relation, change, similarity): (String, u8, Option<f64>) = (row.get(2)?, row.get(3)?, row.get(4)?);
            Ok((sessions, format!("{relation}, change {change}, similarity {:.2}", similarity.unwrap_or(1.0))))
        })
        .expect("rows");
    rows.map(|row| row.expect("a row"))
        .filter_map(|((older, newer), grade)| Some(((*places.get(&older)?, *places.get(&newer)?), grade)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_is_doubted_if_only_a_marked_line_tells_it() {
        let literals = Needles::new(&["20 seconds".into()]).unwrap();
        let told = |lines: &[&str]| is_doubted(&literals, &lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
        assert!(told(&["(earlier) the pump starts after 20 seconds"]));
        assert!(!told(&["(earlier) the pump starts after 20 seconds", "the pump starts after 20 seconds"]));
        assert!(!told(&["the pump starts late"]), "it is not told at all");
    }
}
