//! A web: nodes, the links between them, and the parts of it that are drawn.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A concept or a memory. Texts are as they are stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) name: String,
    /// Labels of a concept; the topic of a memory.
    pub(super) labels: Vec<String>,
    /// Start of the definition; `None` if it is withheld.
    pub(super) about: Option<String>,
    /// RFC 3339.
    pub(super) updated_at: String,
}

/// A link between two nodes, by their places.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) relation: String,
}

/// Nodes with their links.
#[derive(Debug, Default)]
pub(super) struct Web {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The edges at each node, by their places.
    touching: Vec<Vec<usize>>,
    /// The nodes, most connected first, then by name.
    order: Vec<usize>,
    by_id: HashMap<String, usize>,
    labels: Vec<(String, usize)>,
    relations: Vec<(String, usize)>,
}

/// A part of a web: nodes and edges by their places.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) nodes: Vec<usize>,
    pub(super) edges: Vec<usize>,
    /// `true` if a bound left nodes out.
    pub(super) is_cut: bool,
}

impl Web {
    /// Returns a web. Edges whose ends are no nodes are left out.
    pub(super) fn new(nodes: Vec<Node>, mut edges: Vec<Edge>) -> Web {
        edges.retain(|edge| edge.from < nodes.len() && edge.to < nodes.len());
        edges.sort();
        edges.dedup();
        let mut touching = vec![Vec::new(); nodes.len()];
        for (place, edge) in edges.iter().enumerate() {
            touching[edge.from].push(place);
            if edge.to != edge.from {
                touching[edge.to].push(place);
            }
        }
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by(|&a, &b| {
            let fewer = touching[b].len().cmp(&touching[a].len());
            fewer.then_with(|| nodes[a].name.cmp(&nodes[b].name))
        });
        let by_id = nodes.iter().enumerate();
        let by_id = by_id.map(|(place, node)| (node.id.clone(), place));
        Web {
            by_id: by_id.collect(),
            labels: counted(nodes.iter().flat_map(|node| &node.labels)),
            relations: counted(edges.iter().map(|edge| &edge.relation)),
            nodes,
            edges,
            touching,
            order,
        }
    }

    pub(super) fn node(&self, place: usize) -> &Node {
        &self.nodes[place]
    }

    pub(super) fn edge(&self, place: usize) -> &Edge {
        &self.edges[place]
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the number of edges.
    pub(super) fn links(&self) -> usize {
        self.edges.len()
    }

    /// Returns the number of links at a node.
    pub(super) fn links_at(&self, place: usize) -> usize {
        self.touching[place].len()
    }

    /// Returns the nodes, most connected first.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Returns the place of a node by its id, or else by its name.
    pub(super) fn find(&self, wanted: &str) -> Option<usize> {
        let named = || self.nodes.iter().position(|node| node.name == wanted);
        self.by_id.get(wanted).copied().or_else(named)
    }

    /// Returns the labels with their numbers of nodes, most frequent first.
    pub(super) fn labels(&self) -> &[(String, usize)] {
        &self.labels
    }

    /// Returns the relations with their numbers of links, most frequent first.
    pub(super) fn relations(&self) -> &[(String, usize)] {
        &self.relations
    }

    /// Returns the most connected nodes, and the links among them.
    pub(super) fn most_connected(&self, most: usize) -> Part {
        let nodes: Vec<usize> = self.order.iter().take(most).copied().collect();
        let edges = self.edges_among(&nodes);
        Part {
            is_cut: nodes.len() < self.nodes.len(),
            nodes,
            edges,
        }
    }

    /// Returns the nodes within so many steps of one, nearest first, and all links of these nodes up to a bound. So a
    /// link to a node that is drawn already is among them. With too many nodes, the most connected ones of a step win.
    pub(super) fn around(
        &self,
        start: usize,
        depth: usize,
        most: usize,
        edges_most: usize,
    ) -> Part {
        let mut rank = vec![0; self.nodes.len()];
        for (place, &node) in self.order.iter().enumerate() {
            rank[node] = place;
        }
        let mut met = BTreeSet::from([start]);
        let mut nodes = vec![start];
        let mut is_cut = false;
        let mut rim = VecDeque::from([start]);
        for _ in 0..depth {
            let mut next: Vec<usize> = Vec::new();
            for at in rim.drain(..) {
                for &edge in &self.touching[at] {
                    let edge = &self.edges[edge];
                    let other = if edge.from == at { edge.to } else { edge.from };
                    if met.insert(other) {
                        next.push(other);
                    }
                }
            }
            next.sort_by_key(|&node| rank[node]);
            let room = most.saturating_sub(nodes.len());
            is_cut |= next.len() > room;
            next.truncate(room);
            nodes.extend(&next);
            rim.extend(next);
        }
        Part {
            edges: self.edges_of(&nodes, edges_most),
            nodes,
            is_cut,
        }
    }

    /// Returns some nodes, and all links of these nodes up to a bound.
    pub(super) fn some(&self, nodes: Vec<usize>, edges_most: usize) -> Part {
        Part {
            edges: self.edges_of(&nodes, edges_most),
            nodes,
            is_cut: false,
        }
    }

    fn edges_among(&self, nodes: &[usize]) -> Vec<usize> {
        let inside: BTreeSet<usize> = nodes.iter().copied().collect();
        let edges = (0..self.edges.len()).filter(|&place| {
            let edge = &self.edges[place];
            inside.contains(&edge.from) && inside.contains(&edge.to)
        });
        edges.collect()
    }

    /// Returns the links among some nodes, then their links to others, up to a bound.
    fn edges_of(&self, nodes: &[usize], most: usize) -> Vec<usize> {
        let mut edges = self.edges_among(nodes);
        let mut seen: BTreeSet<usize> = edges.iter().copied().collect();
        for &node in nodes {
            for &edge in &self.touching[node] {
                if seen.insert(edge) {
                    edges.push(edge);
                }
            }
        }
        edges.truncate(most);
        edges
    }
}

fn counted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let owned = counts
        .into_iter()
        .map(|(name, count)| (name.clone(), count));
    owned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A star of 40 nodes around `n00`, and a chain n01 → n02 → … → n05.
    fn star() -> Web {
        let nodes = (0..40).map(|n| Node {
            id: format!("id{n:02}"),
            name: format!("n{n:02}"),
            labels: vec![if n % 2 == 0 { "even" } else { "odd" }.to_owned()],
            about: None,
            updated_at: String::new(),
        });
        let edge = |from, to| Edge {
            from,
            to,
            relation: "part_of".to_owned(),
        };
        let spokes = (1..40).map(|n| edge(n, 0));
        let chain = (1..5).map(|n| edge(n, n + 1));
        // The last one leads nowhere.
        Web::new(
            nodes.collect(),
            spokes.chain(chain).chain([edge(3, 99)]).collect(),
        )
    }

    #[test]
    fn the_most_connected_nodes_are_drawn_with_the_links_among_them() {
        let web = star();
        let part = web.most_connected(4);
        let names: Vec<&str> = part.nodes.iter().map(|&at| &*web.node(at).name).collect();
        assert_eq!(names, ["n00", "n02", "n03", "n04"]);
        assert_eq!((part.edges.len(), part.is_cut), (5, true));
        assert!(!web.most_connected(40).is_cut);
        assert_eq!(web.links(), 43);
    }

    #[test]
    fn a_neighbourhood_is_bounded_and_knows_links_to_other_nodes() {
        let web = star();
        let start = web.find("n20").expect("it is there");
        let near = web.around(start, 1, 30, 100);
        assert_eq!(near.nodes, [20, 0]);
        // The hub's links come, too: their other ends may be drawn already.
        assert_eq!((near.edges.len(), near.is_cut), (39, false));
        let far = web.around(start, 2, 10, 12);
        assert_eq!(
            (far.nodes.len(), far.edges.len(), far.is_cut),
            (10, 12, true)
        );
        assert_eq!(far.nodes[..4], [20, 0, 2, 3]);
    }

    #[test]
    fn labels_are_counted() {
        let of = |name: &str, count| (name.to_owned(), count);
        assert_eq!(star().labels(), [of("even", 20), of("odd", 20)]);
        assert_eq!(star().relations(), [of("part_of", 43)]);
    }
}
