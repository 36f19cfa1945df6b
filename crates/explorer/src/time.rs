//! Time at the top of each page: the moment that the page shows, and the ways to another one.

use icm_api::error::Result;
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::Ask;

/// The events of the log by time and family, kept between requests.
#[derive(Default)]
pub(crate) struct DensityCache {}

/// Returns the bar with the moment.
pub(crate) fn bar(_explorer: &Explorer, ask: &Ask) -> Result<Markup> {
    Ok(html! {
        section.time aria-label="Moment" {
            @match &ask.at {
                Some(_) => { p { "As of " (ask.basis.at) " (event " (ask.basis.position) ") " a href=(ask.link_at(None)) { "To now" } } },
                None => { p { "Now" } },
            }
        }
    })
}
