//! `portcullis approvals approve`: approves requests, and runs a call if its process no longer waits for it.

use super::super::Context;
use super::super::no_result::fail_as;
use super::done::done;
use super::identify::{IdentifiedApproval, find};
use super::opened::open;
use super::refusal;
use super::resuming::{RunPlace, resume, run_place};
use crate::answer::{CUT, covers};
use crate::arguments::ApproveArguments;
use crate::confirmation::{Confirmation, confirmation};
use crate::exit_code::Exit;
use crate::failure::{CommandError, FailureCode};
use crate::question::{FILE_CHANGED, Sheet, Unseen, laid_out};
use anyhow::bail;
use portcullis::approvals::{ApprovalError, CallSelection, Onward, OpenQuestion, Status};
use portcullis::text::OneLine;
use portcullis::{Answer, Approvals, Covers, Question};

/// Approves each request in turn. The first failure decides the exit code.
pub(super) async fn run(arguments: &ApproveArguments, context: &Context) -> anyhow::Result<Exit> {
    let approvals = open(context).await?;
    // All ids are found before the first request is approved, so a mistyped id approves nothing.
    let mut questions: Vec<OpenQuestion> = Vec::new();
    for id in &arguments.ids {
        match find(&approvals, id).await? {
            Ok(IdentifiedApproval::Question(question)) if questions.iter().all(|known| known.id != question.id) => {
                questions.push(*question);
            }
            // The user has named the same request twice.
            Ok(IdentifiedApproval::Question(_)) => {}
            Ok(IdentifiedApproval::Answer(_)) => {
                return fail_as(FailureCode::NotARequest, refusal::AN_ANSWER, Exit::Usage, context);
            }
            Err(why) => return fail_as(FailureCode::UnknownApproval, &why, Exit::Usage, context),
        }
    }
    drop(approvals);
    let mut ended = Exit::Completed;
    for question in &questions {
        let exit = approve(question, arguments, context).await?;
        ended = if ended == Exit::Completed { exit } else { ended };
    }
    Ok(ended)
}

async fn approve(question: &OpenQuestion, arguments: &ApproveArguments, context: &Context) -> anyhow::Result<Exit> {
    let approvals = open(context).await?;
    let place = match (&question.question, question.status) {
        (Some(asked), Status::Pending) => {
            let answer = match answer(arguments, asked) {
                Ok(answer) => answer,
                Err(why) => return fail_as(FailureCode::NotOffered, &why, Exit::Usage, context),
            };
            if !is_approved(arguments, asked, &approvals, context).await? {
                let why = "not approved: the request stays open";
                return fail_as(FailureCode::NotConfirmed, why, Exit::Denied, context);
            }
            match approvals.answer(&question.id, &answer).await {
                // The process may end before it takes the answer.
                Ok(Onward::There) => run_place(&approvals, &question.id).await,
                Ok(Onward::Here) => RunPlace::Here,
                // Only a denial ends a call, and this command gives none.
                Ok(Onward::Ended) => RunPlace::Nowhere(ApprovalError::Gone),
                Err(error) => RunPlace::Nowhere(error),
            }
        }
        // It was approved before, and the process that made the request may have exited since.
        (_, Status::Approved) => run_place(&approvals, &question.id).await,
        (_, status) => RunPlace::Nowhere(ApprovalError::Settled(status)),
    };
    match place {
        RunPlace::There => done(&question.id, "approved: the call runs in the process that made it", context),
        RunPlace::Later => done(&question.id, "approved: the call runs when its client makes it again", context),
        RunPlace::Here => {
            drop(approvals);
            resume(&question.id, &question.tool, context).await
        }
        RunPlace::Nowhere(error) => refusal::tell_of(&error, &question.id, &approvals, context).await,
    }
}

/// Returns the answer that the options give.
fn answer(arguments: &ApproveArguments, asked: &Question) -> Result<Answer, String> {
    let offers = &asked.offers;
    if let Some(numbers) = &arguments.calls {
        let count = asked.selectable_calls().ok_or("--calls is for a request about several calls")?;
        let calls = CallSelection::parse(numbers, count).map_err(|error| error.to_string())?;
        return Ok(Answer::Part { calls, note: None });
    }
    let wanted = match &arguments.covers {
        None => Covers::Exact,
        Some(typed) => offered(typed, offers).ok_or_else(|| not_offered(offers))?,
    };
    match (arguments.session, arguments.always) {
        (true, _) => Ok(Answer::Session(wanted)),
        (false, true) => Ok(Answer::Always(wanted)),
        (false, false) if arguments.covers.is_some() => {
            Err("--for needs --session or --always: it sets what a remembered approval covers".to_owned())
        }
        (false, false) => Ok(Answer::Yes),
    }
}

/// Finds an offer by its number, by its text, or by the only quoted text in it. The typed text may omit who proposed
/// the offer; the host's own offer wins if two then look the same.
fn offered(typed: &str, offers: &[String]) -> Option<Covers> {
    let quoted = |offer: &str| offer.split_once("= \"").and_then(|(_, rest)| rest.strip_suffix('"')) == Some(typed);
    let named = |offer: &str| offer == typed || quoted(offer);
    // Texts of the call are in quotes, so the host wrote everything after the last quote.
    let label = |offer: &String| offer.ends_with(')').then(|| offer.rfind(" (proposed by ")).flatten();
    let unlabelled = |offer: &String| named(&offer[..label(offer).unwrap_or(offer.len())]);
    let place = offers.iter().position(|offer| named(offer)).or_else(|| offers.iter().position(unlabelled));
    place.map(Covers::Offer).or_else(|| covers(typed, offers.len()))
}

fn not_offered(offers: &[String]) -> String {
    let offers = offers.iter().enumerate().map(|(place, offer)| format!("\n  {}  {}", place + 2, OneLine(offer)));
    format!("the request does not offer this; it offers\n  1  exactly these arguments{}", offers.collect::<String>())
}

/// Asks for approval at the terminal, after all of the request was shown, unless `--yes` was given. Fails without a
/// terminal.
async fn is_approved(
    arguments: &ApproveArguments,
    asked: &Question,
    approvals: &Approvals,
    context: &Context,
) -> anyhow::Result<bool> {
    let terminal = context.terminal;
    // Read each time, because the difference follows the current files.
    let now = async || {
        let open = approvals.question(&asked.id).await?;
        Ok::<_, ApprovalError>(open.question.unwrap_or_else(|| asked.clone()))
    };
    if arguments.yes {
        if !context.json {
            terminal.say(&laid_out(&now().await?, Sheet::Brief, terminal).text);
        }
        return Ok(true);
    }
    if !terminal.can_ask() {
        let error = CommandError::new(FailureCode::NoTerminal, "there is no terminal to ask at");
        bail!(error.help("review the request with `portcullis approvals show`, then approve it with --yes"));
    }
    let prompt = format!("Approve {}? [y/N/?] ", asked.tool);
    let mut sheet = Sheet::Brief;
    loop {
        let shown = now().await?;
        let laid_out = laid_out(&shown, sheet, terminal);
        terminal.say(&laid_out.text);
        match (confirmation(terminal, &prompt).await, laid_out.unseen) {
            (Confirmation::Yes, Unseen::Nothing) => {
                // A file may have changed while the user was reading.
                if now().await?.difference == shown.difference {
                    return Ok(true);
                }
                terminal.note(FILE_CHANGED);
            }
            (Confirmation::Yes, Unseen::Some) => terminal.note(CUT),
            (Confirmation::More, _) => sheet = Sheet::Details,
            (Confirmation::No, _) => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_named_by_its_number_its_text_or_its_pattern() {
        let offers = ["path = \"src/**\"".to_owned(), "any content, path = \"src/a b\"".to_owned()];
        let rows = [
            ("1", Some(Covers::Exact)),
            ("2", Some(Covers::Offer(0))),
            ("3", Some(Covers::Offer(1))),
            ("4", None),
            ("0", None),
            ("src/**", Some(Covers::Offer(0))),
            ("path = \"src/**\"", Some(Covers::Offer(0))),
            ("src/a b", Some(Covers::Offer(1))),
            ("src/*", None),
            ("**", None),
            ("", None),
        ];
        for (typed, found) in rows {
            assert_eq!(offered(typed, &offers), found, "{typed}");
        }
    }
}
