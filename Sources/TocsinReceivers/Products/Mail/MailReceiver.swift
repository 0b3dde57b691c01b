import JSON
package import TocsinCore

/// A raw mail as the body: `message/rfc822`.
package struct MailReceiver: Receiver {
    /// The longest mail, in bytes.
    package static let maximumBytes = 1 << 20

    /// A receiver without state.
    package init() {}

    /// `MAIL`.
    package var kind: Integration.Kind { .mail }
    /// `POST`.
    package var methods: [String] { ["POST"] }

    /// A plain message, or an event where the mail's `X-Tocsin-Incident` names one.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        guard request.body.count <= Self.maximumBytes else { return .refused(.tooLarge()) }
        guard request.body.contains(where: { $0 > 0x20 }) else {
            return .refused(.badInput(["The body must be a mail: headers, an empty line, a text."]))
        }
        let mail = MailMessage(request.body)
        var notes: [String] = []
        return .events([mail.event(&notes).bounded(in: context)], notes: notes)
    }

    /// 202 and what became of it.
    package func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer {
        ReceiverAnswer(202, json: ["events": .array(accepted.outcomes.map(NativeAnswers.outcome))])
    }

    /// `{"error": {"code", "message"}}`.
    package func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        NativeAnswers.fault(fault, methods: methods)
    }
}
