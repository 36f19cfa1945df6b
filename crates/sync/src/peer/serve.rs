//! The server side of a sync between two stores: answers the questions.

use std::io::{BufRead, Seek, Write};

use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, NoProgress};
use icm_log::OriginId;
use icm_log::bundle::Exported;
use icm_service::{ExportFile, Service};

use super::wire::{self, Answer, Ask, BUNDLE_LEN_MAX, BundleHead, FORMAT, Given, Held, Hello};
use crate::export::{BUNDLE_LEN, Export, spooling, temporary};

/// Answers questions until the input ends.
///
/// # Errors
/// `Io` if the connection breaks, or if a question cannot be parsed. An error of this store is reported to the other
/// side only.
pub fn serve(
    service: &Service,
    caller: &Caller,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<()> {
    wire::say(out, &Hello { icm_peer: FORMAT })?;
    while let Some(line) = wire::line(input)? {
        match wire::parse(&line)? {
            Ask::Held => {
                let held = service.held_ranges().map(|ranges| Held { ranges });
                answer(out, held)?;
            }
            Ask::Count { there } => {
                let counted = Export::all(service, &there, &NoProgress);
                answer(out, counted.map(head_of))?;
            }
            Ask::Take { there, len } => {
                match Export::of(service, &there, len.min(BUNDLE_LEN), &NoProgress) {
                    Err(error) => answer::<BundleHead>(out, Err(error))?,
                    Ok(mut bundle) => {
                        let head = head_of(bundle.exported);
                        let len = head.bytes;
                        answer(out, Ok(head))?;
                        wire::pass(&mut bundle.file, out, len)?;
                    }
                }
            }
            Ask::Give { bytes } if bytes > BUNDLE_LEN_MAX => {
                return Err(wire::too_long(bytes));
            }
            Ask::Give { bytes } => {
                // All bytes of the bundle are read, even if the import fails: the next question comes after them.
                let mut file = temporary()?;
                wire::pass(input, &mut file, bytes)?;
                file.rewind().map_err(spooling)?;
                let given = ExportFile::spool(&mut file, "what the other side sent")
                    .and_then(|file| service.import_log(caller, &file, false, &NoProgress));
                let given = match given {
                    Err(ServiceError::DoesNotFit { why, .. }) => Ok(Given::Apart { why }),
                    given => given.map(|import| Given::Taken(Box::new(import))),
                };
                answer(out, given)?;
            }
        }
    }
    Ok(())
}

fn head_of(exported: Exported) -> BundleHead {
    BundleHead {
        events: exported.events,
        bytes: exported.bytes,
        more: exported.more,
        incomplete: exported
            .incomplete
            .iter()
            .map(OriginId::to_string)
            .collect(),
        ranges: exported.ranges,
    }
}

fn answer<T: serde::Serialize>(
    out: &mut dyn Write,
    answer: std::result::Result<T, ServiceError>,
) -> Result<()> {
    let answer = match answer {
        Ok(answer) => Answer::Ok(answer),
        Err(error) => Answer::Failed {
            why: error.to_string(),
            hint: error.hint(),
        },
    };
    wire::say(out, &answer)
}
