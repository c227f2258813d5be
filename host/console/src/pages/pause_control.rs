//! Whether the policy is paused, in the header of every page, with the button that changes it.

use maud::{Markup, html};
use portcullis::policy::Pause;

/// Returns the state of the pause. It takes one line in each state, so that nothing below it moves. `back` is the page
/// to which the button returns, and `token` the hidden field of the session.
pub(super) fn shown(pause: Option<&Pause>, may_resume: bool, back: &str, token: &Markup) -> Markup {
    html! {
        div #pause.pause data-paused=(pause.is_some()) {
            @if pause.is_none() {
                form method="post" action="/pause" {
                    (token)
                    input type="hidden" name="back" value=(back);
                    button.ghost type="submit" { "Pause all calls" }
                }
            } @else {
                p { b.bad { "Paused" } span.wide { ": new calls, and calls that you approve, are refused" } }
                @if may_resume { a.button.ghost href="/resume" { "Resume" } }
                @else { a.button.ghost href="/resume" { "How to resume" } }
            }
        }
    }
}
