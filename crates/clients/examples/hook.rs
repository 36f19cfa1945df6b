//! A hook that always answers the same text: `hook CLIENT EVENT`, with the client's JSON on stdin and the text in
//! `HOOK_TEXT`.
//!
//! The example shows how the functions of `icm_clients::hooks` fit together, and allows to try a client without a
//! store. Errors of the input are written to stderr, and the client goes on: the exit code is 0.

use std::io::{Read as _, Write as _};

use icm_clients::hooks;
use icm_clients::names::Client;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let event = arguments.next().unwrap_or_default();
    let mut stdin = Vec::new();
    // One byte above the limit shows that there is more.
    let most = hooks::INPUT_LEN_MAX as u64 + 1;
    std::io::stdin().take(most).read_to_end(&mut stdin)?;

    let client = match name == hooks::PLUGIN {
        true => Some(hooks::which(|name| std::env::var(name).ok(), &stdin)),
        false => Client::named(&name),
    };
    let Some(client) = client else {
        return writeln!(std::io::stderr(), "no client is called `{name}`");
    };
    match hooks::read(client, &event, &stdin) {
        Ok(input) => {
            let text = std::env::var("HOOK_TEXT").unwrap_or_default();
            std::io::stdout().write_all(&hooks::answer(&input, &text))
        }
        Err(error) => writeln!(std::io::stderr(), "{error}"),
    }
}
