//! A page of sections that is filled by importance up to a budget.

use crate::bindings::exports::throughline::policy::context_builder::Context;

use super::{
    HEADING,
    fold::Words,
    line::{clean, clip, units},
};

/// The longest line of an entry, in UTF-16 code units.
const LONGEST: usize = 400;

/// What stands before an entry.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mark {
    Dash,
    Number,
}

struct Entry {
    section: usize,
    label: String,
    text: String,
    words: Words,
    /// What is shown rather than something else where not all fits.
    weight: f32,
    /// Identifiers of the memories that it tells.
    used: Vec<String>,
}

impl Entry {
    /// Takes the words of a repetition that says more.
    fn improve(&mut self, label: &str, text: &str, words: Words) {
        let (here, there) = (units(&self.text), units(text));
        if self.label == label && there > here && there <= LONGEST {
            text.clone_into(&mut self.text);
            self.words = words;
        }
    }

    fn units(&self) -> usize {
        units(&self.label) + units(&self.text)
    }
}

struct Section {
    title: &'static str,
    mark: Mark,
    most: usize,
}

/// A page under construction. Entries are added section by section; one that repeats an earlier one is folded into it.
pub(super) struct Page {
    about: &'static str,
    sections: Vec<Section>,
    entries: Vec<Entry>,
    /// Whether more is stored than was asked for.
    pub more: bool,
    left_out: usize,
}

impl Page {
    /// `about` is the line that tells the agent what the page is.
    pub fn new(about: &'static str) -> Self {
        Self {
            about,
            sections: Vec::new(),
            entries: Vec::new(),
            more: false,
            left_out: 0,
        }
    }

    /// Begins a section of at most `most` entries.
    pub fn section(&mut self, title: &'static str, mark: Mark, most: usize) {
        self.sections.push(Section { title, mark, most });
    }

    /// Adds an entry to the last section. `label` is our own word before the stored text, such as `Date: `.
    pub fn add(&mut self, label: &str, text: &str, weight: f32, used: Option<&str>) {
        let Some(section) = self.sections.len().checked_sub(1) else {
            return;
        };
        let text = clean(text);
        let words = Words::of(&text);
        if text.is_empty() {
            return;
        }
        let labelled = !label.is_empty();
        let same = self
            .entries
            .iter_mut()
            .find(|entry| entry.words.repeat(&words));
        if let Some(same) = same {
            same.used.extend(used.map(str::to_owned));
            same.weight = same.weight.max(weight);
            // A line of the session's head may be said again under its own heading, but not twice under one.
            if !labelled || same.section == section {
                same.improve(label, &text, words);
                return;
            }
        }
        let full = self
            .entries
            .iter()
            .filter(|entry| entry.section == section)
            .count();
        if full >= self.sections[section].most {
            self.left_out += 1;
            return;
        }
        self.entries.push(Entry {
            section,
            label: label.to_owned(),
            text: clip(&text, LONGEST),
            words,
            weight,
            used: used.into_iter().map(str::to_owned).collect(),
        });
    }

    /// The page within a budget of UTF-16 code units; none where nothing is on it or nothing fits.
    pub fn write(&self, budget: usize) -> Option<Context> {
        let all: Vec<usize> = (0..self.entries.len()).collect();
        let whole = self.render(&all);
        let text_fits = units(&whole) <= budget;
        let chosen = if text_fits { all } else { self.choose(budget) };
        if chosen.is_empty() {
            return None;
        }
        let text = if text_fits {
            whole
        } else {
            self.render(&chosen)
        };
        let mut used: Vec<String> = Vec::new();
        for id in chosen.iter().flat_map(|&entry| &self.entries[entry].used) {
            if !used.contains(id) {
                used.push(id.clone());
            }
        }
        (units(&text) <= budget).then_some(Context { text, used })
    }

    /// The weightiest entries that fit, in the order of the page.
    fn choose(&self, budget: usize) -> Vec<usize> {
        let mut by_weight: Vec<usize> = (0..self.entries.len()).collect();
        by_weight.sort_by(|&one, &other| {
            self.entries[other]
                .weight
                .total_cmp(&self.entries[one].weight)
                .then(one.cmp(&other))
        });
        let frame =
            units(HEADING) + 3 + units(self.about) + units(&self.closing(self.entries.len()));
        let mut left = budget.saturating_sub(frame);
        let mut opened = vec![false; self.sections.len()];
        let mut chosen = Vec::new();
        for index in by_weight {
            let entry = &self.entries[index];
            // A blank line, the heading and its newline; the mark, of at most four units, and the newline.
            let heading = if opened[entry.section] {
                0
            } else {
                6 + units(self.sections[entry.section].title)
            };
            let cost = heading + entry.units() + 5;
            if cost <= left {
                left -= cost;
                opened[entry.section] = true;
                chosen.push(index);
            }
        }
        chosen.sort_unstable();
        chosen
    }

    fn render(&self, chosen: &[usize]) -> String {
        let mut text = format!("{HEADING}\n\n{}\n", self.about);
        let mut section = None;
        let mut number = 0;
        for &index in chosen {
            let entry = &self.entries[index];
            let Section { title, mark, .. } = self.sections[entry.section];
            if section != Some(entry.section) {
                section = Some(entry.section);
                number = 0;
                if !title.is_empty() {
                    text.push_str("\n### ");
                    text.push_str(title);
                }
                text.push('\n');
            }
            number += 1;
            match mark {
                Mark::Dash => text.push_str("- "),
                Mark::Number => {
                    text.push_str(&number.to_string());
                    text.push_str(". ");
                }
            }
            text.push_str(&entry.label);
            text.push_str(&entry.text);
            text.push('\n');
        }
        text.push_str(&self.closing(self.entries.len() - chosen.len()));
        text
    }

    /// The last line: how much is not on the page, and how to get it.
    fn closing(&self, dropped: usize) -> String {
        match dropped + self.left_out {
            0 if !self.more => String::new(),
            0 => "\nMore is stored: `throughline memory search \"…\"`\n".to_owned(),
            count => format!(
                "\nLeft out for space: {count}. To see more: `throughline memory search \"…\"` or `throughline context`\n"
            ),
        }
    }
}
