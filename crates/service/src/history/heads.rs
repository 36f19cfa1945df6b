//! The newest event of every chain, as text that a person can keep: one line for each, with origin, seq and event id.

use icm_log::{EventId, OriginId, Seq, Unknown};

use crate::service::{OpenOptions, Service};
use icm_api::OriginHead;
use icm_api::error::{Result, ServiceError};

/// The end of a chain: its newest event when the line was written.
pub(crate) type ChainEnd = (OriginId, Seq, EventId);

/// Reads the lines of `icm log heads`. Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// `Invalid` names the first wrong line.
pub(crate) fn parse(text: &str) -> Result<Vec<ChainEnd>> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let place = |line: &str| {
        place(line).ok_or_else(|| {
            ServiceError::invalid_with(
                format!("`{line}` is no line of `icm log heads`"),
                "give the file that `icm log heads` was written to",
            )
        })
    };
    lines.map(place).collect()
}

fn place(line: &str) -> Option<ChainEnd> {
    let mut words = line.split_whitespace();
    let origin = OriginId::parse_hex(words.next()?)?;
    let seq = Seq(words.next()?.parse().ok()?);
    let event = EventId::parse_hex(words.next()?)?;
    Some((origin, seq, event))
}

impl Service {
    /// Opens a store on this machine as another machine knew it, from that machine's chain here, read-only. `origin`:
    /// the id of that chain, or a beginning of it.
    ///
    /// # Errors
    /// `NotFound` and `Ambiguous` for an origin that no chain here has, or several.
    pub fn open_as(options: OpenOptions, origin: &str) -> Result<Service> {
        let options = OpenOptions {
            read_only: true,
            ..options
        };
        let mut service = Service::open(options)?;
        let origin = service.find_origin(origin)?;
        service.log =
            (service.log.as_known_by(origin)).map_err(|error| service.explained(error))?;
        let known_by = service.log.known_by();
        let end = service.log.tip().map_or(0, |tip| tip.position.0);
        let next = match known_by.and_then(|other| other.until) {
            None => "",
            Some((_, Unknown::NotHeld)) => "; it learned something next that is not here",
            Some((_, Unknown::Branches)) => {
                "; from there on a copy of it wrote under the same origin, too"
            }
        };
        service.notice(format!(
            "of the machine {origin} this store has what it knew up to its @{end}{next}"
        ));
        Ok(service)
    }

    /// Returns the chains that this store has written, the newest last. After a restore or a move a store begins
    /// another one.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn own_chains(&self) -> Result<Vec<OriginId>> {
        self.log.refresh()?;
        Ok(self.log.own_chains())
    }

    /// Returns the one origin that begins with `prefix`.
    pub(crate) fn find_origin(&self, prefix: &str) -> Result<OriginId> {
        let given = prefix.to_ascii_lowercase();
        let all: Vec<String> = self.heads()?.into_iter().map(|head| head.origin).collect();
        let fits = |origin: &&String| !given.is_empty() && origin.starts_with(&given);
        let found: Vec<String> = all.iter().filter(fits).cloned().collect();
        match found.as_slice() {
            [origin] => Ok(OriginId::parse_hex(origin).expect("an origin is one")),
            [] => Err(ServiceError::NotFound {
                what: "origin",
                id: prefix.to_owned(),
                nearest: all,
            }),
            _ => Err(ServiceError::Ambiguous {
                what: "origin",
                prefix: prefix.to_owned(),
                matches: found,
            }),
        }
    }

    /// Returns the newest event of every chain.
    pub fn heads(&self) -> Result<Vec<OriginHead>> {
        self.log.refresh()?;
        let own = self.log.origin();
        let heads = self.log.heads()?;
        Ok(heads
            .into_iter()
            .map(|tip| OriginHead {
                origin: tip.origin.to_string(),
                seq: tip.seq.0,
                head: tip.event.to_string(),
                own: own == Some(tip.origin),
            })
            .collect())
    }
}
