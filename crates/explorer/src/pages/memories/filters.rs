//! The filters of the page: read from the address, shown as a form, and turned into requests.

use icm_api::{Importance, ListRequest, RecallRequest, Sort, TagFilter, Trust};
use icm_guard::sanitize::clean_line;
use maud::{Markup, html};

use crate::ask::Ask;
use crate::show;

/// Parameters that count in a search only.
const SEARCH_ONLY: [&str; 7] = [
    "importance",
    "trust",
    "since",
    "until",
    "floor",
    "happened_by",
    "links",
];

/// All filters by their parameters, with the words of their labels.
const NAMES: [(&str, &str); 17] = [
    ("topic", "topic"),
    ("tag", "tag"),
    ("tags", "tags"),
    ("any", "any tag of"),
    ("not", "without"),
    ("last", "those last"),
    ("scope", "scope"),
    ("state", "state"),
    ("sort", "order"),
    ("importance", "importance"),
    ("trust", "trust"),
    ("since", "since"),
    ("until", "until"),
    ("floor", "fit"),
    ("happened_by", "known by"),
    ("links", "links"),
    ("project", "project"),
];

/// The filters of a request.
pub(super) struct Filters {
    pub(super) query: Option<String>,
    pub(super) topic: Option<String>,
    pub(super) after: Option<String>,
    tags: TagFilter,
    pub(super) scope: Option<String>,
    sort: Sort,
    state: Option<String>,
    importance: Option<Importance>,
    trust: Option<Trust>,
    floor: Option<f64>,
    no_links: bool,
    offset: usize,
    /// Names of the parameters that filter.
    names: Vec<String>,
}

impl Filters {
    /// Reads the filters. A value that means nothing counts as absent.
    pub(super) fn of(ask: &Ask) -> Filters {
        let text = |name: &str| ask.get(name).map(str::trim).map(str::to_owned);
        let mut all: Vec<String> = ask.all("tag").map(str::to_owned).collect();
        all.extend(listed(ask, "tags"));
        let project = text("project").map(|id| format!("project:{id}"));
        Filters {
            query: text("q"),
            topic: text("topic"),
            after: text("after"),
            tags: TagFilter {
                all,
                any: listed(ask, "any"),
                not: listed(ask, "not"),
                exclude: ask.get("last").is_none(),
            },
            scope: text("scope").or(project),
            sort: match ask.get("sort") {
                Some("weight") => Sort::Weight,
                Some("accessed") => Sort::Accessed,
                _ => Sort::Created,
            },
            state: text("state"),
            importance: ask.get("importance").and_then(Importance::named),
            trust: ask.get("trust").and_then(Trust::named),
            floor: ask.get("floor").and_then(|floor| floor.parse().ok()),
            no_links: ask.get("links") == Some("no"),
            offset: ask
                .get("offset")
                .and_then(|at| at.parse().ok())
                .unwrap_or(0),
            names: set(ask).map(|(name, ..)| name.to_owned()).collect(),
        }
    }

    /// Returns `true` if a filter is set.
    pub(super) fn is_any(&self) -> bool {
        self.count() > 0
    }

    /// Returns `true` if the list is that of the facts that have only values for later.
    pub(super) fn is_planned(&self) -> bool {
        self.state.as_deref() == Some("planned")
    }

    /// Returns `true` if a filter is set that counts in a search only.
    pub(super) fn has_search_only(&self) -> bool {
        self.names
            .iter()
            .any(|name| SEARCH_ONLY.contains(&name.as_str()))
    }

    fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns the request for a page of the list.
    pub(super) fn list_request(&self, ask: &Ask, limit: usize) -> ListRequest {
        ListRequest {
            topic: self.topic.clone(),
            tags: self.tags.clone(),
            limit: Some(limit),
            sort: self.sort,
            scope: self.scope.clone().filter(|scope| scope != "all"),
            at: ask.at.clone(),
            forgotten: self.state.as_deref() == Some("forgotten"),
            expired: self.state.as_deref() == Some("expired"),
            after: self.after.clone(),
        }
    }

    /// Returns the request for a search. It leaves no record: a person who looks is no agent that was shown something.
    pub(super) fn recall_request(&self, ask: &Ask, query: &str, limit: usize) -> RecallRequest {
        RecallRequest {
            topic: self.topic.clone(),
            tags: self.tags.clone(),
            scope: Some(self.scope.clone().unwrap_or_else(|| "all".to_owned())),
            importance: self.importance,
            trust: self.trust,
            since: ask.get("since").map(str::to_owned),
            until: ask.get("until").map(str::to_owned),
            limit: Some(limit),
            offset: self.offset,
            at: ask.at.clone(),
            happened_by: ask.get("happened_by").map(str::to_owned),
            floor: self.floor,
            record: false,
            explain: true,
            together: self.offset == 0,
            no_links: self.no_links,
            ..RecallRequest::new(query)
        }
    }

    /// Returns the form with all filters. The filters fold; they are open while one is set.
    pub(super) fn form(&self, ask: &Ask) -> Markup {
        let count = self.count();
        html! {
            form.filters action="/memories" method="get" role="search" aria-label="Search and filter memories" {
                @if let Some(at) = &ask.at { input type="hidden" name="at" value=(at); }
                @for tag in ask.all("tag") { input type="hidden" name="tag" value=(tag); }
                div.ask {
                    label.unseen for="q" { "Words to search for" }
                    input #q type="search" name="q" value=[self.query.as_deref().map(clean_line)] placeholder="Search as agents do, or leave empty for a list" autocomplete="off";
                    button.main type="submit" { "Search" }
                }
                details.more {
                    summary { "Filters" @if count > 0 { " " span.badge { (count) } } }
                    div.grid { (fields(ask)) }
                    div.buttons {
                        button type="submit" { "Apply" }
                        a href=(ask.link("/memories", &[])) { "Clear all" }
                    }
                }
            }
        }
    }

    /// Returns the filters that are set, each with a link that takes it away.
    pub(super) fn chips(&self, ask: &Ask) -> Markup {
        let set: Vec<(&str, &str, &str)> = set(ask).collect();
        html! {
            @if !set.is_empty() {
                ul.chips aria-label="Filters that are set" {
                    @for (name, label, value) in set {
                        li {
                            a.chip href=(ask.link_with(&[(name, ""), ("after", ""), ("offset", "")])) {
                                span.quiet { (label) } " " (show::start(value, 60)) " "
                                span aria-hidden="true" { "×" } span.unseen { " take this filter away" }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the filters that are set: name, label and value. A value that means nothing sets none.
fn set(ask: &Ask) -> impl Iterator<Item = (&str, &'static str, &str)> {
    ask.params().iter().filter_map(|(name, value)| {
        let label = NAMES.iter().find(|(known, _)| known == name)?.1;
        let counts = match name.as_str() {
            "importance" => Importance::named(value).is_some(),
            "trust" => Trust::named(value).is_some(),
            "floor" => value.parse::<f64>().is_ok(),
            "links" => value == "no",
            "sort" => matches!(value.as_str(), "weight" | "accessed"),
            "state" => matches!(value.as_str(), "forgotten" | "expired" | "planned"),
            _ => true,
        };
        counts.then_some((name.as_str(), label, value.as_str()))
    })
}

/// Returns the fields of the form below the words.
fn fields(ask: &Ask) -> Markup {
    html! {
        fieldset {
            legend { "Which memories" }
            (input(ask, "topic", "Topic", "a topic, or a/ for all below a"))
            (input(ask, "tags", "With all these tags", "one, two"))
            (input(ask, "any", "With one of these tags", "one, two"))
            (input(ask, "not", "Without these tags", "one, two"))
            label.check {
                input type="checkbox" name="last" value="yes" checked[ask.get("last").is_some()];
                "Show those last instead of leaving them out"
            }
            (input(ask, "scope", "Scope", "global, project:ID, session:ID"))
            // Neither a recall nor a list knows actors.
            p.quiet { "What one actor stored is in " a href=(ask.link("/log", &[("kind", "memory.stored")])) { "the log, with the filter Actor" } "." }
        }
        fieldset {
            legend { "In a search" }
            (select(ask, "importance", "Importance at least", Importance::ALL.map(|it| (it.name(), it.name())).as_slice()))
            (select(ask, "trust", "Trust at least", &[
                ("user", "a person's"), ("agent", "an agent's"), ("external", "an outside source's"),
            ]))
            (input(ask, "since", "Happened since", "2026-08-01, 2 weeks ago"))
            (input(ask, "until", "Happened until", "yesterday, 2h ago"))
            (input(ask, "happened_by", "Only events recorded by", "2026-08-01"))
            (input(ask, "floor", "Fit at least", "0 to 1; 0 shows all"))
            (select(ask, "links", "Links", &[("no", "ignore them")]))
        }
        fieldset {
            legend { "In the list" }
            (select(ask, "sort", "Order", &[
                ("weight", "heaviest first"), ("accessed", "shown most recently first"),
            ]))
            (select(ask, "state", "State", &[
                ("forgotten", "with forgotten ones"), ("expired", "only expired ones"),
                ("planned", "only facts planned for later"),
            ]))
        }
    }
}

fn input(ask: &Ask, name: &str, label: &str, hint: &str) -> Markup {
    html! {
        label { span { (label) } input name=(name) value=[ask.get(name).map(clean_line)] placeholder=(hint) autocomplete="off"; }
    }
}

/// Returns a choice. Its first option is the default, and is not sent as a filter.
fn select(ask: &Ask, name: &str, label: &str, options: &[(&str, &str)]) -> Markup {
    let default = match name {
        "sort" => "newest first",
        "state" => "living",
        "links" => "follow them",
        _ => "any",
    };
    html! {
        label {
            span { (label) }
            select name=(name) {
                option value="" { (default) }
                @for (value, text) in options {
                    option value=(value) selected[ask.get(name) == Some(value)] { (text) }
                }
            }
        }
    }
}

/// Returns the tags of a parameter, which are separated by commas.
fn listed(ask: &Ask, name: &str) -> Vec<String> {
    let values = ask.all(name).flat_map(|value| value.split(','));
    let values = values.map(str::trim).filter(|tag| !tag.is_empty());
    values.map(str::to_owned).collect()
}
