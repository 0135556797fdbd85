//! `tripnote dashboards`: writes the boards as files for Grafana, or says which of those that are there differ. Asks no
//! service.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::json::Object;
use super::{Manner, output};
use crate::telemetry::boards::{Board, boards};

/// Where to.
#[derive(Debug, clap::Args)]
pub(super) struct DashboardsArgs {
    /// The directory of the files; it is made where it is missing
    #[arg(long, value_name = "DIR", default_value = "dashboards/grafana")]
    out: PathBuf,
    /// Write nothing; exit with 1 where a file is missing or differs
    #[arg(long)]
    check: bool,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Same,
    Written,
    Differs,
}

impl Fate {
    const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Written => "written",
            Self::Differs => "differs",
        }
    }
}

/// Does it.
pub(super) fn run(args: &DashboardsArgs, manner: Manner) -> anyhow::Result<ExitCode> {
    if !args.check {
        fs::create_dir_all(&args.out).with_context(|| format!("cannot make `{}`", args.out.display()))?;
    }
    let mut lines = vec![];
    let mut differs = false;
    for board in boards() {
        let path = args.out.join(format!("{}.json", board.slug));
        let fate = settle(&board, &path, args.check)?;
        differs |= fate == Fate::Differs;
        let shown = path.display().to_string();
        lines.push(if manner.is_json {
            Object::default().with_text("file", &shown).with("fate", fate.word()).line()?
        } else {
            format!("{:<8} {shown}", fate.word())
        });
    }
    output::print(&lines.join("\n"))?;
    if differs {
        output::remark("tripnote: boards differ from those of this program: run `tripnote dashboards` to write them");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn settle(board: &Board, path: &Path, is_check: bool) -> anyhow::Result<Fate> {
    let text = board.file();
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(Fate::Same);
    }
    if is_check {
        return Ok(Fate::Differs);
    }
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(Fate::Written)
}
