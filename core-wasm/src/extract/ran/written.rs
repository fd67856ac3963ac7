//! What the agent wrote into a database with a server's tool that runs statements. The name of such a tool does not say whether it changes
//! anything.

use crate::extract::server_tools::{only_looks, plain_head, words};
use crate::text;

/// The words of tools that take a statement and do not run it.
const RUNS_NONE: [&str; 6] = ["explain", "format", "lint", "parse", "generate", "docs"];

/// Parts of the answer, without blanks, after which a statement may have changed nothing.
const DOUBTS: [&str; 10] =
    ["blocked", "read-only", "readonly", "confirm", "skipping", "nothing", "update0", "delete0", "insert00", "rowcount:0"];

/// The beginnings of statements that change data or tables.
const WRITES: [&str; 7] =
    ["DELETE FROM", "UPDATE", "INSERT INTO", "TRUNCATE TABLE", "TRUNCATE", "DROP TABLE", "ALTER TABLE"];

/// The words between such a beginning and the table.
const BESIDE_TABLE: [&str; 3] = ["IF", "EXISTS", "ONLY"];

/// Returns the server and the tool as they are told, and the verb and the table of the statement that the tool was given, if that changes
/// something: `mcp__shop__execute_sql` with `DELETE FROM slips WHERE …` is "shop `execute_sql`" and "DELETE FROM slips".
pub(super) fn written_by(name: &str, query: &str) -> Option<(String, String)> {
    let (server, tool) = name.strip_prefix("mcp__")?.rsplit_once("__")?;
    let words = words(tool);
    if !words.iter().any(|word| word == "sql") || words.iter().any(|word| RUNS_NONE.contains(&word.as_str())) {
        return None;
    }
    // What is taken back at the end has changed nothing.
    if only_looks(tool) || text::contains_words(&query.to_lowercase(), "rollback") {
        return None;
    }
    let query = query.trim_start();
    let verb = WRITES.iter().find(|verb| {
        let begins = query.get(..verb.len()).is_some_and(|own| own.eq_ignore_ascii_case(verb));
        begins && query[verb.len()..].starts_with(char::is_whitespace)
    })?;
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let mut words = query[verb.len()..].split_whitespace().map(|word| word.trim_start_matches(|c| !is_of_name(c)));
    let table = words.find(|word| !BESIDE_TABLE.contains(&word.to_uppercase().as_str()))?;
    let table = table.split(|c| !is_of_name(c)).next().filter(|table| !table.is_empty())?;
    let server = server.rsplit("__").next().unwrap_or(server);
    Some((format!("{} {tool}", text::one_line(server)), format!("{verb} {table}")))
}

/// Returns whether a statement may have changed nothing, by what the tool answered.
pub(super) fn may_change_nothing(output: &str) -> bool {
    text::contains_any(&plain_head(output), &DOUBTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_changes_data_has_a_verb_and_a_table() {
        let told = |query: &str| written_by("mcp__shop__execute_sql", query).map(|(_, statement)| statement);
        for (query, statement) in [
            ("DELETE FROM customers WHERE name = 'Ana'", "DELETE FROM customers"),
            ("\nupdate \"slips\" set price = 2", "UPDATE slips"),
            ("INSERT INTO shop.slips(name) VALUES ('day')", "INSERT INTO shop.slips"),
            ("DROP TABLE IF EXISTS bells;", "DROP TABLE bells"),
        ] {
            assert_eq!(told(query).as_deref(), Some(statement), "{query}");
        }
        for query in ["SELECT * FROM slips", "-- DELETE FROM slips", "DELETED FROM slips", "UPDATE", ""] {
            assert_eq!(told(query), None, "{query}");
        }
        for tool in ["search_docs", "validate_sql", "explain_sql", "format_sql", "search_sql_docs", "generateSQL"] {
            assert_eq!(written_by(&format!("mcp__shop__{tool}"), "DELETE FROM slips"), None, "{tool}");
        }
        assert_eq!(told("DELETE FROM slips; ROLLBACK;"), None);
        for answer in
            ["UPDATE 0", "{\"rowCount\": 0}", "INSERT 0 0", "Query blocked: read-only mode", "till is not there, skipping"]
        {
            assert!(may_change_nothing(answer), "{answer}");
        }
        assert!(!may_change_nothing("[]") && !may_change_nothing("UPDATE 3"));
    }
}
