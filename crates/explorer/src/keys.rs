//! The keys of the pages, and the help that lists them.

use maud::{Markup, html};

/// Keys and their actions, as `explorer.js` has them.
const KEYS: [(&str, &str); 7] = [
    ("/", "Search"),
    ("j", "Next row"),
    ("k", "Row before"),
    ("Enter", "Open the row"),
    ("[", "One event back"),
    ("]", "One event forward"),
    ("?", "This help"),
];

/// Returns the help, which a key or a button shows.
pub(crate) fn help() -> Markup {
    html! {
        dialog #keys popover aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl {
                @for (key, action) in KEYS {
                    dt { kbd { (key) } }
                    dd { (action) }
                }
            }
            p.quiet { "The slider at the top moves by the arrow keys, and the page follows." }
            button type="button" popovertarget="keys" popovertargetaction="hide" autofocus { "Close" }
        }
    }
}
