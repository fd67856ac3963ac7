//! What is compared, and how two memories can relate to each other.

/// How a later memory relates to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// A value, a name or the scope of a rule is another one now.
    Amends,
    /// The decision was taken back.
    Reverses,
    /// The explanation turned out to be wrong.
    Refutes,
    /// What was left to do is done.
    Completes,
    /// It is about the same, and both hold.
    Follows,
}

impl Relation {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Amends, "amends"),
        (Self::Reverses, "reverses"),
        (Self::Refutes, "refutes"),
        (Self::Completes, "completes"),
        (Self::Follows, "follows"),
    ];

    /// Returns its name, as it is stored.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(relation, _)| *relation == self).map_or("follows", |(_, name)| name)
    }

    /// Returns the relation of that name. An unknown one, which a later version may have stored, hides nothing.
    pub fn from_name(name: &str) -> Self {
        Self::ALL.iter().find(|(_, it)| *it == name).map_or(Self::Follows, |(relation, _)| *relation)
    }

    /// Returns what was done to the older memory: `amended`, `reversed`, …
    pub fn done(self) -> &'static str {
        match self {
            Self::Amends => "amended",
            Self::Reverses => "reversed",
            Self::Refutes => "refuted",
            Self::Completes => "completed",
            Self::Follows => "followed",
        }
    }

    /// Returns whether the older memory no longer holds.
    pub fn supersedes(self) -> bool {
        self != Self::Follows
    }
}

/// Whether a later memory that only follows an earlier one may have changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Nothing speaks for it.
    Unlikely,
    /// Something does.
    Possible,
    /// More speaks for it than against it.
    Likely,
}

impl Change {
    pub(super) const ALL: [Self; 3] = [Self::Unlikely, Self::Possible, Self::Likely];

    /// Returns its number, as it is stored.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the one of that number. An unknown one, which a later version may have stored, changes no order.
    pub fn from_number(number: u8) -> Self {
        Self::ALL.into_iter().find(|it| it.number() == number).unwrap_or(Self::Unlikely)
    }
}

/// What a statement is about, which says what it can do to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// What was decided, asked for or done: it can change anything.
    Deed,
    /// How something is, or why. It can refute a deed's explanation, but changes no deed.
    Finding,
    /// What is to be done. It changes nothing, and is completed.
    Task,
}

/// A memory to compare.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// The session in which it was learned. If empty, it counts as a separate session.
    pub session: &'a str,
    /// When it was learned, milliseconds since the Unix epoch.
    pub created: u64,
    /// One line: of a result, what the human asked for.
    pub title: &'a str,
    /// The text.
    pub content: &'a str,
    /// Whether the text is all that was said. Of a long answer only some sentences are stored: it says many things, of which a
    /// later one may change a few.
    pub is_whole: bool,
    /// Whether it states something by itself. What does not (an archived turn, a summary) shares the links of a statement
    /// of its session that it contains.
    pub is_statement: bool,
    /// What it is about.
    pub subject: Subject,
    /// Whether it was stored since the last comparison.
    pub is_new: bool,
}

#[cfg(test)]
impl<'a> Statement<'a> {
    /// Returns a whole, new statement of what was done.
    pub(super) fn of(session: &'a str, created: u64, [title, content]: [&'a str; 2]) -> Self {
        let subject = Subject::Deed;
        Self { session, created, title, content, is_whole: true, is_statement: true, subject, is_new: true }
    }
}

impl Statement<'_> {
    /// Returns whether another one was learned in another session.
    pub(super) fn is_of_another_session(&self, other: &Self) -> bool {
        self.session.is_empty() || self.session != other.session
    }
}
