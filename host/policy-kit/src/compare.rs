//! Compares what two policy configurations make of one session, stage by stage. Pure: it takes results, not policies.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use throughline_model::contract::{Draft, SessionNotes};
use throughline_sandbox::instance::{BuiltContext, Extraction, Summary};
use throughline_sandbox::placeholders::{OPEN, placeholder_at};

/// What the host would have stored for a session after its extractions: drafts replaced by key, retractions applied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredResult {
    /// The current drafts, in the order in which they were first learned.
    pub drafts: Vec<Draft>,
    /// The notes of the latest extraction.
    pub notes: SessionNotes,
}

impl StoredResult {
    /// Adds the next extraction of the session as the store does: first the retractions, then the new drafts.
    pub fn add(&mut self, extraction: &Extraction) {
        let retracted: HashSet<&str> = extraction.retracted.iter().map(String::as_str).collect();
        self.drafts.retain(|draft| !draft.key.as_deref().is_some_and(|key| retracted.contains(key)));
        // If two drafts of one call have the same identity, the later one wins.
        let places: HashMap<Identity<'_>, usize> =
            (0..).zip(&extraction.drafts).map(|(at, new)| (identity(new), at)).collect();
        let mut known = vec![false; extraction.drafts.len()];
        for draft in &mut self.drafts {
            if let Some(&at) = places.get(&identity(draft)) {
                known[at] = true;
                draft.clone_from(&extraction.drafts[at]);
            }
        }
        for draft in &extraction.drafts {
            let at = places[&identity(draft)];
            if !std::mem::replace(&mut known[at], true) {
                self.drafts.push(extraction.drafts[at].clone());
            }
        }
        self.notes.clone_from(&extraction.notes);
    }
}

type Identity<'a> = (Option<&'a str>, &'a str, &'a str);

/// Returns what identifies a memory: its key, otherwise its kind and content.
fn identity(draft: &Draft) -> Identity<'_> {
    match &draft.key {
        Some(key) => (Some(key), "", ""),
        None => (None, &draft.kind, &draft.content),
    }
}

/// A short form of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DraftSummary {
    /// Its key, if it has one.
    pub key: Option<String>,
    /// A core kind or one of a policy's own.
    pub kind: String,
    /// One line.
    pub title: String,
}

impl DraftSummary {
    fn of(draft: &Draft) -> Self {
        Self { key: draft.key.clone(), kind: draft.kind.clone(), title: draft.title.clone() }
    }
}

/// A draft that is on both sides but differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedDraft {
    /// On the first side.
    pub before: DraftSummary,
    /// On the second side.
    pub after: DraftSummary,
    /// The fields that differ, by their names in the contract.
    pub fields: Vec<&'static str>,
}

/// A field of the notes that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedField {
    /// Its name, with `_` between words.
    pub field: String,
    /// On the first side.
    pub before: Value,
    /// On the second side.
    pub after: Value,
}

/// The differences of stage `extractor`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Extracted {
    /// Drafts that only the first side has.
    pub only_before: Vec<DraftSummary>,
    /// Drafts that only the second side has.
    pub only_after: Vec<DraftSummary>,
    /// Drafts that both sides have but that differ.
    pub changed: Vec<ChangedDraft>,
    /// Fields of the notes that differ.
    pub notes: Vec<ChangedField>,
}

impl Extracted {
    /// Whether both sides learned the same.
    pub fn is_empty(&self) -> bool {
        self.only_before.is_empty() && self.only_after.is_empty() && self.changed.is_empty() && self.notes.is_empty()
    }
}

/// Compares what two sides learned.
pub fn extractions(before: &StoredResult, after: &StoredResult) -> Extracted {
    let mut found = Extracted { notes: notes(&before.notes, &after.notes), ..Extracted::default() };
    let mut others: HashMap<Identity<'_>, &Draft> = after.drafts.iter().map(|draft| (identity(draft), draft)).collect();
    for draft in &before.drafts {
        match others.remove(&identity(draft)) {
            None => found.only_before.push(DraftSummary::of(draft)),
            Some(other) => {
                let fields = fields(draft, other);
                if !fields.is_empty() {
                    found.changed.push(ChangedDraft {
                        before: DraftSummary::of(draft),
                        after: DraftSummary::of(other),
                        fields,
                    });
                }
            }
        }
    }
    found.only_after.extend(after.drafts.iter().filter(|draft| others.contains_key(&identity(draft))).map(DraftSummary::of));
    found
}

/// Returns the fields in which two drafts of one memory differ.
fn fields(before: &Draft, after: &Draft) -> Vec<&'static str> {
    [
        ("kind", before.kind != after.kind),
        ("title", before.title != after.title),
        ("content", before.content != after.content),
        ("keywords", before.keywords != after.keywords),
        ("files", before.files != after.files),
        ("importance", before.importance.to_bits() != after.importance.to_bits()),
        ("origin", before.origin != after.origin),
        ("attributes", before.attributes != after.attributes),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect()
}

fn notes(before: &SessionNotes, after: &SessionNotes) -> Vec<ChangedField> {
    let (Ok(Value::Object(before)), Ok(Value::Object(mut after))) =
        (serde_json::to_value(before), serde_json::to_value(after))
    else {
        return Vec::new();
    };
    let pairs = before.into_iter().map(|(field, before)| {
        let after = after.remove(&field).unwrap_or_default();
        ChangedField { field, before, after }
    });
    pairs.filter(|field| field.before != field.after).collect()
}

/// The summary on one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SummaryText {
    /// A few sentences; empty if there is no summary.
    pub text: String,
    /// Most relevant first.
    pub topics: Vec<String>,
}

impl From<Option<&Summary>> for SummaryText {
    fn from(summary: Option<&Summary>) -> Self {
        summary.map_or_else(Self::default, |summary| Self { text: summary.text.clone(), topics: summary.topics.clone() })
    }
}

/// The differences of stage `summarizer`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SummaryDiff {
    /// On the first side.
    pub before: SummaryText,
    /// On the second side.
    pub after: SummaryText,
}

/// Compares two summaries; returns none if they are equal.
pub fn summaries(before: Option<&Summary>, after: Option<&Summary>) -> Option<SummaryDiff> {
    let found = SummaryDiff { before: before.into(), after: after.into() };
    (found.before != found.after).then_some(found)
}

/// The differences of stage `redactor`: counts and rule names, never a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RedactionDiff {
    /// How many texts were compared.
    pub texts: usize,
    /// How many of them come out differently.
    pub different: usize,
    /// The rules that the first side applied more often, and how many more times.
    pub only_before: BTreeMap<String, usize>,
    /// The rules that the second side applied more often, and how many more times.
    pub only_after: BTreeMap<String, usize>,
}

/// Compares what two sides made of the same texts, in the same order.
pub fn redactions(before: &[String], after: &[String]) -> RedactionDiff {
    let mut found = RedactionDiff { texts: before.len().max(after.len()), ..RedactionDiff::default() };
    found.different = found.texts - before.iter().zip(after).filter(|(before, after)| before == after).count();
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for rule in before.iter().flat_map(|text| placeholders(text)) {
        counts.entry(rule).or_default().0 += 1;
    }
    for rule in after.iter().flat_map(|text| placeholders(text)) {
        counts.entry(rule).or_default().1 += 1;
    }
    for (rule, (before, after)) in counts {
        if before > after {
            found.only_before.insert(rule.into(), before - after);
        } else if after > before {
            found.only_after.insert(rule.into(), after - before);
        }
    }
    found
}

/// Returns the rules of a text's placeholders, `[redacted:RULE]` or `[redacted:RULE#TAG]`. Anything that is not a valid
/// rule name is skipped: only rule names may appear in a report, whatever a redactor wrote.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(OPEN).filter_map(|(at, _)| Some(placeholder_at(&text[at..])?.0))
}

/// What one side made of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionAnswer {
    /// What is remembered, in the order in which it was learned.
    pub memories: Vec<DraftSummary>,
    /// The summary.
    pub summary: SummaryText,
    /// What the next session is told; empty for nothing.
    pub page: String,
}

impl SessionAnswer {
    /// Puts the answer of all stages together.
    pub fn new(stored: &StoredResult, summary: Option<&Summary>, page: Option<&BuiltContext>) -> Self {
        Self {
            memories: stored.drafts.iter().map(DraftSummary::of).collect(),
            summary: summary.into(),
            page: page.map(|page| page.text.clone()).unwrap_or_default(),
        }
    }
}

/// The side that a line is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DiffSide {
    /// On both sides.
    Both,
    /// Only on the first side.
    Before,
    /// Only on the second side.
    After,
}

/// A line of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextDiffLine {
    /// The side that it is on.
    pub side: DiffSide,
    /// The text without its newline.
    pub text: String,
}

/// The differences of stage `context-builder`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextDiff {
    /// All lines of both pages, in order.
    pub lines: Vec<ContextDiffLine>,
    /// The length of the first page in UTF-16 code units.
    pub units_before: usize,
    /// The length of the second page in UTF-16 code units.
    pub units_after: usize,
}

/// Compares two pages line by line; returns none if they are equal.
pub fn pages(before: Option<&BuiltContext>, after: Option<&BuiltContext>) -> Option<ContextDiff> {
    let text = |page: Option<&BuiltContext>| page.map(|page| page.text.clone()).unwrap_or_default();
    let (before, after) = (text(before), text(after));
    if before == after {
        return None;
    }
    let diff = TextDiff::from_lines(&before, &after);
    let lines = diff.iter_all_changes().map(|change| ContextDiffLine {
        side: match change.tag() {
            ChangeTag::Equal => DiffSide::Both,
            ChangeTag::Delete => DiffSide::Before,
            ChangeTag::Insert => DiffSide::After,
        },
        text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
    });
    Some(ContextDiff {
        lines: lines.collect(),
        units_before: before.encode_utf16().count(),
        units_after: after.encode_utf16().count(),
    })
}

/// The differences in one session; stages without a difference are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionDiff {
    /// What is remembered.
    #[serde(skip_serializing_if = "Extracted::is_empty")]
    pub extractor: Extracted,
    /// The summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarizer: Option<SummaryDiff>,
    /// What is redacted; none if it was not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redactor: Option<RedactionDiff>,
    /// What the next session is told.
    #[serde(rename = "context-builder", skip_serializing_if = "Option::is_none")]
    pub context_builder: Option<ContextDiff>,
}

impl SessionDiff {
    /// Whether both sides give the same result.
    pub fn is_empty(&self) -> bool {
        self.extractor.is_empty()
            && self.summarizer.is_none()
            && self.redactor.as_ref().is_none_or(|redactor| redactor.different == 0)
            && self.context_builder.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(key: Option<&str>, title: &str) -> Draft {
        let (kind, content) = ("learning".into(), format!("{title}, in full"));
        Draft { key: key.map(str::to_owned), kind, title: title.into(), content, ..Draft::default() }
    }

    fn extraction(drafts: Vec<Draft>, retracted: &[&str], outcome: &str) -> Extraction {
        Extraction {
            drafts,
            retracted: retracted.iter().map(|&key| key.to_owned()).collect(),
            notes: SessionNotes { outcome: outcome.into(), ..SessionNotes::default() },
            state: String::new(),
            consumed: 0,
            malformed: 0,
        }
    }

    fn learned(drafts: Vec<Draft>) -> StoredResult {
        StoredResult { drafts, notes: SessionNotes::default() }
    }

    #[test]
    fn extractions_add_up_as_in_the_store() {
        let mut it = StoredResult::default();
        it.add(&extraction(vec![draft(Some("a"), "old"), draft(Some("b"), "gone"), draft(None, "plain")], &[], "first"));
        it.add(&extraction(vec![draft(None, "plain"), draft(Some("a"), "new")], &["b", "plain"], "last"));
        assert_eq!(it.drafts, [draft(Some("a"), "new"), draft(None, "plain")]);
        assert_eq!(it.notes.outcome, "last");
    }

    #[test]
    fn what_is_taken_back_and_given_in_one_call_holds() {
        let mut it = learned(vec![draft(Some("a"), "old")]);
        it.add(&extraction(vec![draft(Some("a"), "new")], &["a"], ""));
        assert_eq!(it.drafts, [draft(Some("a"), "new")]);
    }

    #[test]
    fn drafts_are_matched_by_identity() {
        let moved = Draft { kind: "decision".into(), ..draft(Some("both"), "other title") };
        let before = learned(vec![draft(Some("both"), "title"), draft(Some("mine"), "x"), draft(None, "same")]);
        let after = learned(vec![draft(None, "same"), moved, draft(Some("yours"), "x"), draft(None, "new")]);
        let found = extractions(&before, &after);
        assert_eq!(found.only_before, [DraftSummary::of(&draft(Some("mine"), "x"))]);
        assert_eq!(found.only_after, [DraftSummary::of(&draft(Some("yours"), "x")), DraftSummary::of(&draft(None, "new"))]);
        assert_eq!(found.changed.len(), 1);
        assert_eq!(found.changed[0].fields, ["kind", "title", "content"]);
        assert_eq!((&*found.changed[0].before.kind, &*found.changed[0].after.kind), ("learning", "decision"));
        assert!(found.notes.is_empty() && !found.is_empty());
        assert!(extractions(&before, &before).is_empty());
    }

    #[test]
    fn only_fields_of_the_notes_that_differ_are_told() {
        let before = StoredResult::default();
        let mut after = StoredResult::default();
        after.notes.done.push("a test".into());
        after.notes.turns = 2;
        let found = extractions(&before, &after);
        let names: Vec<_> = found.notes.iter().map(|field| (field.field.as_str(), &field.after)).collect();
        assert_eq!(names, [("done", &serde_json::json!(["a test"])), ("turns", &serde_json::json!(2))]);
    }

    #[test]
    fn summaries_differ_in_text_or_topics() {
        let summary = |text: &str, topic: &str| Summary { text: text.into(), topics: vec![topic.into()] };
        assert_eq!(summaries(None, None), None);
        assert_eq!(summaries(Some(&summary("a", "t")), Some(&summary("a", "t"))), None);
        assert!(summaries(Some(&summary("a", "t")), Some(&summary("a", "u"))).is_some());
        let found = summaries(None, Some(&summary("a", "t"))).unwrap();
        assert_eq!((&*found.before.text, &*found.after.text), ("", "a"));
    }

    #[test]
    fn redactions_are_told_in_figures_and_rules() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let before = texts(&["plain", "my key is Hunter2 [redacted:a]", "[redacted:a]"]);
        let after = texts(&["plain", "my [redacted:private-term] is [redacted:Hunter2] [redacted:a]", "x"]);
        let found = redactions(&before, &after);
        assert_eq!((found.texts, found.different), (3, 2));
        assert_eq!(found.only_before, BTreeMap::from([("a".to_owned(), 1)]));
        assert_eq!(found.only_after, BTreeMap::from([("private-term".to_owned(), 1)]));
        let told = serde_json::to_string(&found).unwrap();
        assert!(!told.contains("Hunter2") && !told.contains("key"), "{told}");
    }

    #[test]
    fn a_text_that_one_side_does_not_have_is_different() {
        assert_eq!(redactions(&["x".into()], &[]).different, 1);
    }

    #[test]
    fn pages_differ_line_by_line() {
        let page = |text: &str| BuiltContext { text: text.into(), used: Vec::new() };
        assert_eq!(pages(None, None), None);
        assert_eq!(pages(Some(&page("a\nb\n")), Some(&page("a\nb\n"))), None);
        let found = pages(Some(&page("a\nb\nc")), Some(&page("a\n한\nc"))).unwrap();
        let lines: Vec<_> = found.lines.iter().map(|line| (line.side, line.text.as_str())).collect();
        assert_eq!(lines, [(DiffSide::Both, "a"), (DiffSide::Before, "b"), (DiffSide::After, "한"), (DiffSide::Both, "c")]);
        assert_eq!((found.units_before, found.units_after), (5, 5));
        assert_eq!(pages(None, Some(&page("a"))).unwrap().lines.len(), 1);
    }

    #[test]
    fn a_stage_that_makes_no_difference_is_left_out() {
        let same =
            SessionDiff { redactor: Some(RedactionDiff { texts: 3, ..RedactionDiff::default() }), ..SessionDiff::default() };
        assert!(same.is_empty());
        let json = serde_json::to_value(&same).unwrap();
        assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), ["redactor"]);
    }
}
