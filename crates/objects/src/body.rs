//! Reads the content of an object while it arrives.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::runtime::Runtime;

use crate::place::one_line;

pub(crate) struct Body {
    parts: BoxStream<'static, object_store::Result<Bytes>>,
    part: Bytes,
    runtime: Arc<Runtime>,
}

impl Body {
    pub(crate) fn new(
        parts: BoxStream<'static, object_store::Result<Bytes>>,
        runtime: Arc<Runtime>,
    ) -> Body {
        Body {
            parts,
            part: Bytes::new(),
            runtime,
        }
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.part.is_empty() {
            match self.runtime.block_on(self.parts.next()) {
                None => return Ok(0),
                Some(part) => {
                    self.part = part.map_err(|error| io::Error::other(one_line(&error)))?
                }
            }
        }
        let len = self.part.len().min(buffer.len());
        self.part.copy_to_slice(&mut buffer[..len]);
        Ok(len)
    }
}
