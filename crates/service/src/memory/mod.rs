//! Memories: storing, changing, forgetting, linking and looking them up.

mod authors;
pub(crate) mod dated_statement;
pub(crate) mod expiry;
pub(crate) mod fact;
pub(crate) mod forget_revive;
pub(crate) mod link;
pub(crate) mod lookup;
pub(crate) mod near_duplicates;
pub(crate) mod out_of_date;
mod pin;
pub(crate) mod present;
pub(crate) mod read;
mod seems_replaced;
pub(crate) mod store;
pub(crate) mod store_over;
mod usage;
