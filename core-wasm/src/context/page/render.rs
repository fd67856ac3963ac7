//! Renders a page: chooses the entries that fit into the budget, and writes them.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{Form, merge_ids};
use super::fill::Page;
use super::section::SectionKind;
use crate::bindings::exports::throughline::policy::context_builder::Context;
use crate::context::marks;
use crate::text;
use crate::transcript::user_text::INJECTED_HEADING;

/// The place of an entry: its section, and its number there.
type Place = (SectionKind, usize);

impl Page {
    /// Renders the page in at most `budget` UTF-16 units. None if no entry fits.
    pub(in crate::context) fn render(mut self, intro: &str, budget: usize) -> Option<Context> {
        let all = self.left_out + self.sections.values().map(|section| section.entries.len()).sum::<usize>();
        self.limit_sections();
        let mut order: Vec<(Place, Form, u32)> = Vec::new();
        for (kind, section) in &self.sections {
            for (at, entry) in section.entries.iter().enumerate() {
                let whole = entry.short.as_ref().and_then(|short| short.whole_weight).unwrap_or(entry.rank());
                order.extend(entry.short.iter().map(|short| ((*kind, at), Form::Short, short.weight)));
                order.push(((*kind, at), Form::Whole, whole));
            }
        }
        // The sort is stable: entries of equal weight keep their order on the page.
        order.sort_by_key(|&(.., weight)| std::cmp::Reverse(weight));
        let mut entries = self.sections.values().flat_map(|section| &section.entries);
        let is_marked = !intro.contains(marks::MEANING) && entries.any(|entry| marks::name_speaker(&entry.marks));
        let head = format!("{INJECTED_HEADING}\n{intro}{}", if is_marked { marks::MEANING } else { "" });
        let available = budget.checked_sub(text::utf16_len(&head))?;
        let mut chosen = self.fit(&order, available);
        if chosen.len() < all {
            let available = available.checked_sub(text::utf16_len(&self.hint(all)))?;
            chosen = self.fit(&order, available);
        }
        if chosen.is_empty() {
            return None;
        }
        let (mut text, used) = self.write(head, &chosen);
        if chosen.len() < all {
            text.push_str(&self.hint(all - chosen.len()));
        }
        Some(Context { text, used })
    }

    /// Keeps only the most important entries of every section.
    fn limit_sections(&mut self) {
        for (kind, section) in &mut self.sections {
            let max_entries = section.max_entries.unwrap_or(kind.max_entries());
            let mut order: Vec<usize> = (0..section.entries.len()).collect();
            order.sort_by_key(|&at| std::cmp::Reverse(section.entries[at].rank()));
            order.truncate(max_entries);
            let mut at = 0..;
            section.entries.retain(|_| at.next().is_some_and(|at| order.contains(&at)));
        }
    }

    /// Selects the most important entries that fit together. A short form makes room for the whole one if that fits, too.
    fn fit(&self, order: &[(Place, Form, u32)], available: usize) -> BTreeMap<Place, Form> {
        let mut chosen: BTreeMap<Place, Form> = BTreeMap::new();
        let mut opened = BTreeSet::new();
        let mut units = 0;
        for &(place, form, _) in order {
            let (kind, at) = place;
            let length = |form: Form| text::utf16_len(&self.sections[&kind].entries[at].told(form));
            // "\n10. " is the longest mark of an entry.
            let mut cost = 5 + length(form);
            match chosen.get(&place) {
                Some(Form::Whole) => continue,
                Some(Form::Short) => cost = length(form).saturating_sub(length(Form::Short)),
                None if !opened.contains(&kind) => cost += text::utf16_len(&self.opening(kind)),
                None => {}
            }
            if units + cost <= available {
                units += cost;
                opened.insert(kind);
                chosen.insert(place, form);
            }
        }
        chosen
    }

    fn opening(&self, kind: SectionKind) -> String {
        let mut opening = String::from("\n");
        if !kind.heading().is_empty() {
            opening = format!("\n\n### {}", kind.heading());
        }
        let lead = &self.sections[&kind].lead;
        if !lead.is_empty() {
            opening.push_str("\n- ");
            opening.push_str(lead);
        }
        opening
    }

    fn write(&self, head: String, chosen: &BTreeMap<Place, Form>) -> (String, Vec<String>) {
        let (mut text, mut used) = (head, Vec::new());
        let mut current = None;
        let mut number = 0;
        for (&(kind, at), &form) in chosen {
            if current != Some(kind) {
                text.push_str(&self.opening(kind));
                current = Some(kind);
                number = 0;
            }
            number += 1;
            let entry = &self.sections[&kind].entries[at];
            let mark = if kind == SectionKind::Decisions { format!("{number}.") } else { "-".to_owned() };
            text.extend(["\n", &mark, " ", &entry.told(form)]);
            merge_ids(&mut used, &entry.ids);
        }
        (text, used)
    }

    fn hint(&self, left_out: usize) -> String {
        let least = if self.is_truncated { "At least " } else { "" };
        let noun = if left_out == 1 { "memory" } else { "memories" };
        format!("\n\n{least}{left_out} more {noun} left out; to find them: `throughline memory search \"…\"`")
    }
}
