//! One of the two indexes.

use tantivy::{Directory, Index, IndexReader, IndexSettings, ReloadPolicy, TantivyError};

use crate::error::{Doing, TextError};
use crate::schema::{fields, tokenizers};

/// Bytes of a block of stored fields: 4,096. A hit decompresses one block; a larger value makes hits slower.
const STORE_BLOCK_BYTES: usize = 4_096;
/// Decompressed blocks that are kept for each segment: 4. A larger value costs memory.
const STORE_CACHE_BLOCKS: usize = 4;

/// One index. Its reader has no thread and is reloaded explicitly.
pub(super) struct Tier {
    pub(super) index: Index,
    pub(super) reader: IndexReader,
}

impl Tier {
    pub(super) fn create(directory: impl Into<Box<dyn Directory>>) -> Result<Self, TextError> {
        let settings = IndexSettings {
            docstore_compress_dedicated_thread: false,
            docstore_blocksize: STORE_BLOCK_BYTES,
            ..IndexSettings::default()
        };
        let directory = directory.into();
        if Index::exists(&*directory).doing("looking for an index")? {
            return Err(TantivyError::IndexAlreadyExists).doing("making the index");
        }
        let index = Index::create(directory, fields().schema.clone(), settings);
        Self::of(index.doing("making the index")?)
    }

    pub(super) fn open(directory: impl Into<Box<dyn Directory>>) -> Result<Self, TextError> {
        let index = Index::open(directory).doing("opening the index")?;
        if index.schema() != fields().schema {
            return Err(TextError::Format {
                found: "other fields".to_owned(),
            });
        }
        Self::of(index)
    }

    fn of(mut index: Index) -> Result<Self, TextError> {
        index.set_tokenizers(tokenizers());
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(STORE_CACHE_BLOCKS)
            .try_into()
            .doing("opening the index")?;
        Ok(Self { index, reader })
    }
}
