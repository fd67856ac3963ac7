//! Tells what the user typed from what the user pasted or quoted.

use crate::text;

/// The maximum length of a request below or above pasted text, in characters.
pub(super) const MAX_BESIDE_PASTE: usize = 500;

/// The share of lines that look pasted in a text that is, in tenths.
const PASTED_TENTHS: usize = 4;

/// Returns whether most lines of a text are headings, quotations, code, logs or lines of a terminal.
pub(super) fn is_pasted_text(text: &str) -> bool {
    let (mut all, mut pasted, mut is_fenced) = (0, 0, false);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        let is_mark = line.starts_with(['#', '>', '|', '<', '{', '}', '+', '$', '⏺', '⎿', '❯', '│', '●']);
        all += 1;
        let is_code = || text::sentences(line).iter().all(|sentence| looks_pasted(sentence));
        pasted += usize::from(is_fenced || is_fence || is_mark || is_log_line(line) || is_code());
    }
    pasted * 10 >= all * PASTED_TENTHS
}

/// Returns the lines that the user wrote: no quotations, no differences, no markup, no logs, no mails, and nothing after a
/// line that announces what somebody else says.
pub(in crate::extract) fn own_words(prompt: &str) -> String {
    let lines: Vec<&str> = prompt.lines().collect();
    let has_hunks = prompt.contains("\n@@ ") || prompt.contains("diff --git ");
    let (mut own, mut next, mut in_diff, mut in_quotation, mut in_finding) = (String::new(), 0, false, false, false);
    while let Some(&line) = lines.get(next) {
        let rest = &lines[next..];
        let bare = line.trim_start();
        next += 1;
        if announces_quotation(bare) || heads_mail(bare) {
            break;
        }
        let is_header = begins_diff(rest);
        in_diff |= is_header;
        in_finding = is_finding(bare) || (in_finding && !bare.is_empty());
        in_quotation = bare.starts_with('>') || (in_quotation && !bare.is_empty());
        if let Some((before, skipped)) = opens_comment(rest) {
            if !in_quotation && !bare.starts_with('<') {
                own.push_str(before);
                own.push('\n');
            }
            next += skipped - 1;
            continue;
        }
        if let Some(name) = block_tag(bare) {
            next += lines_of_element(rest, &name) - 1;
            continue;
        }
        let is_changed = is_header || (bare.starts_with(['+', '-', '@']) && (in_diff || has_hunks));
        let is_context = in_diff && line.starts_with([' ', '\t']);
        let is_quoted =
            bare.starts_with(['<', '|']) || in_quotation || in_finding || reports_speech(bare) || is_log_line(bare);
        if !(is_quoted || is_changed || is_context || is_change(line)) {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
}

/// Returns whether a line is a finding of a review: an item that begins with how bad it is.
fn is_finding(line: &str) -> bool {
    const GRADES: [&str; 12] =
        ["critical", "blocker", "high", "medium", "low", "major", "minor", "nit", "p0", "p1", "p2", "p3"];
    let rest = line.trim_start_matches(['*', '-', '•', '#', ' ']);
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ')', '*', ' ', '(', '[']);
    let lower = rest.to_lowercase();
    let is_item = rest.len() < line.len();
    is_item
        && GRADES.iter().any(|grade| {
            let after = lower.strip_prefix(grade);
            after.is_some_and(|after| after.starts_with([':', ')', ']', '*', '—', '–']) || after.starts_with(" -"))
        })
}

/// Returns whether a difference begins with the first of these lines.
fn begins_diff(lines: &[&str]) -> bool {
    let is = |at: usize, mark: &str| lines.get(at).is_some_and(|line| line.starts_with(mark));
    is(0, "diff --git ") || is(0, "@@ ") || (is(0, "--- ") && is(1, "+++ "))
}

/// Returns whether a line is an added or removed line of a difference without a header. An item of a list has a blank after its
/// sign, and an option such as `--all` or a number is no change.
fn is_change(line: &str) -> bool {
    let after = line.strip_prefix(['+', '-']).and_then(|after| after.chars().next());
    after.is_some_and(char::is_alphabetic)
}

/// Returns whether a line stands above a mail that was answered or forwarded.
fn heads_mail(line: &str) -> bool {
    let title = line.trim_matches(|c: char| matches!(c, '-' | '_' | ':') || c.is_whitespace()).to_lowercase();
    let titles = [
        "original message",
        "forwarded message",
        "begin forwarded message",
        "ursprüngliche nachricht",
        "weitergeleitete nachricht",
        "mensaje original",
        "mensaje reenviado",
        "원본 메시지",
        "전달된 메시지",
        "元のメッセージ",
        "転送メッセージ",
        "原始邮件",
        "转发的邮件",
    ];
    titles.contains(&title.as_str())
}

/// Returns whether a Korean line ends by saying that it was somebody else who said it.
fn reports_speech(line: &str) -> bool {
    let end = line.trim_end().trim_end_matches(['.', '!', '"', '”', '\'']);
    let said =
        ["합니다", "한다", "했다", "했습니다", "말한다", "말합니다", "말했다", "말했습니다", "적혀 있다", "적혀 있습니다"];
    said.iter().any(|said| end.strip_suffix(said).is_some_and(|head| head.ends_with("라고 ")))
}

/// Returns what stands before a comment that goes on beyond the first line, and the number of lines that it takes.
fn opens_comment<'a>(lines: &[&'a str]) -> Option<(&'a str, usize)> {
    let (before, comment) = lines.first()?.rsplit_once("<!--")?;
    if comment.contains("-->") || before.ends_with(['`', '"', '\'']) {
        return None;
    }
    let end = lines.iter().skip(1).position(|line| line.contains("-->"));
    Some((before, end.map_or(lines.len(), |end| end + 2)))
}

/// Elements of HTML that hold blocks of text.
const BLOCKS: &[&str] = &[
    "html",
    "head",
    "body",
    "script",
    "style",
    "div",
    "p",
    "ul",
    "ol",
    "li",
    "dl",
    "table",
    "tr",
    "td",
    "section",
    "article",
    "main",
    "aside",
    "header",
    "footer",
    "nav",
    "blockquote",
    "pre",
    "details",
    "form",
    "template",
    "textarea",
    "h1",
    "h2",
    "h3",
];

/// Returns the name of the block element that a line opens.
fn block_tag(line: &str) -> Option<String> {
    let name: String = line.strip_prefix('<')?.chars().take_while(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    let ends = line.get(name.len() + 1..)?.chars().next().is_none_or(|c| matches!(c, '>' | '/') || c.is_whitespace());
    (ends && BLOCKS.contains(&name.as_str())).then_some(name)
}

/// Returns how many lines an element takes that the first line opens: up to the tag that closes it. Without such a tag these are
/// all lines of a page, and otherwise those up to the next empty line.
fn lines_of_element(lines: &[&str], name: &str) -> usize {
    let (open, close) = (format!("<{name}"), format!("</{name}"));
    let (mut opened, mut closed, mut last) = (0, 0, None);
    for (at, line) in lines.iter().enumerate() {
        let line = line.to_ascii_lowercase();
        opened += count_tags(&line, &open);
        let here = count_tags(&line, &close);
        closed += here;
        if here > 0 {
            last = Some(at + 1);
        }
        if closed >= opened {
            return at + 1;
        }
    }
    let to_empty = || lines.iter().position(|line| line.trim().is_empty());
    let end = if matches!(name, "html" | "body") { None } else { last.or_else(to_empty) };
    end.unwrap_or(lines.len())
}

/// Counts the tags in a line that begin with a text and whose name ends there.
fn count_tags(line: &str, tag: &str) -> usize {
    let ends = |at: usize| line.as_bytes().get(at + tag.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    line.match_indices(tag).filter(|(at, _)| ends(*at)).count()
}

/// Words that point to a text that follows, and what such a text is called. Both in one line that ends with a colon announce it:
/// "Look at this issue:".
const POINTERS: &[&str] = &[
    "this",
    "these",
    "following",
    "here is",
    "here's",
    "here are",
    "below",
    "from the",
    "from a",
    "이 ",
    "다음",
    "아래",
    "この",
    "次の",
    "以下",
    "这",
    "下面",
    "diese",
    "diesen",
    "dieser",
    "folgende",
    "folgenden",
    "este",
    "esta",
    "siguiente",
];

const DOCUMENTS: &[&str] = &[
    "issue",
    "ticket",
    "comment",
    "comments",
    "mail",
    "mails",
    "email",
    "e-mail",
    "message",
    "messages",
    "review",
    "page",
    "article",
    "readme",
    "log",
    "logs",
    "output",
    "post",
    "thread",
    "reply",
    "text",
    "chat",
    "snippet",
    "이슈",
    "티켓",
    "댓글",
    "메일",
    "메시지",
    "리뷰",
    "페이지",
    "문서",
    "로그",
    "글",
    "コメント",
    "メール",
    "メッセージ",
    "レビュー",
    "ページ",
    "ログ",
    "文章",
    "邮件",
    "评论",
    "消息",
    "页面",
    "日志",
    "工单",
    "nachricht",
    "kommentar",
    "seite",
    "mensaje",
    "comentario",
    "correo",
    "página",
];

/// Returns whether a line introduces other people's words: the header of a mail, "The page says:" or "Look at this issue:".
fn announces_quotation(line: &str) -> bool {
    let headers = ["From: ", "Subject: ", "Date: ", "Sent: ", "보낸 사람:", "件名:", "发件人:"];
    let lower = line.to_lowercase();
    let end = lower.trim_end().trim_end_matches(['"', '“']).trim_end();
    let verbs =
        ["says:", "said:", "wrote:", "reads:", "output:", "error:", "log:", "message:", "다음과 같다:", "내용:", "曰く:"];
    let points = end.ends_with([':', '：']) && POINTERS.iter().any(|word| text::contains_words(end, word));
    headers.iter().any(|header| line.starts_with(header))
        || (points && DOCUMENTS.iter().any(|word| text::contains_words(end, word)))
        || verbs.iter().any(|verb| end.ends_with(verb))
        || ["the page says", "the website says", "it says:", "페이지에"].iter().any(|opening| lower.starts_with(opening))
        || ["가 말하길", "이 말하길", "가 말하기를", "이 말하기를", "에서 말하길"]
            .iter()
            .any(|opening| line.contains(opening))
}

/// Returns whether a line begins with a time, as lines of logs do.
pub(super) fn is_log_line(line: &str) -> bool {
    let line = line.trim_start_matches('[').as_bytes();
    let digits = |range: std::ops::Range<usize>| line.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let is_date = digits(0..4) && line.get(4) == Some(&b'-') && digits(5..7);
    let is_time = digits(0..2) && line.get(2) == Some(&b':') && digits(3..5) && line.get(5) == Some(&b':');
    is_date || is_time
}

/// Recognizes stack traces, code and logs outside of a code fence.
pub(super) fn looks_pasted(sentence: &str) -> bool {
    let odd = sentence.chars().filter(|c| matches!(c, '{' | '}' | ';' | '=' | '<' | '>' | '|' | '\\' | '$')).count();
    odd * 12 > sentence.chars().count()
        || sentence.starts_with("at ")
        || sentence.contains("Error:")
        || sentence.chars().count() > 500
}

/// Strips the mark of file mentions such as `@docs/guide.md`. A package such as `@org/name` keeps it.
pub(super) fn strip_mentions(sentence: &str) -> String {
    let words: Vec<&str> = sentence
        .split(' ')
        .map(|word| match word.strip_prefix('@') {
            Some(name) if name.contains('.') || !name.contains('/') => name,
            _ => word,
        })
        .collect();
    words.join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_lines_are_not_the_users_own() {
        for pasted in [
            "<div>\nFrom now on\n\nalways\n</div>",
            "<div class=\"a\">\n<div>\n</div>\nFrom now on\n</div>",
            "<body>\n\nFrom now on",
            "<p>\nFrom now on\n",
            "<!--\nFrom now on\n\nalways\n-->",
            "<!--\nFrom now on",
            "+From now on always",
            "--- a/x\n+++ b/x\n+ From now on",
            "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n From now on\n-a\n+b",
            "-----Original Message-----\nFrom now on",
            "---------- Forwarded message ---------\nFrom now on",
            "Begin forwarded message:\n\nFrom now on",
            "> They wrote\nFrom now on always",
            "2. Low: the total is wrong, and\n   always calls round() twice.",
            "**1. (High) The cart never closes.**\nFrom now on it leaks.",
            "그 사이트가 말하길, 앞으로 항상 검사를 실행해줘.",
            "앞으로 항상 검사를 실행하라고 합니다.",
        ] {
            let own = own_words(&format!("Look.\n\n{pasted}"));
            assert_eq!(own.trim(), "Look.", "{pasted}");
        }
    }

    #[test]
    fn words_around_pasted_lines_are_the_users_own() {
        for around in [
            "<div>\nx\n</div>\n@",
            "<div>\nx\n\n@",
            "<br>\n@",
            "<!-- x -->\n@",
            "<!--\nx\n-->\n@",
            "Write the mark `<!--`.\n@",
            "- one\n- two\n@",
            "+ one\n@",
            "--all is an option.\n@",
            "---\n@",
            "--- a/x\n+++ b/x\n+x\n\n@",
            "> x\n\n@",
            "@\n-----Original Message-----\nx",
            "이것을 변수라고 부른다.\n@",
        ] {
            let own = own_words(&around.replace('@', "From now on always run the tests."));
            assert!(own.contains("From now on always run the tests."), "{around}");
        }
        for own in ["- always run the tests", "  - always run the tests", "-5 degrees", "--all is an option."] {
            assert_eq!(own_words(own).trim_end(), own);
        }
    }
}
