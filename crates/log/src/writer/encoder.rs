//! Encodes batches.

use super::batch::{Appended, BATCH_LEN_MAX, Batch, imported_count};
use crate::env::Env;
use crate::error::{LogError, Result};
use crate::recover::Tip;
use crate::store_file::StoreFile;
use icm_event::hash;
use icm_event::head::HeadFields;
use icm_event::id::{ActorId, EventId, Position, RequestKey, Seq, Time};
use icm_event::record::{self, SALT_LEN};

/// Turns batches into the bytes of records.
pub(super) struct Encoder<'s> {
    pub(super) store: &'s StoreFile,
    pub(super) env: &'s dyn Env,
    pub(super) tip: Option<Tip>,
    pub(super) synced: Seq,
    pub(super) bytes: Vec<u8>,
    /// The newest event, the start of its record in `bytes`, and the first event in `bytes`.
    pub(super) last: Option<(Tip, usize, (Seq, EventId))>,
    pub(super) appended: Vec<Appended>,
}

impl Encoder<'_> {
    pub(super) fn encode(&mut self, batch: &Batch<'_>, actor: ActorId) -> Result<()> {
        let count = u16::try_from(batch.events.len()).expect("batches are checked before encoding");
        let start = self.bytes.len();
        let mut body = Vec::new();
        let mut head = Vec::new();
        for (index, event) in (0u16..).zip(&batch.events) {
            let own = self.tip.filter(|tip| tip.origin == self.store.origin);
            let now = self.env.now_ms();
            let time = match own {
                Some(tip) => tip.time.next(now).ok_or(LogError::TooLarge {
                    what: "time of the newest event",
                    len: usize::MAX,
                    max: usize::MAX,
                })?,
                None => Time::from_ms(now),
            };
            let imported = imported_count(event)?;
            let mut salt = [0; SALT_LEN];
            self.env.fill_random(&mut salt);
            body.clear();
            body.extend_from_slice(&salt);
            body.extend_from_slice(&event.payload);
            let fields = HeadFields {
                origin: self.store.origin,
                seq: Seq(own.map_or(1, |tip| tip.seq.0 + 1)),
                prev: own.map_or(EventId::ZERO, |tip| tip.event),
                time,
                position: Position(self.tip.map_or(1, |tip| tip.position.0 + 1) + imported),
                kind: event.kind,
                kind_version: event.kind.info().map_or(1, |row| row.version),
                batch_index: index,
                batch_count: count,
                subject: event.subject,
                command: batch.command,
                actor,
                commitment: hash::commitment(&body),
                session: batch.session,
                request: if index == 0 {
                    batch.request
                } else {
                    RequestKey::ZERO
                },
                refs: &event.refs,
                facts: &event.facts,
            };
            head.clear();
            fields.encode(&mut head);
            let tip = Tip {
                origin: fields.origin,
                seq: fields.seq,
                event: hash::event_id(&head),
                position: fields.position,
                time: fields.time,
            };
            let first = self
                .last
                .map_or((tip.seq, tip.event), |(_, _, first)| first);
            self.last = Some((tip, self.bytes.len(), first));
            self.tip = Some(tip);
            record::encode(
                &mut self.bytes,
                self.synced,
                &head,
                Some((&salt, &event.payload)),
            );
            self.appended.push(Appended {
                event: tip.event,
                position: tip.position,
                time: tip.time,
            });
        }
        let len = self.bytes.len() - start;
        if len > BATCH_LEN_MAX {
            return Err(LogError::TooLarge {
                what: "number of bytes of a batch",
                len,
                max: BATCH_LEN_MAX,
            });
        }
        Ok(())
    }
}
