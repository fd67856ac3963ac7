//! What introduces the words of somebody else: the header of a mail, an announcement with a colon, a report of what was said.

use crate::text;

/// Words that point to a text that follows, and what such a text is called. Both in one line that ends with a colon announce it:
/// "Look at this issue:".
const POINTERS: &[&str] = &[
    "this",
    "these",
    "following",
    "here is",
    "here's",
    "here are",
    "i got",
    "we got",
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
    "feedback",
    "tweet",
    "findings",
    "finding",
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
pub(super) fn announces_quotation(line: &str) -> bool {
    let headers = ["From: ", "Subject: ", "Date: ", "Sent: ", "보낸 사람:", "件名:", "发件人:"];
    let lower = line.to_lowercase();
    let end = lower.trim_end().trim_end_matches(['"', '“']).trim_end();
    let verbs =
        ["says:", "said:", "wrote:", "reads:", "output:", "error:", "log:", "message:", "다음과 같다:", "내용:", "曰く:"];
    let points = end.ends_with([':', '：']) && text::contains_any_words(end, POINTERS);
    headers.iter().any(|header| line.starts_with(header))
        || (points && text::contains_any_words(end, DOCUMENTS))
        || verbs.iter().any(|verb| end.ends_with(verb))
        || ["the page says", "the website says", "it says:", "페이지에"].iter().any(|opening| lower.starts_with(opening))
        || text::contains_any(line, &["가 말하길", "이 말하길", "가 말하기를", "이 말하기를", "에서 말하길"])
}

/// Returns whether a line stands above a mail that was answered or forwarded.
pub(super) fn heads_mail(line: &str) -> bool {
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
pub(super) fn reports_speech(line: &str) -> bool {
    let end = line.trim_end().trim_end_matches(['.', '!', '"', '”', '\'']);
    let said =
        ["합니다", "한다", "했다", "했습니다", "말한다", "말합니다", "말했다", "말했습니다", "적혀 있다", "적혀 있습니다"];
    said.iter().any(|said| end.strip_suffix(said).is_some_and(|head| head.ends_with("라고 ")))
}
