//! A Markdown page and its `console` blocks.

use std::ops::Range;

/// A command of a block, and the lines below it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// The number of the command's line, from 1.
    pub(super) line: usize,
    pub(super) command: String,
    output: Range<usize>,
}

pub(super) struct Page {
    lines: Vec<String>,
    blocks: Vec<Vec<Step>>,
    listed: Vec<(usize, String)>,
}

impl Page {
    /// Reads a page. The error is `LINE: MESSAGE`.
    pub(super) fn read(text: &str) -> Result<Page, String> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (mut blocks, mut listed) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < lines.len() {
            let Some(info) = lines[at].strip_prefix("```") else {
                at += 1;
                continue;
            };
            let line = at + 1;
            let end = (at + 1..lines.len())
                .find(|&n| lines[n] == "```")
                .ok_or_else(|| format!("{line}: the block does not end"))?;
            match info {
                "console" => blocks.push(steps(&lines, at + 1..end)?),
                // Commands that a program prints are not run.
                "console,whole" => blocks.push(whole(&lines, at + 1..end)?),
                "console,not-run" if reason(&lines[..at]).is_none() => {
                    return Err(format!(
                        "{line}: the line above has to be `<!-- not run: REASON -->`"
                    ));
                }
                "console,not-run" => {}
                "sh" => listed.extend((at + 1..end).filter_map(|n| Some((n + 1, icm(&lines[n])?)))),
                _ if info.starts_with("console") => {
                    return Err(format!("{line}: `{info}` is no kind of block"));
                }
                _ => {}
            }
            at = end + 1;
        }
        Ok(Page {
            lines,
            blocks,
            listed,
        })
    }

    pub(super) fn blocks_run(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        self.blocks.concat()
    }

    /// Returns the commands of `icm` in lists of commands (`sh` blocks), each with the number of its line.
    pub(super) fn listed(&self) -> &[(usize, String)] {
        &self.listed
    }

    /// Whether positions may differ, by `<!-- positions vary: REASON -->`.
    pub(super) fn any_position(&self) -> bool {
        let varies = |line: &String| line.starts_with("<!-- positions vary: ");
        self.lines.iter().any(varies)
    }

    /// Returns the lines that are shown below a command, without blank ones at the end.
    pub(super) fn output(&self, step: &Step) -> Vec<String> {
        let mut lines = self.lines[step.output.clone()].to_vec();
        trim_end(&mut lines);
        lines
    }

    /// Replaces the lines below a command. Only steps before it may be used afterwards.
    pub(super) fn replace(&mut self, step: &Step, lines: &[String]) {
        self.lines
            .splice(step.output.clone(), lines.iter().cloned());
    }

    pub(super) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

/// Drops blank lines at the end.
pub(super) fn trim_end(lines: &mut Vec<String>) {
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
}

/// Returns the reason in the comment on the last of these lines.
fn reason(before: &[String]) -> Option<&str> {
    let comment = before.last()?.strip_prefix("<!-- not run: ")?;
    let reason = comment.strip_suffix(" -->")?;
    (!reason.trim().is_empty()).then_some(reason)
}

/// Returns a line that calls `icm`, without its comment and without other programs.
fn icm(line: &str) -> Option<String> {
    line.strip_prefix("icm ")?;
    let ends = [" #", " |", " >", " <", " &&"].into_iter();
    let end = ends.filter_map(|it| line.find(it)).min();
    Some(line[..end.unwrap_or(line.len())].trim_end().to_owned())
}

fn steps(lines: &[String], block: Range<usize>) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    let mut at = block.start;
    while at < block.end {
        let line = at + 1;
        if let Some(first) = lines[at].strip_prefix("$ ") {
            let mut command = first.to_owned();
            let mut until = here_document(first);
            at += 1;
            while until.is_some() || command.ends_with('\\') {
                if at == block.end {
                    return Err(format!("{line}: the command does not end in its block"));
                }
                command.push('\n');
                command.push_str(&lines[at]);
                if until.as_ref() == Some(&lines[at]) {
                    until = None;
                }
                at += 1;
            }
            let output = at..at;
            steps.push(Step {
                line,
                command,
                output,
            });
        } else {
            let step = steps
                .last_mut()
                .ok_or_else(|| format!("{line}: a `console` block begins with `$ `"))?;
            at += 1;
            step.output.end = at;
        }
    }
    Ok(steps)
}

/// Returns the steps of a block as one: the first command with everything below it.
fn whole(lines: &[String], block: Range<usize>) -> Result<Vec<Step>, String> {
    let mut steps = steps(lines, block.clone())?;
    steps.truncate(1);
    if let Some(step) = steps.first_mut() {
        step.output.end = block.end;
    }
    Ok(steps)
}

/// Returns the line that ends a here-document, if the command has one.
fn here_document(command: &str) -> Option<String> {
    let (_, word) = command.split_once("<<")?;
    let word = word.trim_start_matches(['-', ' ', '\'', '"']);
    let end = word
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(word.len());
    (end > 0).then(|| word[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn commands_and_their_output_are_found() {
        let text = "\
Text
```console
$ cat > a <<'EOF' && echo
$ no command
EOF
$ echo \\
  b
b

```
```sh
icm help   # only listed
git log | icm store -t commits
icm man > page
```
";
        let mut page = Page::read(text).unwrap();
        assert_eq!(page.blocks_run(), 1);
        let steps = page.steps();
        let commands: Vec<_> = steps.iter().map(|it| it.command.as_str()).collect();
        assert_eq!(
            commands,
            ["cat > a <<'EOF' && echo\n$ no command\nEOF", "echo \\\n  b"]
        );
        assert_eq!(steps[0].line, 3);
        let listed = [(12, "icm help".to_owned()), (14, "icm man".to_owned())];
        assert_eq!(page.listed(), listed);
        assert_eq!(page.output(&steps[0]), Vec::<String>::new());
        assert_eq!(page.output(&steps[1]), ["b"]);
        page.replace(&steps[1], &["c".to_owned()]);
        assert!(page.text().contains("  b\nc\n```\n"));
    }

    #[test]
    fn a_whole_block_is_one_command() {
        let page = Page::read("```console,whole\n$ a\nb\n$ c\nd\n```\n").unwrap();
        let steps = page.steps();
        assert_eq!(steps.len(), 1);
        assert_eq!(page.output(&steps[0]), ["b", "$ c", "d"]);
    }

    #[test]
    fn a_block_that_is_not_run_says_why() {
        let block = "```console,not-run\n$ reboot\n```\n";
        for comment in ["", "<!-- not run -->\n", "<!-- not run:  -->\n", "text\n"] {
            let error = Page::read(&format!("{comment}{block}")).err().unwrap();
            assert!(
                error.ends_with("has to be `<!-- not run: REASON -->`"),
                "{error}"
            );
        }
        let page = Page::read(&format!("<!-- not run: it ends the machine -->\n{block}"));
        assert_eq!(page.unwrap().blocks_run(), 0);
    }

    #[test]
    fn blocks_that_can_not_be_read_are_refused() {
        for (text, error) in [
            ("```console\n$ a\n", "1: the block does not end"),
            (
                "```console\na\n```\n",
                "2: a `console` block begins with `$ `",
            ),
            (
                "```consoles\n$ a\n```\n",
                "1: `consoles` is no kind of block",
            ),
            (
                "```console\n$ cat <<EOF\na\n```\n",
                "2: the command does not end in its block",
            ),
        ] {
            assert_eq!(Page::read(text).err().unwrap(), error);
        }
    }
}
