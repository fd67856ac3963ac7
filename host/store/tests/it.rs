//! Tests what `throughline-search` makes of queries and texts against FTS5, which reads it. They stand here so that
//! changing and testing `throughline-search` does not compile SQLite.

use proptest::prelude::*;
use rusqlite::Connection;
use throughline_search::pieces;
use throughline_search::query::{FilterableFields, MAX_TERMS, Query, Word};
use throughline_search::tokens::{self, FTS5_TOKENIZER};

fn parse(text: &str) -> Query {
    // Use a fixed zone, since the system's time zone database may lack named zones.
    let seoul = jiff::tz::TimeZone::fixed(jiff::tz::offset(9));
    Query::parse(text, &"2026-03-10T03:00:00Z".parse::<jiff::Timestamp>().unwrap().to_zoned(seoul))
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    tokens::for_each_token(text, |token| words.push(token.text.to_owned()));
    words
}

fn database(contents: &[&str]) -> Connection {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(&format!(
        "CREATE VIRTUAL TABLE f USING fts5(title, content, keywords, files, content = '', contentless_delete = 1,
         tokenize = \"{FTS5_TOKENIZER}\")"
    ))
    .unwrap();
    for (n, content) in contents.iter().enumerate() {
        let row = pieces::row_id(i64::try_from(n).unwrap(), 0);
        db.execute("INSERT INTO f (rowid, content) VALUES (?1, ?2)", (row, tokens::index_text(content))).unwrap();
    }
    db
}

/// Returns the indexes in `contents` of what `text` finds, best first.
fn found(text: &str, contents: &[&str]) -> Vec<usize> {
    let db = database(contents);
    let query = parse(text);
    let Some(expression) = query.fts5_expression(MAX_TERMS) else {
        return Vec::new();
    };
    let mut select = db.prepare("SELECT rowid FROM f WHERE f MATCH ?1 ORDER BY bm25(f), rowid").unwrap();
    let rows = select.query_map([expression], |row| row.get(0)).unwrap();
    rows.map(|row| usize::try_from(pieces::memory_row(row.unwrap())).unwrap())
        .filter(|&n| query.accepts(&FilterableFields { content: contents[n], ..facts() }))
        .collect()
}

fn facts() -> FilterableFields<'static> {
    FilterableFields {
        kind: "decision",
        session: "61d299fc",
        created: 0,
        title: "",
        content: "",
        keywords: "",
        files: &[],
        tools: &["Bash"],
    }
}

#[test]
fn words_are_alternatives_and_the_rarer_ones_weigh_more() {
    let contents = ["cache timeout raised", "cache of plans", "cache of layouts", "the weather"];
    assert_eq!(found("what is the cache timeout", &contents), [0, 1, 2]);
}

#[test]
fn korean_words_are_found_within_compounds_and_before_particles() {
    let contents = ["사용자인증시스템을 고쳤다", "로그인 화면", "인증을 추가", "값을 바꿈"];
    assert_eq!(found("인증", &contents), [2, 0]);
    assert_eq!(found("값", &contents), [3]);
    assert_eq!(found("증", &contents).len(), 2);
}

#[test]
fn a_phrase_stands_together_and_the_other_words_only_lift() {
    let contents = ["run the dry cleaning", "a dry run of the migration", "dry-run flag", "migration"];
    assert_eq!(found("\"dry run\"", &contents), [1]);
    assert_eq!(found("\"dry run\" migration", &contents), [1]);
    assert_eq!(found("“dry run” nothing", &contents), [1]);
}

#[test]
fn an_excluded_word_is_in_none_of_the_results() {
    let contents = ["cache in redis", "cache in docker", "caching dockers"];
    assert_eq!(found("cache -docker", &contents), [0]);
    assert_eq!(found("cache -\"in docker\"", &contents), [2, 0]);
}

#[test]
fn all_pieces_of_a_memory_can_be_deleted_at_once() {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("CREATE VIRTUAL TABLE f USING fts5(t, content = '', contentless_delete = 1)").unwrap();
    for (memory, piece) in [(1, 0), (2, 0), (2, 1), (2, 255), (3, 0)] {
        db.execute("INSERT INTO f (rowid, t) VALUES (?1, 'word')", [pieces::row_id(memory, piece)]).unwrap();
    }
    assert_eq!(db.execute("DELETE FROM f WHERE rowid BETWEEN ?1 AND ?2", pieces::row_id_range(2..=2)).unwrap(), 3);
    let mut left = db.prepare("SELECT rowid FROM f WHERE f MATCH 'word' ORDER BY rowid").unwrap();
    let left: Vec<i64> = left.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(left, [pieces::row_id(1, 0), pieces::row_id(3, 0)]);
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), r"([a-zA-Z0-9_./\\:'é가-힣ァ-ンก-๙-]{1,12} ?){0,12}",]
}

fn queries() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        r#"(AND|OR|NOT|NEAR\(a b, 5\)|title:|\{title\}:|type:|file:|before:|after:|-|"|"a b"|-"c"|\*|\^|\(|\)|\+|'|;|\\|인증|값|a|getUserName|1\.2\.3|\x00| ){0,8}"#,
    ];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn the_database_reads_the_same_tokens(text in texts()) {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(&format!(
            "CREATE VIRTUAL TABLE f USING fts5(t, tokenize = \"{FTS5_TOKENIZER}\");
             CREATE VIRTUAL TABLE v USING fts5vocab(f, instance);"
        )).unwrap();
        db.execute("INSERT INTO f VALUES (?1)", [tokens::index_text(&text)]).unwrap();
        let mut read = db.prepare("SELECT term FROM v ORDER BY offset").unwrap();
        let read: Vec<String> = read.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(read, words_of(&text));
    }

    #[test]
    fn no_query_is_a_syntax_error(text in queries()) {
        let contents = ["a b c", "인증 값", "getUserName 1.2.3"];
        let db = database(&contents);
        let query = parse(&text);
        let expressions = query.words().map(Word::quoted).chain(query.required_expression()).chain(query.fts5_expression(MAX_TERMS));
        for expression in expressions {
            let mut select = db.prepare("SELECT rowid, bm25(f) FROM f WHERE f MATCH ?1").unwrap();
            let rows: Result<Vec<i64>, _> = select.query_map([&expression], |row| row.get(0)).unwrap().collect();
            prop_assert!(rows.is_ok(), "{expression}: {rows:?}");
        }
        query.accepts(&FilterableFields { content: &text, ..facts() });
    }

    #[test]
    fn every_text_finds_itself(text in "([a-zA-Z_]{2,8}|[가-힣]{1,5}|[0-9]\\.[0-9]{1,2})( ([a-zA-Z_]{2,8}|[가-힣]{1,5})){0,6}") {
        prop_assume!(!tokens::index_text(&text).is_empty());
        let contents = [text.as_str(), "unrelated"];
        prop_assert_eq!(found(&text, &contents).first().copied(), Some(0));
        let quoted = format!("\"{text}\"");
        prop_assert_eq!(found(&quoted, &contents), [0]);
    }
}
