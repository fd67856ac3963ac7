//! The memories of one project, as a policy may see them.

use std::rc::Rc;

use anyhow::Result;

use crate::contract::{Memory, SessionRecord};
use crate::policy::imports::{Fact, MemorySource};
use crate::search::query::Query;
use crate::store::{Filter, Store};

/// One project's memories; the present session is known, so that "the last session" can leave it out.
pub struct ProjectMemories {
    /// The store.
    pub store: Rc<Store>,
    /// The project's identifier.
    pub project: String,
    /// The present session.
    pub session: String,
    /// The clock, milliseconds since the Unix epoch.
    pub now: u64,
}

impl ProjectMemories {
    fn filter(&self, session: Option<&str>, kinds: &[String]) -> Filter {
        Filter { project: Some(self.project.clone()), session: session.map(str::to_owned), kinds: kinds.to_vec() }
    }
}

impl MemorySource for ProjectMemories {
    fn recent(&self, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        Ok(self.store.recent(&self.filter(None, kinds), limit)?)
    }

    fn important(&self, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        Ok(self.store.important(&self.filter(None, kinds), limit)?)
    }

    fn of_session(&self, session: &str, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        Ok(self.store.in_order(&self.filter(Some(session), kinds), limit)?)
    }

    fn search(&self, query: &str, kinds: &[String], limit: u32) -> Result<Vec<Memory>> {
        let mut query = Query::parse(query, &jiff::Zoned::now());
        query.kinds.extend_from_slice(kinds);
        Ok(self.store.search(&query, Some(&self.project), limit, self.now)?)
    }

    fn knowledge(&self, limit: u32) -> Result<Vec<Fact>> {
        let known = self.store.knowledge(&self.project, limit)?.into_iter();
        Ok(known.map(|k| Fact { kind: k.kind, file: k.file, content: k.content, updated: k.updated }).collect())
    }

    fn sessions(&self, limit: u32) -> Result<Vec<SessionRecord>> {
        Ok(self.store.sessions(&self.project, &self.session, limit)?)
    }

    fn session(&self, id: &str) -> Result<Option<SessionRecord>> {
        Ok(self.store.session(&self.project, id)?)
    }
}
