//! The client side of a sync between two stores: asks the questions.

use std::io::{BufRead, Write};

use icm_api::error::{Result, ServiceError};
use icm_log::bundle::ChainRange;
use icm_service::ExportFile;
use serde::de::DeserializeOwned;

use super::wire::{self, Answer, Ask, BUNDLE_LEN_MAX, BundleHead, FORMAT, Given, Held, Hello};
use crate::export::Export;

/// Number of lines read before the other side must identify itself: a login shell may print some. Raised, a program
/// that is not icm is recognised later.
const GREETINGS_MAX: usize = 100;

/// A connection to the other store.
pub struct Peer<'p> {
    name: String,
    input: &'p mut dyn BufRead,
    out: &'p mut dyn Write,
}

/// A bundle received from the other store.
pub(super) struct Took {
    pub(super) head: BundleHead,
    pub(super) file: ExportFile,
}

impl<'p> Peer<'p> {
    /// Reads the greeting of the other store. `name` is the name of that store in answers and errors.
    ///
    /// # Errors
    /// `Invalid` if the other side is not icm, or a newer icm.
    pub fn new(name: &str, input: &'p mut dyn BufRead, out: &'p mut dyn Write) -> Result<Peer<'p>> {
        let mut said = None;
        for _ in 0..GREETINGS_MAX {
            let Some(line) = wire::line(input)? else {
                break;
            };
            match serde_json::from_slice(&line) {
                Ok(Hello { icm_peer: FORMAT }) => {
                    return Ok(Peer {
                        name: name.to_owned(),
                        input,
                        out,
                    });
                }
                Ok(Hello { .. }) => {
                    return Err(ServiceError::Invalid {
                        message: format!("the icm of {name} is newer than this one"),
                        hint: Some("update icm here".to_owned()),
                    });
                }
                Err(_) => {
                    said.get_or_insert(line);
                }
            }
        }
        let said = said.map(|line| String::from_utf8_lossy(&line).trim().to_owned());
        Err(ServiceError::Invalid {
            message: match said {
                None => format!("{name} did not answer"),
                Some(said) => format!("{name} did not answer as icm does, but: {said}"),
            },
            hint: Some(
                "see whether you reach it so without being asked, and whether icm is installed there"
                    .to_owned(),
            ),
        })
    }

    /// Returns the name of the other store, as given to [`Peer::new`].
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn held(&mut self) -> Result<Vec<ChainRange>> {
        let held: Held = self.ask(&Ask::Held)?;
        Ok(held.ranges)
    }

    pub(super) fn count(&mut self, there: &[ChainRange]) -> Result<BundleHead> {
        let there = there.to_vec();
        self.ask(&Ask::Count { there })
    }

    pub(super) fn take(&mut self, there: &[ChainRange], len: u64) -> Result<Took> {
        let there = there.to_vec();
        let head: BundleHead = self.ask(&Ask::Take { there, len })?;
        if head.bytes > BUNDLE_LEN_MAX {
            return Err(wire::too_long(head.bytes));
        }
        let mut file = std::io::Read::take(&mut *self.input, head.bytes);
        let file = ExportFile::spool(&mut file, &format!("what {} sent", self.name))?;
        Ok(Took { head, file })
    }

    pub(super) fn give(&mut self, mut bundle: Export) -> Result<Given> {
        let bytes = bundle.exported.bytes;
        wire::say(self.out, &Ask::Give { bytes })?;
        wire::pass(&mut bundle.file, self.out, bytes)?;
        self.answer()
    }

    fn ask<T: DeserializeOwned>(&mut self, ask: &Ask) -> Result<T> {
        wire::say(self.out, ask)?;
        self.answer()
    }

    fn answer<T: DeserializeOwned>(&mut self) -> Result<T> {
        let line = wire::line(self.input)?.ok_or_else(wire::cut_off)?;
        match wire::parse(&line)? {
            Answer::Ok(answer) => Ok(answer),
            Answer::Failed { why, hint } => Err(ServiceError::Invalid {
                message: format!("{}: {why}", self.name),
                hint,
            }),
        }
    }
}
