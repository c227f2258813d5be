//! A span for each call, with a child span for each of its steps.
//!
//! The ids of spans follow from the ids of calls. So the span of a call that a tool made has the span of the calling
//! call as its parent, although that span is made later, when its call ends.

use super::sampling::{CallerSampling, Sampling};
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanEvents, SpanLinks, SpanProcessor};
use portcullis::Outcome;
use portcullis::metrics::{CallObserver, FinishedCall};
use std::borrow::Cow;
use std::time::{Duration, SystemTime};

/// The name of the operation, of the semantic conventions for generative AI.
const OPERATION: &str = "execute_tool";

/// Makes the spans of calls that have ended.
pub(super) struct CallSpans {
    processor: BatchSpanProcessor,
    sampling: Sampling,
    scope: InstrumentationScope,
}

/// Where a call is in its trace.
struct TracePlace {
    trace: TraceId,
    span: SpanId,
    parent: SpanId,
    kind: SpanKind,
    /// Whether the parent span is in the caller's process.
    is_parent_remote: bool,
    caller: CallerSampling,
}

/// The caller's span, from its `traceparent`.
struct CallerSpan {
    trace: TraceId,
    span: SpanId,
    sampling: CallerSampling,
}

/// The name and times of a span.
struct TimedSpan {
    name: Cow<'static, str>,
    started: SystemTime,
    took: Duration,
}

impl CallSpans {
    pub(super) fn new(processor: BatchSpanProcessor, sampling: Sampling) -> Self {
        let scope = InstrumentationScope::builder("portcullis").with_version(env!("CARGO_PKG_VERSION")).build();
        Self { processor, sampling, scope }
    }

    /// Sends what is queued, for at most this time, and nothing after that. Blocks.
    pub(super) fn end(&self, within: Duration) {
        // If the collector does not take the spans, its client has said so.
        let _ = self.processor.shutdown_with_timeout(within);
    }

    fn of_call(&self, call: &FinishedCall<'_>, place: &TracePlace) -> SpanData {
        let mut attributes = vec![
            KeyValue::new("gen_ai.operation.name", OPERATION),
            KeyValue::new("gen_ai.tool.call.id", call.id.to_owned()),
            KeyValue::new("portcullis.decision", call.answer.as_str()),
            KeyValue::new("portcullis.code", call.code.as_str()),
            KeyValue::new("portcullis.outcome", call.code.outcome().as_str()),
        ];
        attributes.extend(call.tool.map(|tool| KeyValue::new("gen_ai.tool.name", tool.to_string())));
        let name = call.tool.map_or(Cow::Borrowed(OPERATION), |tool| Cow::Owned(format!("{OPERATION} {tool}")));
        let status = match call.code.outcome() {
            Outcome::Completed => Status::Ok,
            Outcome::Pending => Status::Unset,
            Outcome::Failed
            | Outcome::Invalid
            | Outcome::Denied
            | Outcome::Cancelled
            | Outcome::Limit
            | Outcome::Trapped
            | Outcome::Refused => Status::error(call.code.as_str()),
        };
        let span = TimedSpan { name, started: call.started, took: call.took };
        let data = self.data(span, (place.trace, place.span), place.parent, place.kind.clone());
        SpanData { parent_span_is_remote: place.is_parent_remote, attributes, status, ..data }
    }

    fn data(&self, span: TimedSpan, (trace, id): (TraceId, SpanId), parent: SpanId, kind: SpanKind) -> SpanData {
        SpanData {
            span_context: SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::default()),
            parent_span_id: parent,
            parent_span_is_remote: false,
            span_kind: kind,
            name: span.name,
            start_time: span.started,
            end_time: span.started + span.took,
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: self.scope.clone(),
        }
    }
}

impl CallObserver for CallSpans {
    fn ended(&self, call: &FinishedCall<'_>) {
        let Some(place) = TracePlace::of(call) else { return };
        if !self.sampling.samples(place.trace, place.caller) {
            return;
        }
        for (number, (step, after, took)) in (1..).zip(call.steps()) {
            let span = TimedSpan { name: step.as_str().into(), started: call.started + after, took };
            // Ids of calls are random, so the numbers after one belong to no other call.
            let id = SpanId::from(u64::from_be_bytes(place.span.to_bytes()).wrapping_add(number));
            self.processor.on_end(self.data(span, (place.trace, id), place.span, SpanKind::Internal));
        }
        self.processor.on_end(self.of_call(call, &place));
    }
}

impl TracePlace {
    /// Returns the place of a call. A call of a caller without a trace begins one. `None` if the call has no id.
    fn of(call: &FinishedCall<'_>) -> Option<Self> {
        let span = span_of(call.id)?;
        let caller = call.trace.and_then(CallerSpan::parse);
        let trace = caller.as_ref().map(|caller| caller.trace).or_else(|| TraceId::from_hex(call.first).ok())?;
        let sampling = caller.as_ref().map_or(CallerSampling::Absent, |caller| caller.sampling);
        let (parent, kind, is_parent_remote) = match (call.parent, caller) {
            (Some(parent), _) => (span_of(parent)?, SpanKind::Internal, false),
            (None, Some(caller)) => (caller.span, SpanKind::Server, true),
            (None, None) => (SpanId::INVALID, SpanKind::Server, false),
        };
        Some(Self { trace, span, parent, kind, is_parent_remote, caller: sampling })
    }
}

impl CallerSpan {
    /// Parses a `traceparent` that the host has checked: version, trace, span and flags.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-').skip(1);
        let (trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?);
        let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?);
        let sampling = if flags.is_sampled() { CallerSampling::Sampled } else { CallerSampling::NotSampled };
        Some(Self { trace: TraceId::from_hex(trace).ok()?, span: SpanId::from_hex(span).ok()?, sampling })
    }
}

/// Returns the id of the span of a call: the second half of its own id.
fn span_of(call: &str) -> Option<SpanId> {
    // An id of zeros means that there is no span.
    SpanId::from_hex(call.get(16..32)?).ok().filter(|span| *span != SpanId::INVALID)
}
