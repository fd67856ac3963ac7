//! Finds which later memories took the place of earlier ones, from their texts alone.
//!
//! Two sessions that speak about the same thing are easy to recognize: their words are alike, above all the rare ones.
//! It is harder to say whether the later one changed what the earlier one settled, or asked about it, or settled
//! something beside it. So there are two grades:
//!
//! 1. [`similarity`] compares the words of every new statement with those of all others of the project, and [`meaning`] what the
//!    nearest ones mean. The nearest ones of other sessions are about the same, and the later one *follows* the earlier one. Both
//!    hold.
//! 2. [`change`] decides whether the later statement amends, reverses, refutes or completes the earlier one. It is
//!    careful, because a wrong link hides a rule that holds.
//!
//! Only the last statement of a session about a subject can change an earlier one: what came before it may be a proposal.
//! A link of a statement also holds for the memories of its session that say the same in other words, such as the archived
//! turn, and for those that led to it.

mod change;
mod cues;
mod evidence;
mod facts;
mod meaning;
mod nearness;
mod relation;
mod replaced;
mod similarity;
mod weights;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use self::change::{Judgement, Parts};
use self::evidence::Evidence;
pub use self::evidence::FEATURES;
use self::meaning::Meanings;
pub use self::meaning::{Embed, Meaning};
use self::nearness::{MAX_LIKENED, MIN_NEAREST, Nearness, Rivals};
pub use self::relation::{Change, Relation, Statement, Subject};
use self::replaced::{Replaced, SaidValues};
use self::similarity::Space;

/// That a statement relates to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The place of the older memory among the statements.
    pub older: usize,
    /// The place of the newer one.
    pub newer: usize,
    /// How the newer one relates to the older one.
    pub relation: Relation,
    /// Whether a newer one that only follows may have changed the older one.
    pub change: Change,
    /// How similar the two are, 0 to 1.
    pub similarity: f32,
}

/// The similarity from which two statements are about the same. Measured on conversations about the parts of one product:
/// those about the same rule had .10 to .29, and of those about two rules one in a hundred had more than .14.
const MIN_SIMILARITY: f32 = 0.12;

/// The similarity from which a later statement follows an earlier one even though nothing says that it changes it.
const MIN_FOLLOWS: f32 = 0.24;

/// The similarity from which a later statement that may have changed an earlier one puts it in doubt before the agent. What is less
/// similar only orders: of 15 such pairs of the written chains that are not kept apart, ten were of two chains.
pub const MIN_DOUBT: f32 = 0.08;

/// How many of the nearest statements, older and newer, are looked at.
const MAX_NEAREST: usize = 6;

/// The share of a statement's words, by weight, that a memory has which says it too.
const MIN_CONTAINED: f32 = 0.7;

/// The share of a memory's words, by weight, that a statement makes up whose links it shares. A summary of a long session
/// says many other things.
const MIN_MADE_UP: f32 = 0.35;

/// Compares the new statements with all others. Returns the links, at most one for each pair.
pub fn compare(statements: &[Statement<'_>], embed: &Embed<'_>) -> Vec<Link> {
    let texts = statements.iter().map(|statement| [statement.title, statement.content]);
    let space = Space::new(texts, MIN_NEAREST);
    // A statement is taken apart once, however many it is compared with.
    let parts: Vec<OnceCell<Parts<'_>>> = statements.iter().map(|_| OnceCell::new()).collect();
    let parts_of = |at: usize| parts[at].get_or_init(|| Parts::of(&statements[at]));
    let mut links: Vec<Link> = Vec::new();
    let meanings = Meanings::new(statements, embed);
    for Pair { older, newer, nearness } in pairs(statements, &space, &meanings) {
        let similarity = nearness.similarity;
        let (before, after) = (&statements[older], &statements[newer]);
        let (relation, change) = match change::judge(parts_of(older), parts_of(newer), nearness) {
            Judgement::Changes(relation) if can_change(relation, before, after) => (relation, Change::Unlikely),
            Judgement::MayChange(change)
                if before.is_whole && after.is_whole && can_change(Relation::Amends, before, after) =>
            {
                (Relation::Follows, change)
            }
            _ if similarity >= MIN_FOLLOWS => (Relation::Follows, Change::Unlikely),
            _ => continue,
        };
        links.push(Link { older, newer, relation, change, similarity });
    }
    links.extend(replacing(statements));
    let mut of_session: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, statement) in statements.iter().enumerate().filter(|(_, it)| !it.session.is_empty()) {
        of_session.entry(statement.session).or_default().push(at);
    }
    for at in 0..links.len() {
        let link = links[at];
        let beside = of_session.get(statements[link.older].session).map_or(&[][..], Vec::as_slice);
        let also = shares_its_fate(statements, &space, link, beside);
        links.extend(also);
    }
    strongest(links)
}

/// Returns the links of statements that say in so many words which value took the place of one that an earlier one has. They may share
/// few words beside that, and the earlier one may say more, so that it is only put in doubt.
fn replacing(statements: &[Statement<'_>]) -> Vec<Link> {
    let may_be = |it: &Statement<'_>| it.is_statement && it.subject != Subject::Task;
    let all = || statements.iter().enumerate().filter(|(_, it)| may_be(it));
    let replacing: Vec<(usize, Vec<Replaced>)> =
        all().map(|(at, it)| (at, Replaced::all_in(it.content))).filter(|(_, replaced)| !replaced.is_empty()).collect();
    if replacing.is_empty() {
        return Vec::new();
    }
    let values = SaidValues::of(all().map(|(at, it)| (at, it.content)));
    let mut links = Vec::new();
    for (newer, replaced) in replacing {
        let after = &statements[newer];
        let is_earlier = |older: &usize| {
            let before = &statements[*older];
            before.created < after.created && (before.is_new || after.is_new) && after.is_of_another_session(before)
        };
        let older: BTreeSet<usize> = replaced.iter().flat_map(|it| it.said_in(&values)).filter(is_earlier).collect();
        let link = |older| Link { older, newer, relation: Relation::Follows, change: Change::Likely, similarity: MIN_DOUBT };
        links.extend(older.into_iter().map(link));
    }
    links
}

/// What speaks for and against a change of a statement by a later one.
#[derive(Clone, Copy, Debug)]
pub struct Weighed {
    /// The place of the older statement.
    pub older: usize,
    /// The place of the newer one.
    pub newer: usize,
    /// The features, see [`FEATURES`]; `None` if the two are not about the same.
    pub features: Option<[f32; FEATURES.len()]>,
    /// Whether something plain says that it is a change.
    pub is_plain: bool,
}

/// Returns what speaks for and against each change that [`compare`] considers. The weights are learned from this.
pub fn weigh(statements: &[Statement<'_>], embed: &Embed<'_>) -> Vec<Weighed> {
    let texts = statements.iter().map(|statement| [statement.title, statement.content]);
    let space = Space::new(texts, MIN_NEAREST);
    let parts: Vec<Parts<'_>> = statements.iter().map(Parts::of).collect();
    let weigh = |Pair { older, newer, nearness }: Pair| {
        let evidence = Evidence::of(&parts[older], &parts[newer], nearness);
        let features = evidence.has_topic.then_some(evidence.features);
        Weighed { older, newer, features, is_plain: evidence.is_plain() }
    };
    pairs(statements, &space, &Meanings::new(statements, embed)).into_iter().map(weigh).collect()
}

/// Two statements of two sessions that are about the same.
#[derive(Clone, Copy)]
struct Pair {
    older: usize,
    newer: usize,
    nearness: Nearness,
}

/// Returns, for each new statement, the pairs with those that are nearest to it.
fn pairs(statements: &[Statement<'_>], space: &Space, meanings: &Meanings<'_>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut known: HashSet<(usize, usize)> = HashSet::new();
    let mut last_words: HashMap<usize, bool> = HashMap::new();
    let mut rivals: HashMap<usize, Rivals> = HashMap::new();
    for (at, statement) in statements.iter().enumerate() {
        if !statement.is_new || !statement.is_statement {
            continue;
        }
        let near = space.nearest(at);
        let of_others = near.iter().filter(|(other, _)| statement.is_of_another_session(&statements[*other]));
        let (older, newer): (Vec<_>, Vec<_>) = of_others
            .filter(|(other, _)| statements[*other].is_statement)
            .partition(|(other, _)| (statements[*other].created, *other) < (statement.created, at));
        let nearest = |others: Vec<&(usize, f32)>| {
            // Those nearest by their words, and of the next ones the most alike in meaning.
            let candidates = others.iter().skip(MAX_NEAREST).take(MAX_LIKENED - MAX_NEAREST);
            let alike = candidates
                .map(|&&(other, similarity)| ((other, similarity), meanings.likeness(at, other)))
                .filter(|(_, likeness)| *likeness > 0.0)
                .max_by(|(_, one), (_, other)| one.total_cmp(other))
                .map(|(it, _)| it);
            others.into_iter().take(MAX_NEAREST).copied().chain(alike).collect::<Vec<_>>()
        };
        let older = nearest(older).into_iter().map(|(other, similarity)| (other, at, similarity));
        let newer = nearest(newer).into_iter().map(|(other, similarity)| (at, other, similarity));
        for (older, newer, similarity) in older.chain(newer) {
            if statements[older].created >= statements[newer].created || !known.insert((older, newer)) {
                continue;
            }
            let mut rivals_of = |at: usize| *rivals.entry(at).or_insert_with(|| Rivals::of(statements, space, meanings, at));
            let (of_older, of_newer) = (rivals_of(older), rivals_of(newer));
            let nearness = Nearness {
                similarity,
                is_nearest_earlier: of_newer.nearest_earlier == Some(older),
                is_nearest_later: of_older.nearest_later == Some(newer),
                stands_out: similarity / of_newer.best_but(&statements[older]).max(of_older.best_but(&statements[newer])),
                likeness: if of_older.are_many || of_newer.are_many { meanings.likeness(older, newer) } else { 0.0 },
                is_alikest_earlier: of_newer.alikest_earlier == Some(older),
                is_alikest_later: of_older.alikest_later == Some(newer),
            };
            if (similarity >= MIN_SIMILARITY || nearness.is_nearest())
                && *last_words.entry(newer).or_insert_with(|| is_last_word(statements, space, newer))
            {
                pairs.push(Pair { older, newer, nearness });
            }
        }
    }
    pairs
}

/// Returns whether a statement can relate to an earlier one in this way, by what the two are about.
fn can_change(relation: Relation, older: &Statement<'_>, newer: &Statement<'_>) -> bool {
    match (older.subject, newer.subject) {
        (_, Subject::Task) => false,
        (Subject::Task, _) => relation == Relation::Completes,
        (Subject::Deed, Subject::Finding) => relation == Relation::Refutes,
        (Subject::Finding, _) | (Subject::Deed, Subject::Deed) => true,
    }
}

/// Keeps one link of each pair, a superseding one rather than another.
fn strongest(mut links: Vec<Link>) -> Vec<Link> {
    links.sort_by(|a, b| {
        let order = (a.older, a.newer, !a.relation.supersedes(), b.change).cmp(&(
            b.older,
            b.newer,
            !b.relation.supersedes(),
            a.change,
        ));
        order.then(b.similarity.total_cmp(&a.similarity))
    });
    links.dedup_by_key(|link| (link.older, link.newer));
    links
}

/// Returns the statements that are about the same as one of them.
fn about(space: &Space, at: usize) -> impl Iterator<Item = usize> {
    let near = space.nearest(at);
    let count = near.iter().take_while(|(_, similarity)| *similarity >= MIN_SIMILARITY).count();
    (0..count).map(move |place| near[place].0)
}

/// Returns whether nothing that came later in its session is about the same.
fn is_last_word(statements: &[Statement<'_>], space: &Space, at: usize) -> bool {
    let it = &statements[at];
    let is_later = |other: usize| {
        let other_one = &statements[other];
        other != at
            && other_one.is_statement
            && !it.session.is_empty()
            && other_one.session == it.session
            && other_one.created > it.created
    };
    !about(space, at).any(is_later)
}

/// Returns the links of the other memories of the older statement's session that share its link: of those that say the same
/// and those that led to it. If the later one only follows, it follows all that are about the same. If it changed or may have
/// changed the older one, it may also have changed what was said right before that.
fn shares_its_fate(statements: &[Statement<'_>], space: &Space, link: Link, beside: &[usize]) -> Vec<Link> {
    let it = &statements[link.older];
    let about_it: HashSet<usize> = about(space, link.older).collect();
    let about_later: HashSet<usize> = about(space, link.newer).collect();
    let is_change = link.relation.supersedes();
    let is_other = |other: usize| other != link.older && statements[other].created < statements[link.newer].created;
    let right_before = beside
        .iter()
        .filter(|other| statements[**other].is_statement && statements[**other].created < it.created)
        .map(|other| statements[*other].created)
        .max();
    let mut shared = Vec::new();
    for &other in beside.iter().filter(|other| is_other(**other)) {
        let (contained, made_up) = space.shares(link.older, other);
        // A text that makes no statement on its own may be an extract.
        let is_extract = !statements[other].is_statement && made_up >= MIN_CONTAINED;
        let says_it = is_extract || (contained >= MIN_CONTAINED && made_up >= MIN_MADE_UP);
        let created = statements[other].created;
        let (is_about_it, is_about_later) = (about_it.contains(&other), about_later.contains(&other));
        let led_to_it = created <= it.created && is_about_it && is_about_later;
        let is_beside = created == it.created || Some(created) == right_before;
        if says_it || led_to_it {
            shared.push(Link { older: other, ..link });
        } else if (is_change || link.change > Change::Unlikely) && is_beside && (is_about_it || is_about_later) {
            let change = if is_change { Change::Likely } else { link.change };
            shared.push(Link { older: other, relation: Relation::Follows, change, ..link });
        } else if !is_change && is_about_later {
            shared.push(Link { older: other, change: Change::Unlikely, ..link });
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement<'a>(session: &'a str, created: u64, title: &'a str, content: &'a str) -> Statement<'a> {
        Statement::of(session, created, [title, content])
    }

    const ASKED: &str = "keep sessions for 30 minutes";
    const KEEPS_30: &str = "`SESSION_TTL_MIN = 30` in `auth/session.ts`: an idle login ends after 30 minutes.";
    const KEEPS_90: &str = "`SESSION_TTL_MIN = 90` in `auth/session.ts`, so an idle login ends after 90 minutes.";

    /// Texts about other things, so that common words weigh little.
    fn others() -> Vec<Statement<'static>> {
        vec![
            statement(
                "x1",
                1,
                "paint the shed",
                "The shed in `garden.toml` is green, the door stays white, and both dry by noon.",
            ),
            statement(
                "x2",
                2,
                "sort the seeds",
                "Seeds are sorted by month in `seeds.csv`; the beans come first and peas after them.",
            ),
            statement(
                "x3",
                3,
                "oil the gate",
                "The gate of the yard squeaks less since `gate.log` shows no rust on its hinges.",
            ),
        ]
    }

    #[test]
    fn a_changed_value_amends() {
        let mut all = others();
        all.push(statement("a", 10, ASKED, KEEPS_30));
        all.push(statement("b", 20, "make it 90", KEEPS_90));
        let links = compare(&all, &|_| None);
        let link = links.iter().find(|link| (link.older, link.newer) == (3, 4)).expect("a link");
        assert_eq!(link.relation, Relation::Amends);
        assert!(links.iter().all(|link| link.older >= 3), "{links:?}");
    }

    #[test]
    fn a_task_changes_nothing_and_a_finding_no_deed() {
        let mut all = others();
        all.push(statement("a", 10, ASKED, KEEPS_30));
        for (subject, changes) in [(Subject::Deed, true), (Subject::Finding, false), (Subject::Task, false)] {
            all.truncate(4);
            all.push(Statement { subject, ..statement("b", 20, "make it 90", KEEPS_90) });
            let links = compare(&all, &|_| None);
            assert_eq!(links.iter().any(|link| link.relation.supersedes()), changes, "{subject:?}: {links:?}");
            assert!(changes || links.iter().all(|link| link.change == Change::Unlikely), "{subject:?}: {links:?}");
        }
        all[3].subject = Subject::Task;
        all[4].subject = Subject::Deed;
        assert!(
            compare(&all, &|_| None).iter().all(|link| !link.relation.supersedes()),
            "a task is completed, and nothing else"
        );
    }

    #[test]
    fn what_is_asked_again_changes_nothing() {
        let mut all = others();
        all.push(statement("a", 10, ASKED, KEEPS_30));
        all.push(statement(
            "b",
            20,
            "what was the idle time of a login again?",
            "`SESSION_TTL_MIN = 30` in `auth/session.ts`; nothing changed there since it was set.",
        ));
        assert!(compare(&all, &|_| None).iter().all(|link| !link.relation.supersedes()));
    }

    #[test]
    fn a_session_does_not_change_its_own_words() {
        let mut all = others();
        all.push(statement("a", 10, ASKED, KEEPS_30));
        all.push(statement("a", 20, "make it 90", KEEPS_90));
        assert!(compare(&all, &|_| None).is_empty());
    }

    #[test]
    fn a_turn_shares_the_link_of_what_it_says() {
        let mut all = others();
        let turn = format!("{ASKED}\n\n{KEEPS_30} I ran the tests of that folder.");
        all.push(statement("a", 10, ASKED, KEEPS_30));
        all.push(Statement { is_statement: false, ..statement("a", 10, "", &turn) });
        all.push(statement("b", 20, "make it 90", KEEPS_90));
        let amended: Vec<usize> = compare(&all, &|_| None)
            .iter()
            .filter(|link| link.relation == Relation::Amends)
            .map(|link| link.older)
            .collect();
        assert_eq!(amended, [3, 4]);
    }

    #[test]
    fn only_the_last_word_of_a_session_changes_an_earlier_one() {
        let mut all = others();
        all.push(statement("a", 10, ASKED, KEEPS_30));
        all.push(statement(
            "b",
            20,
            "what about 90?",
            "`SESSION_TTL_MIN = 90` in `auth/session.ts` would end an idle login after 90 minutes.",
        ));
        all.push(statement(
            "b",
            30,
            "no, leave it",
            "`SESSION_TTL_MIN = 30` in `auth/session.ts` stays, an idle login ends after 30 minutes.",
        ));
        assert!(compare(&all, &|_| None).iter().all(|link| !link.relation.supersedes()));
    }

    /// Two answers about how a queue is kept, of which nothing says in words that the second one changes the first.
    fn in_doubt() -> Vec<Statement<'static>> {
        let mut all = others();
        all.push(statement(
            "a",
            10,
            "where do print jobs wait?",
            "Print jobs wait on RabbitMQ in `print/queue.rs`, one durable queue for each printer.",
        ));
        all.push(statement(
            "b",
            20,
            "the printers at the dock were slow today",
            "Print jobs wait in a table, which `print/queue.rs` polls for each printer.",
        ));
        all
    }

    #[test]
    fn what_may_be_a_change_hides_nothing_and_says_so() {
        let links = compare(&in_doubt(), &|_| None);
        let link = links.iter().find(|link| (link.older, link.newer) == (3, 4)).expect("a link");
        assert_eq!(link.relation, Relation::Follows);
        assert!(link.change > Change::Unlikely, "{link:?}");
    }

    #[test]
    fn a_replaced_value_puts_what_had_it_in_doubt() {
        let rules = "The rules of the shop: slips are kept for a year; a return window of 7 days; no smoking at the till.";
        let amended = "The provider wants two changes: the name of the shop, and the return window, 7 → 14 days.";
        let mut all = others();
        all.push(Statement { is_whole: false, ..statement("a", 10, "write the rules", rules) });
        all.push(Statement { is_whole: false, ..statement("b", 20, "yes", amended) });
        let links = compare(&all, &|_| None);
        let link = links.iter().find(|link| (link.older, link.newer) == (3, 4)).expect("a link");
        assert_eq!((link.relation, link.change), (Relation::Follows, Change::Likely));
        all[4].created = 5;
        assert!(compare(&all, &|_| None).iter().all(|link| link.change == Change::Unlikely), "it came before");
    }

    #[test]
    fn a_part_of_an_answer_puts_nothing_in_doubt() {
        for cut in [3, 4] {
            let mut all = in_doubt();
            all[cut].is_whole = false;
            assert!(compare(&all, &|_| None).iter().all(|link| link.change == Change::Unlikely), "{cut}");
        }
    }

    #[test]
    fn numbers_of_changes_are_read_as_they_were_stored() {
        for change in Change::ALL {
            assert_eq!(Change::from_number(change.number()), change);
        }
        assert_eq!(Change::from_number(9), Change::Unlikely);
    }
}
