//! Comments and block elements of HTML in a prompt.

/// Returns what stands before a comment that goes on beyond the first line, and the number of lines that it takes.
pub(super) fn opens_comment<'a>(lines: &[&'a str]) -> Option<(&'a str, usize)> {
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
pub(super) fn block_tag(line: &str) -> Option<String> {
    let name: String = line.strip_prefix('<')?.chars().take_while(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    let ends = line.get(name.len() + 1..)?.chars().next().is_none_or(|c| matches!(c, '>' | '/') || c.is_whitespace());
    (ends && BLOCKS.contains(&name.as_str())).then_some(name)
}

/// The block elements that no tag closes in the rest of a prompt.
#[derive(Default)]
pub(super) struct Unclosed(Vec<String>);

impl Unclosed {
    /// Returns how many lines an element takes that the first line opens: up to the tag that closes it. Without such a tag these are all
    /// lines of a page, and otherwise those up to the next empty line.
    pub(super) fn lines_of_element(&mut self, lines: &[&str], name: &str) -> usize {
        if !self.0.iter().any(|known| known == name) {
            if let Some(count) = closed_after(lines, name) {
                return count;
            }
            self.0.push(name.to_owned());
        }
        let empty = lines.iter().position(|line| line.trim().is_empty());
        empty.filter(|_| !is_page(name)).unwrap_or(lines.len())
    }
}

/// Returns after how many lines the element is closed that the first of them opens, or else the last one of that name. Nothing stands behind
/// the last tag of a page.
fn closed_after(lines: &[&str], name: &str) -> Option<usize> {
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
            return Some(at + 1);
        }
    }
    last.filter(|_| !is_page(name))
}

fn is_page(name: &str) -> bool {
    matches!(name, "html" | "body")
}

/// Counts the tags in a line that begin with a text and whose name ends there.
fn count_tags(line: &str, tag: &str) -> usize {
    let ends = |at: usize| line.as_bytes().get(at + tag.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    line.match_indices(tag).filter(|(at, _)| ends(*at)).count()
}
