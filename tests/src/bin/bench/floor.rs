//! The two programs with which hooks are compared, `sqlite3` and `node`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tests::home::Home;
use tests::measure::{self, median, milliseconds};
use tests::process;

use crate::table::Table;

/// The most that a hook may take, as a multiple of the wall time of `sqlite3 FILE 'select 1'`.
const MAX_RATIO_TO_SQLITE: f64 = 6.0;
/// The same of `node -e 1`.
const MAX_RATIO_TO_NODE: f64 = 0.1;

/// The two programs that every machine has felt.
pub(crate) struct Floor {
    pub(crate) sqlite: Option<PathBuf>,
    pub(crate) node: Option<PathBuf>,
}

/// The medians of one comparison.
pub(crate) struct Compared {
    pub(crate) hooks: Vec<(&'static str, Duration)>,
    sqlite: Option<Duration>,
    node: Option<Duration>,
}

impl Floor {
    pub(crate) fn find() -> Self {
        let find = |name: &str| {
            let path = process::which(name);
            if path.is_none() {
                tests::skip(&format!("the comparison with {name}"), "it is not installed");
            }
            path
        };
        Self { sqlite: find("sqlite3"), node: find("node") }
    }

    /// Takes the hooks and the floor in turn, so that whatever else the machine does meets all alike. `prepare` runs
    /// before each round and is not measured.
    pub(crate) fn compare(
        &self,
        home: &Home,
        hooks: &[(&'static str, &[&str], &Value)],
        rounds: usize,
        mut prepare: impl FnMut(),
    ) -> Compared {
        let mut times = vec![Vec::new(); hooks.len()];
        let (mut sqlite, mut node) = (Vec::new(), Vec::new());
        // The first rounds warm the caches.
        for round in 0..rounds + 2 {
            prepare();
            let keep = |times: &mut Vec<Duration>, time| {
                if round >= 2 {
                    times.push(time);
                }
            };
            for ((_, name, payload), times) in hooks.iter().zip(&mut times) {
                let command = home.command(["hook"].iter().chain(*name));
                keep(times, measure::time(command, payload.to_string().as_bytes()));
            }
            if let Some(program) = &self.sqlite {
                let mut command = home.isolated(program);
                command.arg(home.database()).arg("select 1");
                keep(&mut sqlite, measure::time(command, b""));
            }
            if let Some(program) = &self.node {
                let mut command = home.isolated(program);
                command.args(["-e", "1"]);
                keep(&mut node, measure::time(command, b""));
            }
        }
        let some = |times: &mut Vec<Duration>| (!times.is_empty()).then(|| median(times));
        Compared {
            hooks: hooks.iter().zip(&mut times).map(|((what, ..), times)| (*what, median(times))).collect(),
            sqlite: some(&mut sqlite),
            node: some(&mut node),
        }
    }
}

impl Compared {
    /// Prints one row a hook; `allowance` lifts the limits.
    pub(crate) fn print(&self, table: &mut Table, allowance: f64) {
        for (what, time) in &self.hooks {
            let ratio = |floor: Option<Duration>| floor.map(|floor| time.as_secs_f64() / floor.as_secs_f64());
            let (sqlite, node) = (ratio(self.sqlite), ratio(self.node));
            let shown = |ratio: Option<f64>| ratio.map_or("?".to_owned(), |ratio| format!("{ratio:.2}"));
            let kept = sqlite.map(|ratio| ratio <= MAX_RATIO_TO_SQLITE * allowance);
            let kept = match (kept, node.map(|ratio| ratio <= MAX_RATIO_TO_NODE * allowance)) {
                (Some(a), Some(b)) => Some(a && b),
                (a, b) => a.or(b),
            };
            table.row(
                what,
                &format!("{:.1} ms, {}, {}", milliseconds(*time), shown(sqlite), shown(node)),
                &format!("≤ {} sqlite3, {} node", MAX_RATIO_TO_SQLITE * allowance, MAX_RATIO_TO_NODE * allowance),
                kept,
            );
        }
    }

    /// Prints one row a hook, against `sqlite3` alone.
    pub(crate) fn print_within(&self, table: &mut Table, most: f64) {
        for (what, time) in &self.hooks {
            let ratio = self.sqlite.map(|floor| time.as_secs_f64() / floor.as_secs_f64());
            let shown = ratio.map_or("?".to_owned(), |ratio| format!("{ratio:.2}"));
            let kept = ratio.map(|ratio| ratio <= most);
            table.row(what, &format!("{:.1} ms, {shown}", milliseconds(*time)), &format!("≤ {most} sqlite3"), kept);
        }
    }

    pub(crate) fn print_floor(&self, table: &mut Table) {
        for (what, time) in [("sqlite3 FILE 'select 1'", self.sqlite), ("node -e 1", self.node)] {
            if let Some(time) = time {
                table.row(what, &format!("{:.1} ms", milliseconds(time)), "", None);
            }
        }
    }
}
