//! `tripnote review`: whether an answer is borne out by the evidence of its session.

use std::process::ExitCode;

use super::connect::Service;
use super::json::Object;
use super::session::named;
use super::source::file_or_input;
use super::text::one_line;
use super::words::Word as _;
use super::{Manner, TRIPPED, output};
use crate::wire::pb;

/// Which answer of which session.
#[derive(Debug, clap::Args)]
pub(super) struct ReviewArgs {
    /// The answer's text, - for standard input; read by the service and forgotten
    #[arg(value_name = "FILE|-")]
    answer: String,
    /// The agent run
    #[arg(long)]
    session: String,
    /// Who calls, if that was said
    #[arg(long)]
    caller: Option<String>,
    /// The task that it answers; without it, the one in force
    #[arg(long)]
    task: Option<String>,
}

/// Reviews.
pub(super) async fn run(args: ReviewArgs, service: &Service, manner: Manner) -> anyhow::Result<ExitCode> {
    let text = String::from_utf8_lossy(&file_or_input(&args.answer, "the answer")?).into_owned();
    let session = named(args.session, args.caller);
    let request = pb::ReviewAnswerRequest { session, text, task_id: args.task.unwrap_or_default() };
    let answer = service.sessions().review_answer(request).await.map_err(|status| service.explain(&status))?;
    let review = answer.into_inner();
    if manner.is_json {
        output::print(&object(&review).line()?)?;
    } else {
        output::print(&told(&review))?;
    }
    let is_sent_back = review.verdict() == pb::ReviewVerdict::SendBack;
    Ok(if is_sent_back { ExitCode::from(TRIPPED) } else { ExitCode::SUCCESS })
}

fn told(review: &pb::ReviewAnswerResponse) -> String {
    let rule = review.rule().word();
    let mut lines =
        vec![if rule.is_empty() { review.verdict().word() } else { format!("{}: {rule}", review.verdict().word()) }];
    lines.extend(review.cautions().map(|caution| format!("caution: {}", caution.word())));
    lines.extend(review.message.lines().map(one_line));
    lines.join("\n")
}

fn object(review: &pb::ReviewAnswerResponse) -> Object {
    let cautions: Vec<String> = review.cautions().map(super::words::Word::word).collect();
    Object::default()
        .with("verdict", review.verdict().word())
        .with_text("rule", &review.rule().word())
        .with_text("message", &review.message)
        .with("cautions", cautions)
}
