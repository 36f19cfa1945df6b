//! Where there are no Unix sockets nobody is asked.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::{AskOwner, Forwarded};
use crate::api::Caller;

/// The way to the owner.
#[derive(Debug, Default)]
pub(crate) struct Link;

impl Link {
    pub(crate) fn to(_: &Path, _: AskOwner) -> Link {
        Link
    }

    pub(crate) fn is_for<R: Forwarded>(&self) -> bool {
        false
    }

    pub(crate) fn is_of_another(&self) -> bool {
        false
    }

    pub(crate) fn ask_again(&self) {}

    pub(crate) fn left_unanswered(&self) -> bool {
        false
    }

    pub(crate) fn leave_views(&self) -> bool {
        false
    }

    pub(crate) fn ask<R: Forwarded, A: DeserializeOwned>(
        &self,
        _: &str,
        _: &Caller,
        _: &mut R,
    ) -> Option<A> {
        None
    }
}
