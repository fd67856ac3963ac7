//! The parts of a request that carry letters or numbers: "A) Paint the drawer …", "2. Ring the bell …", "ISSUE 3: …".

use super::consent::is_greeting;
use super::demand::{decides, demands_proof, is_demand};
use super::pasted::{is_banner, is_log_line, is_paste, is_pasted_text, looks_pasted, strip_mentions};
use super::shown::is_document;
use crate::text;

/// The length from which the opening of a request says what it is about, in characters.
const MIN_OPENING_CHARS: usize = 60;
/// The lengths to which the first lines of the parts are cut if they do not fit, in characters. What the parts forbid, and what proof
/// they demand, is told before those are longer than the first of the short lengths, and what they order before those have the long ones.
const SHORT_CHARS: [usize; 4] = [90, 60, 45, 30];
const MIDDLE_CHARS: [usize; 2] = [160, 120];
const LONG_CHARS: [usize; 5] = [600, 250, 160, 120, 90];
/// The least length that another sentence than the first line of a part may have if not all fits, in characters.
const SENTENCE_CHARS: usize = 160;
/// The length below which a sentence that no mark ends is a title, in characters.
const MIN_SAID_CHARS: usize = 30;
/// The room that one part needs, in characters.
const PART_CHARS: usize = 55;

/// How many lists are tried, and how many lines of a prompt are searched for parts. What is longer is a log or a document.
const MAX_LISTS: usize = 8;
const MAX_LINES: usize = 500;

/// What stands for something that is left out.
const GAP: &str = "…";
/// What ends a sentence or leads to the next, so that no mark is needed behind it.
const ENDS: [char; 12] = ['.', '!', '?', ':', ';', ',', '…', '。', '！', '？', '：', '、'];

/// A request that has parts, sentence by sentence.
#[derive(Debug)]
pub(crate) struct Parts {
    said: Vec<Said>,
    count: usize,
}

/// A sentence of a request.
#[derive(Debug)]
struct Said {
    text: String,
    /// The letter or number if a part begins here: "2) ".
    mark: String,
    /// The number of the sentences of the same part before it.
    place: usize,
    /// How soon it is told if there is no room for all: 0 first.
    rank: u8,
}

/// How soon a sentence is told that neither forbids nor orders, and one that is told only with the whole.
const PLAIN: u8 = 3;
const NEVER: u8 = 9;

impl Parts {
    /// Returns the parts of a prompt. None if it has none, or if it is somebody else's text or too long.
    pub(super) fn in_prompt(prompt: &str) -> Option<Self> {
        if is_document(prompt) {
            return None;
        }
        let lines = own_lines(prompt);
        let marks = Some(&lines).filter(|lines| lines.len() <= MAX_LINES).and_then(|lines| marks(lines))?;
        let is_own = |line: &&str| !is_log_line(line.trim()) && !looks_pasted(line);
        let lead = lines.iter().take_while(|line| item(line).is_none());
        // What stands above the words of an agent was said to it.
        let is_paste = !prompt.lines().any(is_of_agent) && is_paste(prompt);
        let is_foreign = is_paste || !lead.into_iter().all(is_own) || is_pasted_text(&lines.join("\n"));
        if is_foreign {
            return None;
        }
        let mut parts = Self { said: Vec::new(), count: 0 };
        for (line, mark) in lines.iter().zip(marks) {
            match mark {
                Some(mark) => parts.begin(&mark, item(line).map_or("", |item| item.rest)),
                None => parts.add(line),
            }
        }
        Some(parts)
    }

    /// Returns the parts of a request on one line, as [`Self::told`] returns it. None if it has none.
    pub(crate) fn in_line(line: &str) -> Option<Self> {
        let starts = [b'1', b'A'].into_iter().map(|first| starts(line, first)).find(|starts| starts.len() > 1)?;
        let mut parts = Self { said: Vec::new(), count: 0 };
        parts.add_with_gaps(&line[..starts[0]]);
        for (place, &start) in starts.iter().enumerate() {
            let part = &line[start..starts.get(place + 1).copied().unwrap_or(line.len())];
            let (mark, rest) = part.split_once(") ").unwrap_or((part, ""));
            let mut pieces = rest.split(" … ");
            parts.begin(&format!("{mark}) "), pieces.next().unwrap_or_default().trim_end_matches([';', ' ']));
            pieces.for_each(|piece| parts.add_behind_gap(piece));
        }
        Some(parts)
    }

    /// Returns the sentences of a request on one line, with its parts if it has some.
    pub(crate) fn of_line(line: &str) -> Self {
        Self::in_line(line).unwrap_or_else(|| {
            let mut parts = Self { said: Vec::new(), count: 0 };
            parts.add_with_gaps(line);
            parts
        })
    }

    /// Begins a part with its first line.
    fn begin(&mut self, mark: &str, line: &str) {
        self.count += 1;
        let head = text::first_sentence(line).unwrap_or_else(|| line.to_owned());
        let rest = text::plain(line).strip_prefix(head.as_str()).unwrap_or_default().to_owned();
        self.said.push(Said { text: strip_mentions(&head), mark: mark.to_owned(), place: 0, rank: NEVER });
        self.add(&rest);
    }

    /// Adds the sentences of a line that somebody says.
    fn add(&mut self, line: &str) {
        for sentence in text::sentences(line).iter().map(|sentence| strip_mentions(sentence)) {
            let is_code = sentence.ends_with(['{', ';', '}']) || sentence.contains('│');
            if is_greeting(&sentence) || is_banner(&sentence) || looks_pasted(&sentence) || is_code {
                self.add_gap();
                continue;
            }
            let place = self.said.last().map_or(0, |last| last.place + 1);
            let rank = rank(&sentence, self.count > 0);
            self.said.push(Said { text: sentence, mark: String::new(), place, rank });
        }
    }

    fn add_gap(&mut self) {
        self.said.push(Said { text: GAP.to_owned(), mark: String::new(), place: 0, rank: NEVER });
    }

    fn add_behind_gap(&mut self, said: &str) {
        self.add_gap();
        self.add(said.trim_end_matches([';', ' ']));
    }

    fn add_with_gaps(&mut self, said: &str) {
        let mut pieces = said.split(" … ");
        self.add(pieces.next().unwrap_or_default().trim_end_matches([';', ' ']));
        pieces.for_each(|piece| self.add_behind_gap(piece));
    }

    /// Returns the number of characters in which no part is lost.
    pub(crate) fn least(&self) -> usize {
        MIN_OPENING_CHARS + self.count * PART_CHARS
    }

    /// Returns the request on one line of at most `max` characters: whole, or its opening and the first line of each part, and as much of
    /// what else is forbidden and ordered as there is room for.
    pub(crate) fn told(&self, max: usize) -> String {
        // A mark at the end says that something was left out there.
        let fits = |told: &[usize], head: usize| self.joined(told, head).chars().count() + 2 <= max;
        let every: Vec<usize> = (0..self.said.len()).filter(|at| self.said[*at].text != GAP).collect();
        let whole = self.joined(&every, usize::MAX);
        if whole.chars().count() <= max {
            return whole;
        }
        let mut told = self.outline();
        let longest = |told: &[usize], lengths: &[usize]| lengths.iter().copied().find(|head| fits(told, *head));
        let mut head = longest(&told, &SHORT_CHARS).unwrap_or(SHORT_CHARS[SHORT_CHARS.len() - 1]);
        let lead = self.lead();
        self.fill(&mut told, 0, self.said.len(), &|told| fits(told, head));
        (1..PLAIN).for_each(|rank| self.fill(&mut told, rank, lead, &|told| fits(told, head)));
        head = longest(&told, &MIDDLE_CHARS).unwrap_or(head);
        (1..PLAIN).for_each(|rank| self.fill(&mut told, rank, self.said.len(), &|told| fits(told, head)));
        head = longest(&told, &LONG_CHARS).unwrap_or(head);
        self.fill(&mut told, PLAIN, self.said.len(), &|told| fits(told, head));
        let line = self.joined(&told, head);
        let is_cut = told.last() < every.last() && !line.ends_with(GAP);
        text::clip(&if is_cut { format!("{line} {GAP}") } else { line }, max).into_owned()
    }

    /// Returns the number of the sentences before the first part.
    fn lead(&self) -> usize {
        self.said.iter().take_while(|said| said.mark.is_empty()).count()
    }

    /// Returns the places of the opening and of the first lines of the parts.
    fn outline(&self) -> Vec<usize> {
        let lead = self.lead();
        let mut told: Vec<usize> = Vec::new();
        for at in (0..lead).filter(|at| self.said[*at].rank < NEVER) {
            if self.joined(&told, usize::MAX).chars().count() >= MIN_OPENING_CHARS {
                break;
            }
            told.push(at);
        }
        told.extend((lead..self.said.len()).filter(|at| !self.said[*at].mark.is_empty()));
        told
    }

    /// Adds the sentences of a rank before the place `end` that fit: those of the opening first, then the first of each part, the last part
    /// first.
    fn fill(&self, told: &mut Vec<usize>, rank: u8, end: usize, fits: &dyn Fn(&[usize]) -> bool) {
        let lead = self.lead();
        // Of what is only said, the opening and the first sentence of a part tell most.
        let is_near = |at: &usize| rank < PLAIN || *at < lead || self.said[*at].place <= 1;
        let is_of_rank = |at: &usize| self.said[*at].rank == rank && !told.contains(at) && is_near(at);
        let mut all: Vec<usize> = (0..end).filter(is_of_rank).collect();
        // What is ordered last in a request without parts is what it comes to.
        let is_last_first = self.count == 0 && rank < PLAIN;
        all.sort_by_key(|at| match *at < lead {
            true if is_last_first => (0, lead - at),
            true => (0, *at),
            false => (self.said[*at].place, self.said.len() - at),
        });
        for at in all {
            let place = told.partition_point(|it| *it < at);
            told.insert(place, at);
            if !fits(told) {
                told.remove(place);
            }
        }
    }

    /// Returns the sentences at these places on one line, the first lines of parts in at most `head` characters, with a mark where others are
    /// left out.
    fn joined(&self, places: &[usize], head: usize) -> String {
        let mut line = String::new();
        let mut before: Option<usize> = None;
        for &at in places {
            let said = &self.said[at];
            let is_head = !said.mark.is_empty();
            let follows = before.is_none_or(|before| before + 1 == at);
            if !line.is_empty() {
                line.push_str(match () {
                    () if !follows && !line.ends_with(GAP) => " … ",
                    () if !follows || line.ends_with(ENDS) => " ",
                    () if is_head => "; ",
                    // A terminal broke the line.
                    () if said.text.starts_with(char::is_lowercase) => " ",
                    () => ". ",
                });
            }
            line.push_str(&said.mark);
            line.push_str(&text::clip(&said.text, if is_head { head } else { head.saturating_mul(2).max(SENTENCE_CHARS) }));
            before = Some(at);
        }
        line
    }
}

/// Returns a request in at most `max` characters: each of its parts shortened if it has some, or else its beginning.
pub(in crate::extract) fn shortened(asked: &str, max: usize) -> String {
    let parts = Some(asked).filter(|asked| asked.chars().nth(max).is_some()).and_then(Parts::in_line);
    parts.map_or_else(|| text::clip(asked, max).into_owned(), |parts| parts.told(max))
}

/// Returns how soon a sentence is told. `is_inside` says whether it stands in a part: what only leads to its lines says nothing.
fn rank(sentence: &str, is_inside: bool) -> u8 {
    let is_title = sentence.chars().count() < MIN_SAID_CHARS && !sentence.ends_with(ENDS);
    match sentence {
        _ if is_inside && sentence.ends_with([':', '：']) => NEVER,
        _ if demands_proof(sentence) => 0,
        _ if decides(sentence) => 1,
        _ if is_demand(sentence) => 2,
        _ if is_inside && is_title => NEVER,
        _ => PLAIN,
    }
}

/// Returns the lines of a prompt without code, quotations, and what stands behind the first line of an agent.
fn own_lines(prompt: &str) -> Vec<&str> {
    let mut is_code = false;
    // The client shows the user's words behind such a mark, and others quote with it.
    let is_shown = prompt.lines().any(is_of_agent);
    let is_own = |line: &&str| {
        let bare = line.trim_start();
        let is_fence = bare.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !bare.is_empty() && !bare.starts_with('|') && (is_shown || !bare.starts_with('>'))
    };
    let typed = prompt.lines().take_while(|line| !is_of_agent(line));
    typed.filter(is_own).map(|line| line.trim_end_matches(['\\', ' '])).collect()
}

/// Returns whether a line shows what an agent said or did.
fn is_of_agent(line: &str) -> bool {
    line.trim_start().starts_with(['●', '⏺', '⎿'])
}

/// A line that begins with a letter or a number.
struct Item<'a> {
    kind: Kind<'a>,
    indent: usize,
    number: usize,
    rest: &'a str,
}

/// What the letters or numbers of parts look like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind<'a> {
    Number(char),
    Letter(char),
    /// A number behind a word: "ISSUE 1:".
    Word(&'a str),
}

/// Returns the item that a line is: "2. ring the bell", "**B) Fold it**", "### Step 3: print".
fn item(line: &str) -> Option<Item<'_>> {
    let bare = line.trim_start_matches([' ', '\t', '#', '*']);
    let indent = line.len() - line.trim_start().len();
    let (word, behind) = match bare.split_once(' ') {
        Some((word, behind)) if is_name(word) && behind.starts_with(|c: char| c.is_ascii_digit()) => (Some(word), behind),
        _ => (None, bare),
    };
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let letter = behind.chars().next().filter(char::is_ascii_uppercase).filter(|_| word.is_none());
    let (number, after) = match letter {
        Some(letter) => (letter as usize - 'A' as usize + 1, &behind[1..]),
        None => (behind[..digits].parse().ok().filter(|_| digits <= 2)?, &behind[digits..]),
    };
    let mark = after.chars().next().filter(|mark| matches!(mark, ')' | '.' | ':'))?;
    let rest = after[1..].strip_prefix("**").unwrap_or(&after[1..]);
    let kind = match (word, letter) {
        (Some(word), _) => Kind::Word(word),
        (None, Some(_)) => Kind::Letter(mark),
        (None, None) => Kind::Number(mark),
    };
    (rest.starts_with(' ') && !rest.trim().is_empty()).then(|| Item { kind, indent, number, rest: rest.trim() })
}

/// Returns whether a word before a number may name parts: "Issue", "STEP".
fn is_name(word: &str) -> bool {
    word.len() > 2
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns for each line the mark of the part that begins with it. None if there are no two parts that follow each other.
fn marks(lines: &[&str]) -> Option<Vec<Option<String>>> {
    let items: Vec<Option<Item>> = lines.iter().map(|line| item(line)).collect();
    // Each list begins in its own way.
    let mut firsts: Vec<&Item> = Vec::new();
    for first in items.iter().flatten().filter(|item| item.number == 1) {
        let is_same = |known: &&Item| known.kind == first.kind && known.indent == first.indent;
        if firsts.len() < MAX_LISTS && !firsts.iter().any(is_same) {
            firsts.push(first);
        }
    }
    let of = |first: &Item| {
        let mut next = 1;
        let mut count = 0;
        let mark = |item: &Option<Item>| {
            let item = item.as_ref().filter(|item| item.kind == first.kind && item.indent == first.indent)?;
            // Another list may begin behind the first one.
            let is_next = item.number == next || (item.number == 1 && next > 2);
            is_next.then(|| {
                next = item.number + 1;
                count += 1;
                let letter = u8::try_from(item.number).ok().map(|number| char::from(b'A' + number - 1));
                match (item.kind, letter) {
                    (Kind::Letter(_), Some(letter)) => format!("{letter}) "),
                    _ => format!("{}) ", item.number),
                }
            })
        };
        let marks: Vec<Option<String>> = items.iter().map(mark).collect();
        (count > 1).then_some(marks)
    };
    firsts.into_iter().find_map(of)
}

/// Returns where the parts begin on one line, the first of which has the letter or the number `first`.
fn starts(line: &str, first: u8) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::new();
    let mut number = usize::from(first);
    let mut from = 0;
    loop {
        let mark = if first == b'1' {
            format!("{}) ", number - usize::from(b'0'))
        } else {
            let Some(letter) = u8::try_from(number).ok().filter(u8::is_ascii_uppercase) else { break };
            format!("{}) ", char::from(letter))
        };
        let is_start = |at: &usize| *at == 0 || line[..*at].ends_with(' ');
        let found = line[from..].match_indices(&mark).map(|(at, _)| from + at).find(is_start);
        let Some(at) = found else { break };
        starts.push(at);
        from = at + mark.len();
        number += 1;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(prompt: &str, max: usize) -> String {
        Parts::in_prompt(prompt).map(|parts| parts.told(max)).unwrap_or_default()
    }

    const LINES: &str = "\nIt is old.\nIt is loud.\nIt is red.\n";

    #[test]
    fn each_part_of_a_request_keeps_its_first_line() {
        let said = format!("A) Paint the drawer{LINES}\nB) Ring the bell{LINES}\n**C) Fold the slip**{LINES}");
        assert_eq!(told(&said, 60), "A) Paint the drawer … B) Ring the bell … C) Fold the slip …");
        let issues = said.replace("A)", "ISSUE 1:").replace("B)", "ISSUE 2:").replace("C)", "ISSUE 3:");
        assert_eq!(told(&issues, 60), "1) Paint the drawer … 2) Ring the bell … 3) Fold the slip …");
    }

    #[test]
    fn a_short_list_is_told_whole() {
        let said = "Do this:\n1. Paint it\n2. Ring it. Not twice.\n3. Fold it";
        assert_eq!(told(said, 200), "Do this: 1) Paint it; 2) Ring it. Not twice. 3) Fold it");
    }

    #[test]
    fn what_forbids_or_demands_proof_is_told_before_the_rest() {
        let said = format!(
            "Mend the till. Do not stop until you have tested it.\n\n1) The drawer{LINES}Never ring the bell at night.\n\n2) The slip{LINES}"
        );
        let short = "Mend the till. Do not stop until you have tested it. 1) The drawer … Never ring the bell at night. 2) The slip …";
        assert_eq!(told(&said, short.chars().count()), short);
    }

    #[test]
    fn the_steps_inside_of_a_part_are_no_parts() {
        let said = format!("ISSUE 1: THE DRAWER\n1. Open it\n2. Close it{LINES}\nISSUE 2: THE BELL{LINES}");
        assert!(told(&said, 30).starts_with("1) THE DRAWER … 2) THE BELL"), "{}", told(&said, 30));
    }

    #[test]
    fn what_an_agent_said_and_code_are_no_parts() {
        let said = "Mend these, please:\n1. the drawer sticks\n2. the bell is loud\n\n● I will mend them.\n  3. message";
        assert_eq!(told(said, 200), "Mend these, please: 1) the drawer sticks; 2) the bell is loud");
        assert_eq!(told("Paint it\n```\n1. one\n2. two\n```\nred", 200), "");
    }

    #[test]
    fn a_line_is_shortened_part_by_part() {
        let line = "Mend these: 1) the drawer of the night till sticks … open it first; 2) the bell is loud";
        let parts = Parts::in_line(line).expect("two parts");
        assert_eq!(parts.told(200), line);
        assert_eq!(parts.told(76), "Mend these: 1) the drawer of the night till sticks … 2) the bell is loud");
        assert!(Parts::in_line("paint it, see 1) there").is_none());
    }

    #[test]
    fn of_a_request_without_parts_the_opening_and_the_last_order_are_told() {
        let said = "The till of the shop has been there for years, and it was never mended. It rings. Please paint it. \
                    Do not ring it at night. It is old. Then close the drawer.";
        let told = "The till of the shop has been there for years, and it was never mended. … Do not ring it at night. … \
                    Then close the drawer.";
        assert_eq!(Parts::of_line(said).told(told.chars().count() + 2), told);
    }

    #[test]
    fn a_log_with_numbers_has_no_parts() {
        assert!(Parts::in_prompt(&"1) no paper\n".repeat(20_000)).is_none());
        assert!(Parts::in_prompt(&"1) no paper\n".repeat(MAX_LINES)).is_none(), "no part follows another");
    }

    #[test]
    fn what_is_no_list_has_no_parts() {
        for said in ["A) Paint it\nOnce.\nTwice.\nRed.", "Paint it", "Paint it in 2. or 3. place"] {
            assert!(Parts::in_prompt(said).is_none(), "{said}");
        }
    }
}
