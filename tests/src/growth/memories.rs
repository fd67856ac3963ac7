//! Generated memories of many projects: notes such as a coding agent keeps, a tenth of them Korean, and some needles. The same
//! number gives the same memory, so that a smaller store is the beginning of a larger one.

use std::io::{self, Write};

use serde_json::json;

use super::words::Words;
use crate::bulk::Dice;

/// How many projects there are unless somebody asks for more. The first has half of all memories, the others share the rest.
pub const PROJECTS: u64 = 50;

/// The first memories are needles: the only ones with a combination of words that are common one by one.
pub const NEEDLES: u64 = 50;

/// How many words a needle's combination has.
pub const COMBINED: usize = 4;

/// How many words of one combination another memory may have.
const MAX_SHARED: usize = 2;

/// The ranks of the words that needles combine: the first of them is in about a tenth of all memories, the last in one of a
/// hundred.
const FIRST_COMBINED: usize = 40;

/// The time of the newest memory, and how far back the oldest lies: 2026-01-01, and two years; milliseconds.
const NEWEST: u64 = 1_767_225_600_000;
const SPAN: u64 = 2 * 365 * 24 * 3600 * 1000;

/// Things and what is wrong with them, each in two ways of saying it: memories have the first, questions can have the second.
pub const PARTS: [(&str, &str); 12] = [
    ("cache", "buffer"),
    ("scheduler", "job planner"),
    ("login page", "sign-in screen"),
    ("importer", "loader"),
    ("database connection", "link to the database"),
    ("test suite", "checks"),
    ("deployment", "release"),
    ("error message", "failure text"),
    ("configuration", "settings"),
    ("customer invoice", "bill"),
    ("background worker", "daemon"),
    ("image upload", "picture transfer"),
];
/// See [`PARTS`].
pub const FAULTS: [(&str, &str); 10] = [
    ("is slow", "performs badly"),
    ("crashes", "dies"),
    ("loses data", "drops records"),
    ("hangs forever", "never returns"),
    ("is deleted too early", "gets removed prematurely"),
    ("fails to start", "does not come up"),
    ("uses too much memory", "has a leak"),
    ("shows the wrong date", "displays an incorrect day"),
    ("is rejected by the server", "is refused by the backend"),
    ("runs twice", "is executed two times"),
];
const CURES: [&str; 10] = [
    "raised the limit",
    "added an index",
    "wrapped it in a transaction",
    "moved it behind a queue",
    "pinned the version",
    "cleared the lock first",
    "checked for null",
    "closed the handle",
    "retried with a delay",
    "sorted the keys",
];
const KOREAN_PARTS: [&str; 10] = [
    "결제 모듈",
    "로그인 화면",
    "캐시 서버",
    "알림 서비스",
    "검색 색인",
    "배포 스크립트",
    "데이터베이스 연결",
    "설정 파일",
    "테스트 환경",
    "이미지 업로드",
];
const KOREAN_FAULTS: [&str; 6] = [
    "느려지는 문제가 있었다",
    "자주 끊겼다",
    "데이터를 잃어버렸다",
    "시작되지 않았다",
    "메모리를 너무 많이 썼다",
    "잘못된 날짜를 보여 주었다",
];
const KINDS: [&str; 6] = ["decision", "learning", "error_fix", "discovery", "preference", "task"];

/// A memory before it is a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Its name: `m17`.
    pub id: String,
    /// Its project's number.
    pub project: u64,
    /// Its text.
    pub content: String,
    /// The file that it is about.
    pub file: String,
    /// The symbol that it is about.
    pub symbol: String,
    /// Ranks of words in it.
    pub ranks: Vec<usize>,
    /// Whether it is Korean.
    pub is_korean: bool,
    /// Which of [`PARTS`] and [`FAULTS`] it is about.
    pub about: (usize, usize),
    kind: &'static str,
    session: String,
    created: u64,
}

/// The name of a project.
pub fn project(number: u64) -> String {
    format!("project-{number:02}")
}

/// The ranks of the words that a needle combines.
pub fn combination(needle: u64) -> [usize; COMBINED] {
    let first = FIRST_COMBINED + usize::try_from(needle).unwrap_or(0);
    // A step apart, so that each has more frequent and less frequent ones.
    [0, 1, 2, 3].map(|step| first + step * usize::try_from(NEEDLES).unwrap_or(0))
}

/// Which needle's combination a rank is of.
fn combined(rank: usize) -> Option<usize> {
    let needles = usize::try_from(NEEDLES).unwrap_or(0);
    let at = rank.checked_sub(FIRST_COMBINED)?;
    (at < needles * COMBINED).then_some(at % needles)
}

/// The memory of this number, in a store of so many projects.
pub fn memory(words: &Words, projects: u64, number: u64) -> Memory {
    let mut dice = Dice::new((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D);
    // The first numbers of similar seeds are similar.
    for _ in 0..8 {
        dice.roll();
    }
    let is_needle = number < NEEDLES;
    let project = if dice.below(2) == 0 { 0 } else { 1 + dice.below(projects - 1) };
    let is_korean = !is_needle && dice.below(10) == 0;
    let mut ranks = ranks(words, &mut dice, number);
    let index = |dice: &mut Dice, most: usize| usize::try_from(dice.below(most as u64)).unwrap_or(0);
    let about = (index(&mut dice, PARTS.len()), index(&mut dice, FAULTS.len()));
    let word = |at: usize| words.english(ranks[at % ranks.len()]);
    let file = format!("src/{}/{}_{}.rs", word(0), word(1), word(2));
    let symbol = format!("{}{}{}", word(3), capital(word(4)), capital(word(5)));
    let content = if is_korean {
        let korean = |at: usize| words.korean(ranks[at % ranks.len()]);
        let (part, fault) = (KOREAN_PARTS[about.0 % KOREAN_PARTS.len()], KOREAN_FAULTS[about.1 % KOREAN_FAULTS.len()]);
        format!(
            "{part}에서 {}을 처리할 때 {fault}. 원인은 `{symbol}`이 {}와 {}를 함께 바꾸는 것이었고, {file}에서 {}을 먼저 확인하도록 고쳤다. \
             {} {}은 그대로 두기로 했다.",
            korean(6),
            korean(7),
            korean(8),
            korean(9),
            korean(10),
            korean(11)
        )
    } else {
        let (part, fault) = (PARTS[about.0].0, FAULTS[about.1].0);
        let cure = dice.pick(&CURES);
        let tail: Vec<&str> = (12..ranks.len()).map(word).collect();
        format!(
            "The {part} {fault} when {} meets a {} {}. The cause was `{symbol}` in {file}, which takes the {} {} for a {}; we {cure}. \
             Still open: {}.",
            word(6),
            word(7),
            word(8),
            word(9),
            word(10),
            word(11),
            tail.join(" ")
        )
    };
    if is_korean {
        ranks.truncate(12);
    }
    Memory {
        id: format!("m{number}"),
        project,
        content,
        file,
        symbol,
        ranks,
        is_korean,
        about,
        kind: KINDS[index(&mut dice, KINDS.len())],
        session: format!("s{}", number / 40),
        created: NEWEST - dice.below(SPAN),
    }
}

/// The ranks of a memory's words: those of a needle have its combination behind others, and no other memory has more than a few
/// words of any.
fn ranks(words: &Words, dice: &mut Dice, number: u64) -> Vec<usize> {
    let wanted = usize::try_from(16 + dice.below(12)).unwrap_or(16);
    let own = (number < NEEDLES).then(|| combination(number));
    let mut ranks: Vec<usize> = Vec::with_capacity(wanted + COMBINED);
    while ranks.len() < wanted {
        let rank = words.rank(dice);
        let of_same = |group: usize| {
            let mut same: Vec<usize> = ranks.iter().copied().filter(|rank| combined(*rank) == Some(group)).collect();
            same.push(rank);
            same.sort_unstable();
            same.dedup();
            same.len()
        };
        if combined(rank).is_none_or(|group| of_same(group) <= MAX_SHARED) {
            ranks.push(rank);
        }
    }
    ranks.extend(own.into_iter().flatten());
    ranks
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// Writes the memories of these numbers as lines of an import.
pub fn write(words: &Words, projects: u64, numbers: std::ops::Range<u64>, out: &mut impl Write) -> io::Result<()> {
    for number in numbers {
        let memory = memory(words, projects, number);
        let line = json!({
            "id": memory.id, "project": project(memory.project), "session_id": memory.session, "type": memory.kind,
            "content": memory.content, "files": [memory.file], "created_at": memory.created,
        });
        writeln!(out, "{line}")?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_the_only_one_with_its_words() {
        let words = Words::new(7);
        let memories: Vec<Memory> = (0..5_000).map(|number| memory(&words, PROJECTS, number)).collect();
        for needle in 0..NEEDLES {
            let ranks = combination(needle);
            let with = |most: usize| {
                memories
                    .iter()
                    .filter(|memory| ranks.iter().filter(|rank| memory.ranks.contains(rank)).count() > most)
                    .count()
            };
            assert_eq!(with(MAX_SHARED), 1, "needle {needle}");
            assert!(with(0) > 50, "the words of needle {needle} are rare");
        }
    }

    #[test]
    fn half_are_of_one_project_and_a_tenth_is_korean() {
        let words = Words::new(7);
        let memories: Vec<Memory> = (NEEDLES..4_050).map(|number| memory(&words, PROJECTS, number)).collect();
        let share = |is: &dyn Fn(&Memory) -> bool| memories.iter().filter(|memory| is(memory)).count();
        assert!((1_800..2_200).contains(&share(&|memory| memory.project == 0)));
        assert!((20..80).contains(&share(&|memory| memory.project == PROJECTS - 1)));
        assert!((300..500).contains(&share(&|memory| memory.is_korean)));
        assert_eq!(memory(&words, PROJECTS, 77), memory(&words, PROJECTS, 77));
    }
}
