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
    let is_diff = prompt.contains("\n@@ ") || prompt.contains("diff --git ");
    let mut own = String::new();
    for line in prompt.lines() {
        let bare = line.trim_start();
        if announces_quotation(bare) {
            break;
        }
        let quoted =
            bare.starts_with(['>', '<', '|']) || (is_diff && bare.starts_with(['+', '-', '@'])) || is_log_line(bare);
        if !quoted {
            own.push_str(line);
            own.push('\n');
        }
    }
    own
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
