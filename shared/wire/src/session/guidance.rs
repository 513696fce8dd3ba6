//! What an agent whose tools ask people should know, for its system prompt.

/// What the last probe of the gate found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It answered, or was never probed: not knowing is not being broken.
    Working,
    /// It could not be reached.
    Unreachable,
}

const WORKING: &str = "\
Some of your tools ask a person before they act. The person is asked through Countersign; you only \
see that the tool call takes longer. Wait for it. Do not call it again meanwhile, and do not reach \
the same result another way.

How such a call can end:
- accept: a person approved. Do exactly what was approved, once. If the answer carries values, go by \
them.
- decline: a person said no. Do not retry, do not rephrase, do not work around it. Tell the user and \
go on without it.
- cancel: the question was dismissed or withdrawn. You have no approval. Ask the user before you try \
again.
- expired: no answer came in time; perhaps nobody saw the question. That is not a refusal, so do not \
report one. You have no approval either: do not act. Say that no decision was received, and ask \
again only if it is still needed.

A redacted or refused value is the gate's answer. Do not look for the same value or the same effect \
elsewhere: not with another tool, not in files, not with credentials that you can see.
An error that says that the gate could not be reached is different: the gate is broken, and that \
says nothing about what you may do. Report it, and do not route around it.";

const UNREACHABLE: &str = "\
Some of your tools ask a person before they act, through Countersign. That gate is broken at the \
moment: the last check could not reach it, so questions may never be shown to a person.

Until it is repaired, a refusal, a redacted value, an expiry or an error from such a tool says \
nothing about policy and nothing about what a person wants. Do not report it as a decision.
You have no approval either. Do not act, and do not route around the gate: not with another tool, \
not in files, not with credentials that you can see. Report that the approval gate is unreachable, \
say what you were about to do, and go on with work that needs no approval.";

/// The text for a session whose gate is as the last probe found it.
pub const fn guidance(gate: Gate) -> &'static str {
    match gate {
        Gate::Working => WORKING,
        Gate::Unreachable => UNREACHABLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_forbid_routing_around_and_tell_an_expiry_from_a_refusal() {
        assert!(WORKING.contains("That is not a refusal") && WORKING.contains("do not route around it"));
        assert!(UNREACHABLE.contains("says nothing about policy"));
        assert!(UNREACHABLE.contains("do not route around the gate"));
    }
}
