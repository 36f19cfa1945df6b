//! Webs of memoirs that were drawn lately.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use icm_api::error::Result;
use icm_api::{Memoir, MemoirGraph};
use icm_log::Rewritten;

use super::web::{Edge, Node, Web};
use crate::Explorer;
use crate::ask::Ask;
use crate::show::start_of;

/// Webs that are kept. Raised, they take more memory: about 2 MB for 5,000 concepts.
const WEBS: usize = 4;
/// Characters of a definition that the table of concepts shows.
const ABOUT: usize = 160;

/// A memoir with the web of its concepts.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) memoir: Memoir,
    pub(super) web: Web,
}

/// A memoir as it was asked for, the position of the moment, the newest position, and the mark of the log files. A
/// redaction changes the texts of earlier moments, and a store that is restored has other events at the same positions.
type Key = (String, u64, u64, Rewritten);

/// The webs that were asked for last. A page and the data of its drawing share one.
#[derive(Debug, Default)]
pub(crate) struct Webs(Mutex<Vec<(Key, Arc<Drawn>)>>);

impl Webs {
    /// Returns a memoir with its web at the moment of a page.
    pub(super) fn of(explorer: &Explorer, ask: &Ask, memoir: &str) -> Result<Arc<Drawn>> {
        let newest = explorer.service.newest_position()?;
        let rewritten = explorer.service.log_handle().rewritten();
        let key = (memoir.to_owned(), ask.basis.position, newest, rewritten);
        let kept = &explorer.webs.0;
        let known = |webs: &mut Vec<(Key, Arc<Drawn>)>| {
            let place = webs.iter().position(|(of, _)| *of == key)?;
            let found = webs.remove(place);
            webs.push(found);
            webs.last().map(|(_, drawn)| drawn.clone())
        };
        if let Some(drawn) = known(&mut kept.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(drawn);
        }
        let graph = explorer.service.memoir_graph(memoir, ask.at.as_deref())?;
        let drawn = Arc::new(Drawn::of(graph));
        let mut webs = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if webs.len() >= WEBS {
            webs.remove(0);
        }
        webs.push((key, drawn.clone()));
        Ok(drawn)
    }
}

impl Drawn {
    fn of(graph: MemoirGraph) -> Drawn {
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, whole) in graph.concepts.iter().enumerate() {
            places.entry(&whole.concept.name).or_insert(place);
        }
        let edges = graph.links.iter().filter_map(|link| {
            Some(Edge {
                from: *places.get(&*link.from)?,
                to: *places.get(&*link.to)?,
                relation: link.relation.clone(),
            })
        });
        let edges = edges.collect();
        let nodes = graph.concepts.into_iter().map(|whole| Node {
            about: (whole.concept.definition.as_deref()).map(|text| start_of(text, ABOUT)),
            id: whole.concept.id,
            name: whole.concept.name,
            labels: whole.concept.labels,
            updated_at: whole.concept.updated_at,
        });
        Drawn {
            web: Web::new(nodes.collect(), edges),
            memoir: graph.memoir,
        }
    }
}
