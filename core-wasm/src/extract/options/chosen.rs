//! What the choice of an option is told with: its title, the reason, and what was turned down.

use super::listed::{ProposedOption, label};
use super::resolution::Resolution;
use super::subject;
use crate::extract::{clean, prose, questions};
use crate::text;

/// The maximum length of what the agent says of an option, in characters.
const MAX_REASON_CHARS: usize = 300;

/// Resolves to the chosen options. The others were rejected; of those only what names them is kept.
pub(super) fn choose(options: &[ProposedOption], chosen: &[usize], answer: &str) -> Resolution {
    let with_name = |option: &ProposedOption, title: &str| {
        if option.name.is_empty() { title.to_owned() } else { format!("{}: {title}", option.name) }
    };
    let title = |at: &usize| {
        let title = questions::strip_recommendation(&closed(&options[*at].title));
        clean::without_positions(title.trim_end_matches([':', '：', '?', '？'])).into_owned()
    };
    let what: Vec<String> = chosen.iter().map(|at| with_name(&options[*at], &title(at))).collect();
    // Whoever takes both turns none of them down.
    let takes_all = chosen.iter().any(|at| prose::takes_all(&label(&options[*at].title)));
    let rejected = (0..options.len()).filter(|at| !chosen.contains(at) && !takes_all);
    let rejected = rejected.map(|at| with_name(&options[at], &label(&options[at].title))).collect();
    let why = chosen.first().map(|at| reason(&options[*at], answer)).unwrap_or_default();
    let why = if why.trim_end_matches(['.', '。']) == what.join("; ") { String::new() } else { why };
    let asked = subject::question(answer, &options[0]);
    Resolution { asked, what: text::clip(&what.join("; "), 240).into_owned(), why, rejected, ..Resolution::default() }
}

/// Returns a title without a bracket at its end that is never closed.
pub(super) fn closed(title: &str) -> String {
    match title.rfind(" (") {
        Some(at) if !title[at..].contains(')') => title[..at].to_owned(),
        _ => title.to_owned(),
    }
}

/// Returns what the agent says of the option: all of it in the line of the option if it fits, or else a sentence with a reason in its
/// text, or a sentence about it elsewhere.
fn reason(option: &ProposedOption, answer: &str) -> String {
    let line = option.body.lines().next().map(str::trim).unwrap_or_default();
    let is_whole = !line.is_empty() && line.chars().count() <= MAX_REASON_CHARS && !line.ends_with([':', '：', '?', '？']);
    // What follows in a line of its own may speak of something else.
    if is_whole && answer.lines().any(|known| option.is_on(known) && text::plain(known).contains(line)) {
        return line.to_owned();
    }
    let own =
        prose::insights(&option.body, true).into_iter().max_by_key(|insight| insight.score).map(|insight| insight.text);
    let elsewhere = || {
        text::sentences(answer).into_iter().find(|sentence| {
            !option.name.is_empty()
                && sentence.starts_with(&option.name)
                && !sentence.contains(&option.title)
                && !sentence.ends_with(['?', '？'])
        })
    };
    // The question behind the last option is not its reason.
    let first = || {
        let said = text::sentences(&option.body).into_iter().find(|sentence| !sentence.ends_with([':', '：']));
        said.filter(|sentence| !sentence.ends_with(['?', '？']))
    };
    text::clip(&own.or_else(elsewhere).or_else(first).unwrap_or_default(), MAX_REASON_CHARS).into_owned()
}
