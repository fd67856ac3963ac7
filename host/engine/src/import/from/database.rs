//! Other programs' SQLite databases, with times read as importers read them.

use serde_json::Value;
use throughline_model::contract::Timestamp;
pub(super) use throughline_store::foreign::{Database, ForeignError, Row};

use crate::import::line;

/// Reads times from a row.
pub(super) trait RowTime {
    /// Parses a time in any unit or form; `None` if it is not a time after 1970.
    fn time(&self, column: &str) -> Option<Timestamp>;
}

impl RowTime for Row {
    fn time(&self, column: &str) -> Option<Timestamp> {
        time_of(&self.value(column))
    }
}

fn time_of(value: &Value) -> Option<Timestamp> {
    line::parse_time(value).filter(|at| *at > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_read_in_any_unit_and_form() {
        let ten = Some(1_768_471_200_000);
        for value in [json!(1_768_471_200), json!(1_768_471_200_000_u64), json!("2026-01-15 10:00:00")] {
            assert_eq!(time_of(&value), ten, "{value}");
        }
        for value in [json!(-1), json!(0), json!("soon"), Value::Null] {
            assert_eq!(time_of(&value), None, "{value}");
        }
    }
}
