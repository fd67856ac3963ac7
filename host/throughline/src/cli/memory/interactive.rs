//! `throughline memory search` without a query on a terminal: results while one types.

use std::io;

use console::{Key, Term};

use super::entry;
use super::search::Arguments;
use crate::cli::error::CommandError;
use crate::cli::output::{self, BOLD, DIM};
use crate::cli::scope;
use throughline_engine::memory::types;
use throughline_engine::runtime::Runtime;
use throughline_engine::search::{SearchOptions, SearchRequest};
use throughline_model::contract::Memory;
use throughline_store::{MemoryFilter, Store};

/// The most lines of results. They are below the prompt of the shell and leave what is above it in view.
const MAX_RESULTS: usize = 12;

/// The narrowest terminal on which the age of a memory is shown.
const MIN_WIDTH_WITH_AGE: usize = 50;

/// The lines of the chosen memory's text.
const PREVIEW: usize = 4;

/// Whether a person can type into a search.
pub(super) fn is_possible() -> bool {
    // The keys come from the terminal that shows the list.
    use io::IsTerminal as _;
    io::stdin().is_terminal() && io::stdout().is_terminal() && !console::Term::stdout().features().is_msys_tty()
}

/// Lets a person search. Returns the identifier of the memory that was chosen; none if nothing was.
pub(super) fn choose(runtime: &Runtime, store: &Store, arguments: &Arguments) -> Result<Option<String>, CommandError> {
    let term = Term::buffered_stdout();
    let find = |query: &str| find(runtime, store, arguments, query);
    let mut search = Search::new(&find);
    let mut drawn = 0;
    let chosen = loop {
        term.clear_last_lines(drawn)?;
        let (height, width) = term.size();
        let lines = search.lines(usize::from(width).max(20), usize::from(height), runtime.now);
        for line in &lines {
            if output::has_colours() {
                term.write_line(line)?;
            } else {
                term.write_line(&anstream::adapter::strip_str(line).to_string())?;
            }
        }
        term.flush()?;
        drawn = lines.len();
        match search.press(&term.read_key_raw()?, &find) {
            Pressed::GoOn => {}
            Pressed::Chosen(id) => break Some(id),
            Pressed::Left => break None,
        }
    };
    term.clear_last_lines(drawn)?;
    term.flush()?;
    Ok(chosen)
}

/// What a search found, or why it cannot be made.
type SearchResult = Result<Vec<Hit>, CommandError>;

/// A memory, and the words of the query that it contains, as tokens of the index.
struct Hit {
    memory: Memory,
    words: Vec<String>,
}

fn find(runtime: &Runtime, store: &Store, arguments: &Arguments, query: &str) -> SearchResult {
    let restriction = &arguments.restriction;
    let project = restriction.scope.project(runtime)?;
    let session = restriction.session.as_deref().map(|id| scope::resolve_session(store, id)).transpose()?;
    let most = u32::try_from(MAX_RESULTS).unwrap_or(u32::MAX);
    if query.trim().is_empty() {
        let kinds = types::resolve_kinds(&restriction.types, store, project.as_ref()).map_err(CommandError::new)?;
        let project = project.map(|project| project.id);
        let filter = MemoryFilter { project, session, kinds, shared: true, current: false, marked: arguments.marked() };
        let recent = store.recent(&filter, most).map_err(CommandError::new)?;
        return Ok(recent.into_iter().map(|memory| Hit { memory, words: Vec::new() }).collect());
    }
    let options = SearchOptions {
        types: &restriction.types,
        session: session.as_deref(),
        limit: Some(most),
        profile: arguments.profile.as_deref(),
        marked: arguments.marked(),
    };
    let request = SearchRequest::explicit(runtime, store, query, project.as_ref(), options).map_err(CommandError::new)?;
    let outcome = request.run(store).map_err(CommandError::new)?;
    Ok(outcome.hits.into_iter().map(|hit| Hit { memory: hit.memory, words: hit.words }).collect())
}

/// What a key led to.
#[derive(Debug, PartialEq, Eq)]
enum Pressed {
    GoOn,
    /// The identifier of the memory to show.
    Chosen(String),
    Left,
}

/// A search while it is typed.
struct Search {
    query: String,
    found: SearchResult,
    /// The index of the chosen result.
    at: usize,
}

impl Search {
    fn new(find: &impl Fn(&str) -> SearchResult) -> Self {
        Self { query: String::new(), found: find(""), at: 0 }
    }

    fn press(&mut self, key: &Key, find: &impl Fn(&str) -> SearchResult) -> Pressed {
        let last = self.found.as_ref().map_or(0, |found| found.len().saturating_sub(1));
        match key {
            Key::Escape | Key::CtrlC | Key::Char('\u{4}') => return Pressed::Left,
            Key::Enter => {
                let chosen = self.found.as_ref().ok().and_then(|found| found.get(self.at));
                return chosen.map_or(Pressed::GoOn, |hit| Pressed::Chosen(hit.memory.id.clone()));
            }
            // Control and N or P, as in a shell.
            Key::ArrowDown | Key::Tab | Key::Char('\u{e}') => self.at = (self.at + 1).min(last),
            Key::ArrowUp | Key::BackTab | Key::Char('\u{10}') => self.at = self.at.saturating_sub(1),
            Key::Home => self.at = 0,
            Key::End => self.at = last,
            Key::Backspace => {
                self.query.pop();
                self.search(find);
            }
            // Control and U, and control and W.
            Key::Char('\u{15}') => {
                self.query.clear();
                self.search(find);
            }
            Key::Char('\u{17}') => {
                let kept = self.query.trim_end().rfind(' ').map_or(0, |space| space + 1);
                self.query.truncate(kept);
                self.search(find);
            }
            Key::Char(c) if !c.is_control() => {
                self.query.push(*c);
                self.search(find);
            }
            _ => {}
        }
        Pressed::GoOn
    }

    fn search(&mut self, find: &impl Fn(&str) -> SearchResult) {
        (self.found, self.at) = (find(&self.query), 0);
    }

    /// Returns the lines to show, none wider than the terminal and no more than fit.
    fn lines(&self, width: usize, height: usize, now: u64) -> Vec<String> {
        let fit = |text: &str, most: usize| output::fit(&output::clean_line(text), most.max(1));
        let mut lines = vec![format!("{BOLD}search:{BOLD:#} {}▏", fit(&self.query, width.saturating_sub(10)))];
        let found = match &self.found {
            Ok(found) => found,
            Err(why) => {
                lines.push(format!("{DIM}{}{DIM:#}", fit(why.message(), width - 1)));
                return lines;
            }
        };
        // The query, the help and the cursor's line are always there.
        let room = height.saturating_sub(3);
        let preview = if room > 2 * PREVIEW { PREVIEW } else { 0 };
        let results = found.len().min(room - preview).max(usize::from(room > 0));
        let ages: Vec<String> = found.iter().map(|hit| output::ago(hit.memory.created, now)).collect();
        let (kinds, age) = (output::widest(found.iter().map(|hit| &hit.memory.kind)).min(width / 4), output::widest(&ages));
        // The window follows the choice.
        let first = (self.at + 1).saturating_sub(results);
        for (index, Hit { memory, words }) in found.iter().enumerate().skip(first).take(results) {
            let mut head = output::pad(&fit(&memory.kind, kinds), kinds) + "  ";
            if width >= MIN_WIDTH_WITH_AGE {
                head += &(output::pad(&ages[index], age) + "  ");
            }
            let title = fit(&memory.title, width.saturating_sub(3 + output::columns(&head)));
            let title = output::highlight(&title, |word| entry::is_match(word, words));
            lines.push(if index == self.at {
                format!("› {head}{BOLD}{title}{BOLD:#}")
            } else {
                format!("  {DIM}{head}{DIM:#}{title}")
            });
        }
        if found.is_empty() {
            lines.push(format!("{DIM}nothing found{DIM:#}"));
        }
        if let Some(Hit { memory, words }) = found.get(self.at).filter(|_| preview > 0) {
            let text: Vec<String> = memory.content.lines().map(output::clean_line).filter(|line| !line.is_empty()).collect();
            let mark = |line: &str| output::highlight(&fit(line, width - 5), |word| entry::is_match(word, words));
            lines.extend(text.iter().take(preview).map(|line| format!("    {DIM}{}{DIM:#}", mark(line))));
        }
        lines.push(format!("{DIM}{}{DIM:#}", fit("↑↓ choose  Enter shows it  Esc leaves", width - 1)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(number: usize, title: &str, query: &str) -> Hit {
        let memory = Memory {
            id: format!("id{number}"),
            kind: "decision".into(),
            title: title.into(),
            content: "Why\u{1b}[2J\n\nso".into(),
            ..Memory::default()
        };
        Hit { memory, words: query.split_whitespace().map(str::to_owned).collect() }
    }

    /// Finds the titles that contain the query.
    fn find(query: &str) -> SearchResult {
        let titles = (0..30).map(|number| format!("otter {number}")).chain(["수달은 손을 잡고 잔다".to_owned()]);
        let all = titles.enumerate().filter(|(_, title)| title.contains(query));
        if query == "after:x" {
            Err(CommandError::new("x is no date"))
        } else {
            Ok(all.map(|(number, title)| hit(number, &title, query)).collect())
        }
    }

    fn typed(search: &mut Search, text: &str) {
        for c in text.chars() {
            assert_eq!(search.press(&Key::Char(c), &find), Pressed::GoOn);
        }
    }

    #[test]
    fn what_is_typed_is_searched_and_enter_chooses() {
        let mut search = Search::new(&find);
        typed(&mut search, "otter 2x");
        search.press(&Key::Backspace, &find);
        assert_eq!(search.found.as_ref().unwrap().len(), 11);
        search.press(&Key::ArrowDown, &find);
        search.press(&Key::ArrowDown, &find);
        search.press(&Key::ArrowUp, &find);
        assert_eq!(search.press(&Key::Enter, &find), Pressed::Chosen("id20".into()));
        search.press(&Key::Char('\u{17}'), &find);
        assert_eq!(search.query, "otter ");
        search.press(&Key::Char('\u{15}'), &find);
        assert_eq!((search.query.as_str(), search.at), ("", 0));
        typed(&mut search, "no such thing");
        assert_eq!(search.press(&Key::Enter, &find), Pressed::GoOn);
        assert_eq!(search.press(&Key::Escape, &find), Pressed::Left);
    }

    #[test]
    fn the_words_of_the_query_are_underlined() {
        let mut search = Search::new(&find);
        typed(&mut search, "otter");
        let lines = search.lines(80, 24, 0);
        let marked = output::highlight("otter 1", |word| word == "otter");
        assert!(marked.contains('\u{1b}') && lines[2].contains(&marked), "{lines:?}");
    }

    #[test]
    fn every_line_fits_and_the_choice_is_in_view() {
        let mut search = Search::new(&find);
        for _ in 0..40 {
            for (width, height) in [(80, 24), (20, 8), (33, 3), (20, 1)] {
                let lines = search.lines(width, height, 0);
                assert!(lines.len() <= height.max(2) + 1, "{height}: {lines:#?}");
                for line in &lines {
                    let plain = anstream::adapter::strip_str(line).to_string();
                    assert!(output::columns(&plain) <= width && !plain.contains('\u{1b}'), "{width}: {line:?}");
                }
                assert_eq!(lines.iter().filter(|line| line.starts_with('›')).count(), usize::from(height > 3), "{lines:#?}");
            }
            search.press(&Key::Tab, &find);
        }
        search.press(&Key::Char('\u{15}'), &find);
        typed(&mut search, "after:x");
        assert!(search.lines(40, 24, 0)[1].contains("x is no date"));
    }
}
