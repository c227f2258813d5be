//! `portcullis doctor`: checks everything that can be wrong with an installation. Each check is one file, and names the
//! remedy for what it finds. It changes no configuration.

mod agents;
mod finding;
mod own_files;
mod plugins;
mod records;
mod system;

use super::Context;
use super::init::InitPlaces;
use crate::exit_code::Exit;
use crate::init_record::InitRecord;
use crate::json::{self, DocumentKind};
use crate::style::TextStyle;
use crate::table::{Table, TableCell};
use finding::{DoctorFinding, FindingLevel};
use serde_json::{Value, json};

pub(super) async fn run(context: &Context) -> anyhow::Result<Exit> {
    let mut findings = system::check();
    findings.extend(own_files::check(context));
    findings.extend(records::check(context).await);
    findings.extend(plugins::check(context).await);
    match recorded(context) {
        Ok((places, record)) => findings.extend(agents::check(&places, &record)),
        // The record matters for this check alone, so the others are still shown.
        Err(error) => findings.push(DoctorFinding::warning(
            "agents",
            format!("not checked: {error:#}"),
            "correct this, and run `portcullis doctor` again",
        )),
    }
    let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(FindingLevel::Ok);
    let text = match context.json {
        true => json::document(DocumentKind::Doctor, &document(&findings, worst))?,
        false => text(&findings, context),
    };
    context.terminal.print(&text)?;
    Ok(match worst {
        FindingLevel::Ok | FindingLevel::Warning => Exit::Completed,
        FindingLevel::Error => Exit::ToolFailed,
    })
}

fn recorded(context: &Context) -> anyhow::Result<(InitPlaces, InitRecord)> {
    let places = InitPlaces::of(None, context)?;
    let record = InitRecord::read(&places.config)?;
    Ok((places, record))
}

fn document(findings: &[DoctorFinding], worst: FindingLevel) -> Value {
    let finding = |finding: &DoctorFinding| {
        let (level, what) = (finding.level.as_str(), finding.what);
        json!({ "check": what, "level": level, "message": finding.message, "remedy": finding.remedy })
    };
    json!({ "level": worst.as_str(), "findings": findings.iter().map(finding).collect::<Vec<_>>() })
}

fn text(findings: &[DoctorFinding], context: &Context) -> String {
    let mut table = Table::default();
    for finding in findings {
        let look = match finding.level {
            FindingLevel::Ok => TextStyle::Good,
            FindingLevel::Warning => TextStyle::Doubtful,
            FindingLevel::Error => TextStyle::Bad,
        };
        table.row([
            TableCell::new(look, finding.level.as_str()),
            TableCell::new(TextStyle::Strong, finding.what),
            TableCell::plain(&finding.message),
        ]);
        if let Some(remedy) = &finding.remedy {
            let remedy = format!("to do: {remedy}");
            table.row([TableCell::plain(""), TableCell::plain(""), TableCell::new(TextStyle::Quiet, &remedy)]);
        }
    }
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let (errors, warnings) = (count(FindingLevel::Error), count(FindingLevel::Warning));
    let table = table.render_whole(context.terminal.style(), "", context.terminal.width());
    format!("{table}\n{errors} {}, {warnings} {}\n", plural(errors, "error"), plural(warnings, "warning"))
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}
