//! Long lists that a page has open: the position of every entry, so that a page can be entered anywhere.
//!
//! A list is read once, from indexes alone, and stays as it was. It costs 16 bytes an entry; the few last ones are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use throughline_store::MemoryPlace;

/// How many lists are kept.
const MAX_LISTS: usize = 6;

/// A moment of a session: an event by its number, or one of the memories that it was told by its position among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Event(i64),
    Told(usize),
}

/// The positions of a list.
#[derive(Debug, Clone)]
pub(crate) enum Positions {
    Memories(Arc<Vec<MemoryPlace>>),
    Session(Arc<Vec<Moment>>),
}

/// The lists that are open, the latest last.
#[derive(Debug, Default)]
pub(crate) struct Lists(Mutex<VecDeque<(String, Positions)>>);

impl Lists {
    /// Returns the list with this name. It is made if it is not kept.
    pub(crate) fn get<E>(&self, name: &str, make: impl FnOnce() -> Result<Positions, E>) -> Result<Positions, E> {
        // Two requests for the same list wait for one another, and not make it twice.
        let Ok(mut lists) = self.0.lock() else { return make() };
        if let Some(at) = lists.iter().position(|(its, _)| its == name)
            && let Some(found) = lists.remove(at)
        {
            lists.push_back(found.clone());
            return Ok(found.1);
        }
        let list = make()?;
        lists.push_back((name.to_owned(), list.clone()));
        if lists.len() > MAX_LISTS {
            lists.pop_front();
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lists_are_kept() {
        let lists = Lists::default();
        let make = |name: &str, n: usize| {
            let found = lists.get(name, || Ok::<_, ()>(Positions::Session(Arc::new(vec![Moment::Told(n)]))));
            match found.unwrap() {
                Positions::Session(moments) => moments[0],
                Positions::Memories(_) => panic!("another list"),
            }
        };
        assert_eq!(make("a", 1), Moment::Told(1));
        assert_eq!(make("a", 2), Moment::Told(1), "it was made again");
        for n in 0..MAX_LISTS {
            make(&n.to_string(), n);
        }
        assert_eq!(make("a", 3), Moment::Told(3), "the oldest is kept");
        assert_eq!(make("5", 9), Moment::Told(5));
        assert!(lists.get("x", || Err::<Positions, _>("no")).is_err());
    }
}
