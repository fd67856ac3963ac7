//! Lines that were copied into a prompt: what a client shows of a tool, turns of another conversation, messages of a chat, notes and
//! indented blocks of a document, an issue, and comments of a program.

/// Returns the lines of a prompt without those that were copied. Empty lines stay.
pub(super) fn without_copied<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let (mut own, mut at) = (Vec::with_capacity(lines.len()), 0);
    let mut around = Paragraph::default();
    let prompt = Prompt {
        shows_tools: lines.iter().any(|line| line.trim_start().starts_with('⎿')),
        last_close: lines.iter().rposition(|line| line.contains("*/")).unwrap_or_default(),
    };
    while at < lines.len() {
        // A pasted log may have thousands of lines: each paragraph is searched once.
        if at >= around.end {
            around = Paragraph::at(lines, at);
        }
        let count = copied_at(lines, at, &prompt, &mut around);
        if count == 0 {
            own.push(lines[at]);
        }
        at += count.max(1);
    }
    own
}

/// What is known of all lines.
struct Prompt {
    /// Whether a client shows its tools.
    shows_tools: bool,
    /// The place of the last line with the end of a comment of a program.
    last_close: usize,
}

/// What is known of the lines up to the next empty one.
#[derive(Default)]
struct Paragraph {
    /// The place of the empty line, and of the last line that ends a comment of a program.
    end: usize,
    close: Option<usize>,
    /// The place up to which comments have no code below them.
    plain: usize,
}

impl Paragraph {
    fn at(lines: &[&str], at: usize) -> Self {
        let end = at + paragraph(&lines[at..]).max(1);
        let close = lines[at..end].iter().rposition(|line| line.trim() == "*/").map(|place| at + place);
        Self { end, close, plain: at }
    }

    /// Returns how many lines comments and the code below them take that begin at a place. A heading has prose, a list or an empty line below
    /// it.
    fn code_at(&mut self, lines: &[&str], at: usize) -> usize {
        if at < self.plain {
            return 0;
        }
        let is_part = |line: &&&str| is_comment(line) || is_code(line);
        let comments = lines[at..].iter().take_while(|line| is_comment(line)).count();
        if comments > 0 && lines.get(at + comments).is_some_and(|line| is_code(line)) {
            return lines[at..].iter().take_while(is_part).count();
        }
        self.plain = at + comments;
        0
    }
}

/// Returns how many copied lines begin at a place.
fn copied_at(lines: &[&str], at: usize, prompt: &Prompt, around: &mut Paragraph) -> usize {
    let (rest, line) = (&lines[at..], lines[at].trim());
    if line.is_empty() {
        return 0;
    }
    if line.starts_with(['⎿', '⏺']) || (line.starts_with('●') && prompt.shows_tools) {
        let head = paragraph(rest);
        return head + indented(&rest[head..], 1);
    }
    if heads_turns(line)
        || heads_document(line)
        || heads_issue(line)
        || tells_who_commented(line)
        || is_turn(line, &["human", "assistant"])
    {
        return rest.len();
    }
    if is_turn(line, &["user", "system", "ai", "claude", "사용자", "ユーザー", "用户", "benutzer", "usuario"])
        || heads_message(line)
        || titles_issue(line)
        || mentions_speaker(line)
        || around.close.is_some_and(|close| close > at)
        || ((is_clock(line) || is_ago(line)) && at > 0 && !lines[at - 1].trim().is_empty())
    {
        return around.end - at;
    }
    if line.starts_with(":::") && line.len() > 3 {
        return rest.iter().skip(1).position(|line| line.trim() == ":::").map_or(rest.len(), |end| end + 2);
    }
    if (line.starts_with(".. ") && line.contains("::")) || line.starts_with("!!! ") || line.starts_with("??? ") {
        return 1 + indented(&rest[1..], 1);
    }
    let is_block = ["[NOTE]", "[TIP]", "[WARNING]", "[IMPORTANT]", "[CAUTION]", "/*", "\"\"\"", "'''"];
    if let Some(mark) = is_block.iter().find(|mark| line.starts_with(**mark)) {
        let is_open = *mark == "/*" && at >= prompt.last_close && !line.contains("*/");
        let is_paragraph = mark.starts_with('[') || is_open;
        return if is_paragraph { paragraph(rest) } else { block_of_comment(rest, mark) };
    }
    let is_field =
        line.starts_with("{\"") || line.starts_with("[{") || line.starts_with(['│', '┃', '║', '▌']) || is_numbered(line);
    if is_field || is_footnote(line) || is_commented_code(line) {
        return 1;
    }
    around.code_at(lines, at).max(block_of_code(lines, at))
}

/// Returns the number of lines up to the next empty one.
fn paragraph(lines: &[&str]) -> usize {
    lines.iter().position(|line| line.trim().is_empty()).unwrap_or(lines.len())
}

/// Returns the number of lines that are empty or indented by at least as many blanks, without the empty ones behind them.
fn indented(lines: &[&str], least: usize) -> usize {
    let is_in = |line: &&&str| line.trim().is_empty() || depth(line) >= least;
    let count = lines.iter().take_while(is_in).count();
    lines[..count].iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1)
}

/// Returns by how many blanks a line is indented. A tab counts as four.
fn depth(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// Returns the number of lines that a comment or a text between three quotation marks takes.
fn block_of_comment(lines: &[&str], mark: &str) -> usize {
    let close = if mark == "/*" { "*/" } else { mark };
    if lines[0].trim()[mark.len()..].contains(close) {
        return 1;
    }
    lines.iter().skip(1).position(|line| line.contains(close)).map_or_else(|| paragraph(lines), |end| end + 2)
}

/// Returns whether a line begins a turn of somebody who is named by a role: "Human: …", "**User:** …".
fn is_turn(line: &str, roles: &[&str]) -> bool {
    let bare = line.trim_start_matches(['*', '#', '_', ' ', '<', '[']);
    let Some((role, _)) = bare.split_once([':', '：']) else { return false };
    let role = role.trim_end_matches(['*', '_', ' ', ']', '>']);
    // "system: linux" is a field. A role begins with a capital.
    !role.starts_with(|c: char| c.is_ascii_lowercase()) && roles.contains(&role.to_lowercase().as_str())
}

/// Returns whether a line is the mark of a model's turn, or a heading that names a role: "### Human".
fn heads_turns(line: &str) -> bool {
    let title = line.strip_prefix('#').map(|rest| rest.trim_start_matches(['#', ' ']).to_lowercase());
    line.starts_with("<|")
        || line.starts_with("[INST]")
        || title.is_some_and(|title| matches!(title.as_str(), "human" | "assistant" | "user" | "system"))
}

/// Returns whether a line names the document whose text is below it: "README.md:", "Quote:". What is below the name of a file for rules
/// is to be written there.
fn heads_document(line: &str) -> bool {
    const HEADS: [&str; 8] =
        ["quote", "issue", "from the docs", "from the readme", "review comment", "zitat", "引用", "인용"];
    let Some(name) = line.strip_suffix([':', '：']) else { return false };
    let lower = name.trim_matches(['*', '#', '`', ' ']).to_lowercase();
    let is_file =
        !lower.contains(' ') && lower.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "md" | "rst" | "txt" | "html"));
    let is_for_rules = lower.ends_with("claude.md") || lower.ends_with("agents.md");
    HEADS.contains(&lower.as_str()) || (is_file && !is_for_rules) || lower.starts_with("comment by ")
}

/// Returns whether a line begins with the name of who says it, as chats mention it: "@anna: …".
fn mentions_speaker(line: &str) -> bool {
    let name = line.strip_prefix('@').and_then(|rest| rest.split_once(':')).map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && !name.contains([' ', '/', '(']))
}

/// Returns whether a line has the number of a line of a file before it: "12→…", "till.rs:12: …", "12 | …".
fn is_numbered(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = digits > 0 && ["→", "\t", " | ", " │ "].iter().any(|mark| line[digits..].starts_with(mark));
    let mut parts = line.splitn(3, ':');
    let is_place = parts.next().is_some_and(|file| file.contains('.') && !file.contains(' '))
        && parts.next().is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        && parts.next().is_some();
    is_number || is_place || line.starts_with("stdout: ") || line.starts_with("stderr: ")
}

/// Returns whether a line only says how long ago something was.
fn is_ago(line: &str) -> bool {
    let is_count = line.starts_with(|c: char| c.is_ascii_digit());
    is_count && line.split_whitespace().count() <= 3 && [" ago", " 전", "前"].iter().any(|end| line.ends_with(end))
}

/// Returns what stands behind the number of an issue at the beginning of a line: ":" of "Issue #12:".
fn behind_number(line: &str) -> Option<&str> {
    const KINDS: [&str; 14] = [
        "issue",
        "github issue",
        "ticket",
        "bug",
        "pr",
        "pull request",
        "mr",
        "merge request",
        "discussion",
        "이슈",
        "티켓",
        "課題",
        "工单",
        "问题",
    ];
    let bare = line.trim_start_matches(['*', '#', ' ']);
    let (kind, rest) = bare.split_once(['#', '!'])?;
    let count = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = count > 0 && KINDS.contains(&kind.trim().to_lowercase().as_str());
    is_number.then(|| rest[count..].trim_matches(['*', ' ']))
}

/// Returns whether a line names an issue and nothing else. The text of the issue is below it.
fn heads_issue(line: &str) -> bool {
    behind_number(line).is_some_and(|rest| matches!(rest, "" | ":" | "："))
}

/// Returns whether a line is the number and the title of an issue.
fn titles_issue(line: &str) -> bool {
    behind_number(line).is_some_and(|rest| rest.len() > 1 && rest.starts_with([':', '：', '-', '–', '—']))
}

/// Returns whether a line says who wrote the text below it, as trackers and mail programs do.
fn tells_who_commented(line: &str) -> bool {
    const SAID: [&str; 8] =
        ["schrieb:", "escribió:", "a écrit :", "a écrit:", "님이 작성:", "님의 말:", "さんの発言:", "写道："];
    const DONE: [&str; 5] = [" commented ", " opened this issue ", " left a comment ", " reviewed ", " replied "];
    let lower = line.to_lowercase();
    let is_dated = lower.ends_with(" ago") || lower.contains(" on ");
    let is_short = lower.split_whitespace().count() <= 8;
    let is_german = lower.contains(" schrieb ") && lower.ends_with(':') && lower.starts_with("am ");
    SAID.iter().any(|said| lower.ends_with(said))
        || is_german
        || (is_short && is_dated && DONE.iter().any(|done| lower.contains(done)) && !lower.starts_with("i "))
}

/// Words beside the time of a message that are no part of a name.
const DATES: &[&str] = &[
    "am",
    "pm",
    "a.m.",
    "p.m.",
    "at",
    "on",
    "um",
    "uhr",
    "today",
    "yesterday",
    "heute",
    "gestern",
    "hoy",
    "ayer",
    "오전",
    "오후",
    "오늘",
    "어제",
    "午前",
    "午後",
    "今日",
    "昨日",
    "上午",
    "下午",
    "今天",
    "昨天",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "edited",
    "app",
];

/// Returns what stands before and behind the time of a day in a line.
fn around_clock(line: &str) -> Option<(&str, &str)> {
    line.match_indices(':').find_map(|(at, _)| {
        let hour = line[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
        let minute = line[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let before = &line[..at - hour];
        let is_apart = before.chars().next_back().is_none_or(|c| c.is_whitespace() || "[(,".contains(c));
        ((1..=2).contains(&hour) && minute == 2 && is_apart).then(|| (before, &line[at + 3..]))
    })
}

/// Returns the words of a text that are neither marks nor dates.
fn names(text: &str) -> Vec<&str> {
    let is_date = |word: &str| {
        let lower = word.to_lowercase();
        DATES.contains(&lower.trim_end_matches('.'))
            || DATES.contains(&lower.as_str())
            || !word.contains(char::is_alphabetic)
    };
    // `:name:` is a small picture.
    let is_date = |word: &str| is_date(word) || (word.len() > 2 && word.starts_with(':') && word.ends_with(':'));
    let words = text.split(|c: char| c.is_whitespace() || "[](),|·•".contains(c));
    words.filter(|word| !word.is_empty() && !is_date(word)).collect()
}

/// Returns whether a line is nothing but the time of a day.
fn is_clock(line: &str) -> bool {
    around_clock(line).is_some_and(|(before, after)| names(before).is_empty() && names(after).is_empty())
}

/// Returns whether a line is the head of a message in a chat, or a message behind its head: `Anna  10:05`, `[10:05] Anna: …`.
fn heads_message(line: &str) -> bool {
    const MAX_NAMES: usize = 4;
    let Some((before, after)) = around_clock(line) else { return false };
    let is_name = |word: &&str| !word.starts_with(char::is_lowercase) && !word.ends_with(['.', ':', '!', '?']);
    let said_by = names(before);
    let is_named = (1..=MAX_NAMES).contains(&said_by.len()) && said_by.iter().all(is_name);
    let is_half = matches!(after.trim().to_lowercase().as_str(), "am" | "pm");
    let is_handle = said_by.len() == 1 && (is_half || said_by[0].contains(['.', '_']));
    if (is_named || is_handle) && names(after).is_empty() {
        return true;
    }
    // `[Anna] [10:05] text`.
    if is_named && before.starts_with('[') && before.trim_end().contains("] [") {
        return true;
    }
    let speaker = after.split_once([':', '：']).map(|(speaker, _)| speaker.trim_start_matches([']', ')', '-', '–', ' ']));
    let speaker = speaker.map(names).unwrap_or_default();
    said_by.is_empty() && (1..=MAX_NAMES).contains(&speaker.len()) && speaker.iter().all(is_name)
}

/// Returns whether a line is the note at the foot of a page, or the address of a link with its title.
fn is_footnote(line: &str) -> bool {
    let Some((name, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]:")) else { return false };
    name.starts_with('^') || rest.trim_start().starts_with("http")
}

/// Returns whether a line is a comment of a program.
fn is_comment(line: &str) -> bool {
    ["# ", "// ", "/// ", "-- ", "; ", ";; ", "% ", "REM "].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// Returns whether a line is code with a comment behind it.
fn is_commented_code(line: &str) -> bool {
    [" # ", " // ", " -- "].iter().any(|mark| line.split_once(mark).is_some_and(|(code, _)| is_code(code)))
}

/// Returns whether a line is one of a program, a script or a file of settings.
fn is_code(line: &str) -> bool {
    const PROGRAMS: [&str; 20] = [
        "npm", "pnpm", "yarn", "npx", "cargo", "git", "make", "docker", "pip", "python", "python3", "go", "uv", "curl",
        "cd", "sudo", "bash", "sh", "kubectl", "export",
    ];
    const SETTINGS: [&str; 10] =
        ["FROM ", "RUN ", "COPY ", "SELECT ", "INSERT ", "UPDATE ", "CREATE ", "ALTER ", "@", "import "];
    const PROSE: [&str; 10] = ["sure", "it", "the", "a", "to", "that", "this", "with", "for", "on"];
    const MAX_WORDS: usize = 8;
    let line = line.trim();
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(first) = words.first() else { return false };
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-\"'".contains(c)) && !name.is_empty();
    let is_program = PROGRAMS.contains(first)
        && words.len() <= MAX_WORDS
        && words.get(1).is_some_and(|word| !PROSE.contains(word))
        && !line.ends_with(['.', ',', '?']);
    let is_set = first.split_once('=').is_some_and(|(name, _)| is_name(name))
        || [" = ", " := ", " => "].iter().any(|mark| line.contains(mark));
    let is_field =
        words.len() <= 3 && first.strip_suffix(':').is_some_and(is_name) && !first.starts_with(char::is_uppercase);
    let calls = || {
        line.ends_with([')', ':'])
            && line.split_once('(').is_some_and(|(name, _)| name.ends_with(|c: char| c.is_ascii_alphanumeric()))
    };
    let is_branch = line.ends_with(':')
        && matches!(*first, "if" | "for" | "while" | "def" | "class" | "try:" | "else:" | "with")
        && !line.contains(char::is_uppercase);
    let is_section = line.starts_with('[') && line.ends_with(']') && words.len() == 1;
    let opens_setting = SETTINGS.iter().any(|setting| line.starts_with(setting)) && words.len() > 1;
    line.ends_with([';', '{', '}'])
        || line.starts_with("./")
        || is_program
        || is_set
        || is_field
        || calls()
        || opens_setting
        || is_branch
        || is_section
        || (line.starts_with('@') && words.len() == 1)
}

/// Returns how many lines a block takes that is indented as code in a document: below an empty line, in no list, and beside text that is
/// not indented.
fn block_of_code(lines: &[&str], at: usize) -> usize {
    const MIN_DEPTH: usize = 3;
    let is_item = |line: &str| {
        let bare = line.trim_start();
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        bare.starts_with(['-', '*', '•', '+']) || (digits > 0 && bare[digits..].starts_with(['.', ')']))
    };
    let is_apart = at > 0 && lines[at - 1].trim().is_empty();
    let above = || lines[..at].iter().rfind(|line| !line.trim().is_empty() && depth(line) < MIN_DEPTH);
    let is_block = is_apart
        && depth(lines[at]) >= MIN_DEPTH
        && !is_item(lines[at])
        && above().is_some_and(|above| !is_item(above) && depth(above) == 0)
        && !lines[at].contains("```");
    if is_block { indented(&lines[at..], MIN_DEPTH) } else { 0 }
}

/// Returns a line without its pictures, whose names are no words of the user, and without the title of a link at its beginning.
pub(super) fn without_pictures(line: &str) -> String {
    let (mut own, mut rest) = (String::with_capacity(line.len()), line);
    while let Some((before, inside)) = rest.split_once("![") {
        let Some(end) = ["](", "]["].iter().filter_map(|close| inside.find(close)).min() else { break };
        let Some(close) = inside[end + 2..].find([')', ']']) else { break };
        own.push_str(before);
        rest = &inside[end + 2 + close + 1..];
    }
    own.push_str(rest);
    while let Some((at, end)) = own.find("<img ").and_then(|at| Some((at, at + own[at..].find('>')? + 1))) {
        own.replace_range(at..end, "");
    }
    let bare = own.trim_start_matches(['-', '*', '•', '#', ' ', '\t']);
    let titled =
        bare.strip_prefix('[').and_then(|title| title.split_once("](http")).filter(|(title, _)| !title.contains(']'));
    match titled.and_then(|(_, address)| address.split_once(')')) {
        Some((_, behind)) => behind.to_owned(),
        None => own,
    }
}

#[cfg(test)]
mod tests {
    use super::super::directives;
    use crate::extract::human::is_rule;

    /// Returns the rules in a prompt in which each `@` stands for a rule.
    fn rules(prompt: &str, rule: &str) -> Vec<String> {
        directives(&prompt.replace('@', rule), true).rules
    }

    const RULES: [&str; 6] = [
        "From now on always count the till before you close it.",
        "Never open the drawer without the key.",
        "Standing order: never lend the key of the till.",
        "앞으로 금고를 닫기 전에 항상 세어줘.",
        "今後は必ず引き出しを数えてから閉めてください。",
        "以后关门之前总是先数一遍抽屉。",
    ];

    #[test]
    fn copied_lines_hold_no_rules() {
        let mut through = Vec::new();
        for around in [
            "⎿ @",
            "what is this?\n\n  ⎿  no paper\n     @",
            "what is this?\n⏺ Bash(till print)\n  ⎿  no paper\n\n     @",
            "look\n\n● Till(print)\n  ⎿ slip\n\n● @",
            "look\n\nHuman: @\n\nAssistant: I will.",
            "done.\n\nHuman: fine\n\n@",
            "**User:** @",
            "look\n\n{\"role\": \"user\", \"text\": \"@\"}",
            "look\n\n│ @ │",
            "look\n\nAnna Bell  10:05 AM\n@",
            "look\n\nAnna Bell\n  10:05\n@",
            "look\n\nAnna Bell — Today at 10:05\n@",
            "look\n\n안나 오전 10:05\n@",
            "look\n\n[10:05] Anna: @",
            "look\n\n[안나] [오전 10:05] @",
            "look\n\n12/05/26, 10:05 - Anna Bell: @",
            "Issue #12:\n@",
            "look\n\n**PR #12:**\n\nthe till\n\n@",
            "look\n\nIssue #12: @",
            "課題 #12：\n@",
            "look\n\nanna commented 2 days ago\n\n@",
            "look\n\nAm 3. Mai um 10:05 schrieb Anna Bell:\n\n@",
            "look\n\n.. note::\n\n   @\n\n",
            "look\n\n.. warning:: @",
            "look\n\n!!! note\n    @",
            "look\n\n:::tip\n@\n:::",
            "look\n\n[NOTE]\n====\n@\n====",
            "look at this\n\n    @",
            "look[^1]\n\n[^1]: @",
            "look\n\n[1]: https://till.example \"@\"",
            "look\n\n# @\ntill = open(1)",
            "look\n\n# @\nmake test",
            "look\n\n# @\ncolour: red",
            "look\n\n// @\nfn open() {",
            "look\n\n-- @\nSELECT slip FROM till",
            "look\n\nmake test  # @",
            "look\n\n/*\n * @\n */",
            "look\n\n\"\"\"@\"\"\"",
            "![@](till.png)",
            "look\n\n![@][till]",
            "look <img src=\"till.png\" alt=\"@\">",
            "[@](https://till.example)",
            "look\n\n### Human\n@",
            "[INST] @ [/INST]",
            "README.md:\n@",
            "look\n\nQuote:\n@",
            "look\n\nanna.bell 10:05 AM\n@",
            "look\n\nAnna Bell\n2 hours ago\n@",
            "look\n\nAnna Bell\n:bell: 10:05 AM\n@",
            "look\n\n * @\n */",
            "look\n\n     12→@",
            "look\n\nshop/till.rs:12: @",
            "look\n\nstdout: @",
            "look\n\n# @\nif open:",
            "look\n\n; @\n[till]",
        ] {
            through.extend(RULES.iter().filter(|rule| !rules(around, rule).is_empty()).map(|rule| (around, rule)));
        }
        assert!(through.is_empty(), "{through:#?}");
    }

    #[test]
    fn rules_beside_copied_lines_hold() {
        let mut lost = Vec::new();
        for around in [
            "@",
            "# @",
            "# The shop\n@",
            "# The shop\n\n- @",
            "## The shop\n- the till\n  - @",
            "1. the till\n\n   @",
            "⎿ no paper\n\n@",
            "Anna Bell 10:05 AM\nno paper\n\n@",
            "we open at 10:05\n@",
            "the till rings at 10:05.\n@",
            "Fix issue #12:\n@",
            "Issue 12: yes\n@",
            "look\n\nIssue #12: no paper\n\n@",
            "@\n\nIssue #12:\nno paper",
            ".. note::\n\n   no paper\n\n@",
            "# no paper\ntill = open(1)\n\n@",
            "![no paper](till.png) @",
            "![no paper](till.png)\n@",
            "the user: opens the till\n@",
            "  look at it\n\n  @",
            "I commented on the slip\n@",
            "CLAUDE.md:\n@",
            "the till of the shop:\n@",
            "the slip is 2 days old\n@",
        ] {
            lost.extend(RULES.iter().filter(|rule| rules(around, rule).is_empty()).map(|rule| (around, rule)));
        }
        assert!(lost.is_empty(), "{lost:#?}");
        assert!(directives("look\n\n@anna: never open the drawer without the key", true).rules.is_empty());
        assert!(is_rule("Always use the [new till](https://till.example) of the shop"));
        let said = "Always read [the list](https://till.example) first";
        assert_eq!(directives(said, false).rules, ["Always read the list first"]);
    }
}
