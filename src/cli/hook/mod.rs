//! `tripnote hook`: one event of an agent program from standard input, the answer of that program to standard output.
//!
//! Exit status as those programs read it: 0 with an answer, 1 for an error with which they go on. Never 2, with which they
//! would refuse the call.

mod down;
mod settings;

use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use tonic::Code;

use self::down::{Silence, WhenDown};
use self::settings::Form;
use super::connect::{Address, Service};
use super::source::Source;
use super::{in_runtime, output};
use crate::service::hooks::{Asking, HookEvent, HookFault, HookProgram};

/// How long an answer may take: a person waits for it.
const ANSWER_FOR: Duration = Duration::from_secs(2);
/// Bytes of a result that are sent along: what a service takes unless it is configured otherwise.
const PAYLOAD_BYTES_MAX: usize = 256 << 10;

/// One event of a hook, or what makes a program send them.
#[derive(Debug, clap::Args)]
pub(super) struct HookArgs {
    /// The program whose hook it is
    #[arg(value_parser = word_of::<HookProgram>(HookProgram::ALL, |word| word.word()))]
    program: HookProgram,
    /// Where no service answers: go_on, refuse, or by_effect, which refuses what is known to change something
    #[arg(long, value_name = "WORD", env = "TRIPNOTE_WHEN_DOWN", hide_env_values = true, default_value = "go_on", value_parser = word_of::<WhenDown>(WhenDown::ALL, |word| word.word()))]
    when_down: WhenDown,
    /// Print what has to stand in the program's settings, and read no event
    #[arg(long)]
    print_settings: bool,
    /// How the settings have the service asked: http, which needs nothing installed, or command
    #[arg(long, value_name = "FORM", requires = "print_settings", value_parser = word_of::<Form>(Form::ALL, |word| word.word()))]
    form: Option<Form>,
    /// Where the settings have the service asked over HTTP
    #[arg(long, value_name = "URL", requires = "print_settings", default_value = settings::HTTP)]
    http: String,
}

/// Reads a word of a closed list.
fn word_of<W: Copy + Send + Sync + 'static>(
    all: &'static [W],
    word: fn(W) -> &'static str,
) -> impl clap::builder::TypedValueParser<Value = W> {
    let words = PossibleValuesParser::new(all.iter().map(|one| word(*one)));
    words.try_map(move |given| all.iter().copied().find(|one| word(*one) == given).ok_or("is no such word"))
}

/// Answers one event.
pub(super) fn run(args: &HookArgs, address: &Address) -> anyhow::Result<ExitCode> {
    let HookArgs { program, when_down, print_settings, form, http } = args;
    if *print_settings {
        return settings::print(&settings::Wanted {
            program: *program,
            form: *form,
            http,
            address,
            when_down: *when_down,
        });
    }
    let text = Source::Input.read("the event")?;
    let event = HookEvent::read(&text)?;
    let silence = Silence::of(*program, address, event.session());
    in_runtime(async {
        let answered = tokio::time::timeout(ANSWER_FOR, asked(*program, &event, address)).await;
        let said = match answered {
            Ok(Ok(said)) => {
                silence.is_over();
                said
            }
            Ok(Err(Unanswered::Fault(fault))) => return Err(fault),
            Ok(Err(Unanswered::Nobody)) | Err(_) => down::said(&event, address, *when_down, &silence),
        };
        output::print(&said.to_string())?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Why there is no answer.
enum Unanswered {
    /// Nobody is there, or nobody who has time.
    Nobody,
    /// The event is not taken.
    Fault(anyhow::Error),
}

async fn asked(
    program: HookProgram,
    event: &HookEvent<'_>,
    address: &Address,
) -> Result<serde_json::Value, Unanswered> {
    let service = Service::reach(address).await.map_err(|_| Unanswered::Nobody)?;
    let asking = Asking {
        to: service.channel(),
        metadata: Default::default(),
        peer: None,
        payload_bytes_max: PAYLOAD_BYTES_MAX,
    };
    asking.answer(program, event).await.map_err(|fault| match fault {
        HookFault::Status(status) if is_away(status.code()) => Unanswered::Nobody,
        HookFault::Status(status) => Unanswered::Fault(service.explain(&status)),
        HookFault::Invalid(invalid) => Unanswered::Fault(invalid.into()),
    })
}

/// Whether an error says that no answer is to be had now.
const fn is_away(code: Code) -> bool {
    match code {
        Code::Unavailable
        | Code::DeadlineExceeded
        | Code::Cancelled
        | Code::ResourceExhausted
        | Code::Unimplemented
        | Code::Internal
        | Code::Unknown => true,
        Code::Ok
        | Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::OutOfRange
        | Code::DataLoss
        | Code::Unauthenticated => false,
    }
}
