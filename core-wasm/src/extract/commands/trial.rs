//! Commands that run the program, or a script, and check no code by that: a server, a request to it, a script that fills data.

use super::class::{Class, class_of, may_check, piped};
use super::program::{is_interpreter, own_program, own_words};
use super::shell::{segments, without_keywords};
use crate::text;

/// Programs that ask another program, end it, or open something.
const ASIDE: [&str; 12] =
    ["git", "gh", "glab", "jj", "open", "code", "curl", "wget", "taskkill", "tasklist", "netstat", "killall"];
/// Programs that only serve, and those that serve if they are told so.
const SERVERS: [&str; 6] = ["uvicorn", "gunicorn", "nodemon", "http.server", "ngrok", "live-server"];
const FRAMEWORKS: [&str; 5] = ["next", "vite", "astro", "nuxt", "remix"];
const SERVES: [&str; 4] = ["dev", "start", "serve", "preview"];
/// Parts of the names of folders whose scripts are not the program itself.
const FOLDERS: [&str; 4] = ["script", "seed", "migrat", "tools"];
/// Parts of the names of scripts that may check something.
const CHECKS: [&str; 14] = [
    "check", "verify", "valid", "lint", "spec", "smoke", "build", "e2e", "test", "assert", "audit", "regress", "phpunit",
    "phpstan",
];
/// Words of such names of which parts say nothing.
const SHORT_CHECKS: [&str; 2] = ["ci", "qa"];
/// Parts of a script that checks something.
const ASSERTIONS: [&str; 3] = ["assert", "pytest", "unittest"];

/// Returns whether a command line runs something that is no test, no build and no check, and nothing else that may be one.
pub(crate) fn only_tries(command: &str) -> bool {
    let own = segments(command);
    let asserts = || text::contains_any(&command.to_lowercase(), &ASSERTIONS);
    may_check(command)
        && !asserts()
        && own.iter().chain(&piped(command)).filter_map(|segment| without_keywords(segment)).all(tries)
}

fn tries(segment: &str) -> bool {
    match class_of(segment) {
        Class::Test | Class::Build | Class::Check => false,
        Class::Other => is_trial(segment),
        _ => true,
    }
}

fn is_trial(segment: &str) -> bool {
    let (program, words) = (own_program(segment), own_words(segment));
    let second = words.get(1).copied().unwrap_or_default();
    let is_manager = |word: &str| matches!(word, "npm" | "pnpm" | "yarn" | "bun");
    let is_script_of = segment.split_whitespace().next().is_some_and(is_manager);
    let serves = SERVES.contains(&second) && (is_manager(program) || FRAMEWORKS.contains(&program));
    ASIDE.contains(&program)
        || SERVERS.contains(&program)
        || serves
        || (is_script_of && SERVES.contains(&program))
        || (is_interpreter(program) && is_script(segment, program, second))
}

/// Returns whether an interpreter is given a script on the command line, or one in a folder of scripts that is no check by its name.
fn is_script(segment: &str, program: &str, first: &str) -> bool {
    if segment.contains("<<") || matches!(first, "-e" | "-p" | "-") || (first == "-c" && program != "node") {
        return true;
    }
    let path = first.trim_matches(['"', '\'']).to_lowercase();
    let (folders, name) = path.rsplit_once(['/', '\\']).unwrap_or(("", &path));
    let is_check = CHECKS.iter().any(|part| name.contains(part))
        || name.split(|c: char| !c.is_alphanumeric()).any(|word| SHORT_CHECKS.contains(&word))
        || text::contains_any(folders, &["test", "spec"]);
    text::contains_any(folders, &FOLDERS) && path.contains('.') && !is_check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_and_its_requests_are_no_checks() {
        for command in [
            "cd shop && npm run dev &",
            "pnpm dev",
            "next dev -p 3001",
            "sleep 5 && curl -s localhost:3000/till | node -e 'console.log(1)'",
            "node scripts/fill-till.js",
            "python3 - <<'X'\nprint(1)\nX",
            "taskkill //F //IM till.exe; npm start",
        ] {
            assert!(only_tries(command), "{command}");
        }
        for command in [
            "npm test",
            "npm run dev:check",
            "node -c till.js",
            "node scripts/verify-till.js",
            "node scripts/run-tests.js",
            "python3 scripts/ci.py",
            "python tools/qa.py",
            "php tools/phpstan.phar analyse",
            "python3 -c 'from till import ring; assert ring() == 2'",
            "python3 - <<'X'\nfrom till import ring\nassert ring() == 2\nX",
            "python -c 'import pytest; pytest.main()'",
            "python tests/till.py",
            "python shop/till.py",
            "python test_till.py",
            "./run.sh",
            "curl -s localhost:3000 && npm run build",
            "yes | ./all.sh",
            "ls",
        ] {
            assert!(!only_tries(command), "{command}");
        }
    }
}
