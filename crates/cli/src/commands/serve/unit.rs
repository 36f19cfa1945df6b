//! `icm serve --print-unit`: a service file with the options that were given.

use std::path::{Path, PathBuf};

use icm_server::mcp::ANSWER_MAX_BYTES;

use super::ServeArgs;
use super::over_http::UnitKind;
use crate::app::{App, Origin};
use crate::error::{CliError, Outcome};

/// Time in seconds that the service manager waits for the end of the server: longer than its last answers take. Raised,
/// a server that hangs delays the end of the session.
const STOP_SECONDS: u32 = 20;

pub(super) fn print(args: &ServeArgs, app: &App) -> Result<Outcome, CliError> {
    if std::env::var_os("ICM_TOKEN").is_some_and(|token| !token.is_empty())
        && args.http.token_file.is_none()
    {
        return Err(
            CliError::invalid("a service does not see ICM_TOKEN of this shell")
                .with_hint("give `--token-file FILE`; the server writes a token into it"),
        );
    }
    args.http.check()?;
    let command = command(args, app)?;
    let (text, place, start) = match args.http.print_unit {
        Some(UnitKind::Systemd) => (
            systemd(&command),
            "~/.config/systemd/user/icm.service",
            "systemctl --user enable --now icm",
        ),
        Some(UnitKind::Launchd) | None => (
            launchd(&command),
            "~/Library/LaunchAgents/icm.plist",
            "launchctl load -w ~/Library/LaunchAgents/icm.plist",
        ),
    };
    app.ui.line(format_args!("{}", text.trim_end()))?;
    app.ui
        .remark(format_args!("save it as {place}, then `{start}`"));
    Ok(Outcome::Fine)
}

/// Returns the command line of the service, with absolute paths.
fn command(args: &ServeArgs, app: &App) -> Result<Vec<String>, CliError> {
    let program =
        std::env::current_exe().map_err(|e| CliError::io("cannot find the program icm", &e))?;
    let mut command = vec![text(&program)?];
    let mut flag = |name: &str, value: String| command.extend([name.to_owned(), value]);
    let (db, origin) = app.db()?;
    if origin != Origin::Default {
        flag("--db", absolute(&db)?);
    }
    if let Some((config, origin)) = app.config_path()
        && origin != Origin::Default
    {
        flag("--config", absolute(&config)?);
    }
    command.push("serve".to_owned());
    let mut flag = |name: &str, value: String| command.extend([name.to_owned(), value]);
    if let Some(address) = args.http.http {
        flag("--http", address.to_string());
    }
    if let Some(path) = &args.http.token_file {
        flag("--token-file", absolute(path)?);
    }
    if let Some(path) = &args.log_dir {
        flag("--log-dir", absolute(path)?);
    }
    for origin in &args.http.allow_origin {
        flag("--allow-origin", origin.clone());
    }
    for host in &args.http.allow_host {
        flag("--allow-host", host.clone());
    }
    for (name, values) in [
        ("--toolsets", &args.toolsets),
        ("--tools", &args.tools),
        ("--exclude-tools", &args.exclude_tools),
    ] {
        if !values.is_empty() {
            flag(name, values.join(","));
        }
    }
    if args.answer_max != ANSWER_MAX_BYTES {
        flag("--answer-max", args.answer_max.to_string());
    }
    let switches = [
        ("--compact", args.compact),
        ("--structured", args.structured),
        ("--read-only", args.read_only),
    ];
    let given = switches.into_iter().filter(|(_, is_on)| *is_on);
    command.extend(given.map(|(name, _)| name.to_owned()));
    match command.iter().find(|word| word.contains(char::is_control)) {
        Some(word) => Err(CliError::invalid(format!(
            "`{}` cannot stand in a service file: it holds a control character",
            word.escape_debug()
        ))
        .with_hint("name it without control characters")),
        None => Ok(command),
    }
}

fn absolute(path: &Path) -> Result<String, CliError> {
    let path: PathBuf = std::path::absolute(path)
        .map_err(|e| CliError::io("cannot find the store's folder", &e))?;
    text(&path)
}

fn text(path: &Path) -> Result<String, CliError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        CliError::invalid(format!("{} is not UTF-8", path.display()))
            .with_hint("rename it: a service file is UTF-8")
    })
}

fn systemd(command: &[String]) -> String {
    // Systemd expands `%` and `$`, so both are doubled.
    let word = |word: &String| {
        let word = word.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{}\"", word.replace('%', "%%").replace('$', "$$"))
    };
    let command: Vec<_> = command.iter().map(word).collect();
    format!(
        "\
[Unit]
Description=icm: memory for agents

[Service]
ExecStart={}
Restart=on-failure
RestartSec=2
TimeoutStopSec={STOP_SECONDS}
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
",
        command.join(" ")
    )
}

fn launchd(command: &[String]) -> String {
    let word = |word: &String| {
        let word = word
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        format!("        <string>{word}</string>\n")
    };
    let command: String = command.iter().map(word).collect();
    format!(
        "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">
<plist version=\"1.0\">
<dict>
    <key>Label</key>
    <string>icm</string>
    <key>ProgramArguments</key>
    <array>
{command}    </array>
    <key>RunAtLoad</key>
    <true/>
    <key>KeepAlive</key>
    <dict>
        <key>SuccessfulExit</key>
        <false/>
    </dict>
    <key>ExitTimeOut</key>
    <integer>{STOP_SECONDS}</integer>
    <key>Umask</key>
    <integer>63</integer>
</dict>
</plist>
"
    )
}
