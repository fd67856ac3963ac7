//! Full-text search: tokens, queries, ranking.

/// x
pub const COLUMN_WEIGHTS: &str = "4.0, 1.0, 2.0, 2.0";
/// x
pub const CANDIDATES: usize = 200;

/// x
pub struct Candidate {
    /// x
    pub rowid: i64,
    /// x
    pub session: String,
    /// x
    pub kind: String,
    /// x
    pub bm25: f64,
    /// x
    pub importance: f64,
    /// x
    pub created: u64,
    /// x
    pub seen: u32,
}
/// x
#[derive(Default)]
pub struct Query {
    /// x
    pub words: Vec<String>,
    /// x
    pub kinds: Vec<String>,
    /// x
    pub files: Vec<String>,
    /// x
    pub sessions: Vec<String>,
    /// x
    pub before: Option<u64>,
    /// x
    pub after: Option<u64>,
}
impl Query {
    /// x
    pub fn parse(text: &str) -> Self {
        Self {
            words: text
                .split(|c: char| !c.is_alphanumeric())
                .filter(|w| !w.is_empty())
                .map(str::to_lowercase)
                .collect(),
            ..Self::default()
        }
    }
    /// x
    pub fn match_expression(&self) -> Option<String> {
        let words: Vec<String> = self.words.iter().map(|w| format!("\"{w}\"")).collect();
        (!words.is_empty()).then(|| words.join(" OR "))
    }
}
/// x
pub fn index_text(text: &str) -> String {
    text.to_lowercase()
}
/// x
#[expect(clippy::cast_possible_truncation)]
pub fn rank(candidates: Vec<Candidate>, limit: usize) -> Vec<(i64, f32)> {
    candidates
        .into_iter()
        .take(limit)
        .map(|c| (c.rowid, (-c.bm25 / (1.0 - c.bm25)) as f32))
        .collect()
}
