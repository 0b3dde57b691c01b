import JSON
package import TocsinCore

/// Incoming webhooks of Slack, Mattermost and Rocket.Chat.
package struct SlackReceiver: Receiver {
    /// A receiver without state.
    package init() {}

    /// `SLACK`.
    package var kind: Integration.Kind { .slack }
    /// `POST`.
    package var methods: [String] { ["POST"] }

    /// A plain message; with grouping an event.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        guard let object = Self.object(of: request) else { return .refused(.badInput(["invalid_payload"])) }
        let message = SlackMessage(object)
        guard !message.isEmpty else { return .refused(.badInput(["no_text"])) }
        return .events([message.event(in: context).bounded(in: context)])
    }

    /// `ok`.
    package func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer {
        ReceiverAnswer(200, text: "ok")
    }

    /// A word of Slack's; 503 for a used-up rate, for senders do not try again after 429.
    package func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        switch fault {
        case .unauthenticated: ReceiverAnswer(403, text: "invalid_token")
        case .badInput(let words, _): ReceiverAnswer(400, text: words.joined(separator: " "))
        case .unsupportedType: ReceiverAnswer(400, text: "invalid_payload")
        case .tooLarge: ReceiverAnswer(413, text: "request_too_large")
        case .rateLimited(let seconds):
            ReceiverAnswer(503, text: "rate_limited", headers: NativeAnswers.headers(retryAfter: seconds))
        case .lockedOut(let seconds):
            ReceiverAnswer(503, text: "too_many_wrong_keys", headers: NativeAnswers.headers(retryAfter: seconds))
        case .unavailable(let seconds):
            ReceiverAnswer(503, text: "service_unavailable", headers: NativeAnswers.headers(retryAfter: seconds))
        case .methodNotAllowed:
            ReceiverAnswer(405, text: "method_not_allowed", headers: NativeAnswers.headers(allow: methods))
        case .notFound: ReceiverAnswer(404, text: "no_service")
        }
    }

    private static func object(of request: ReceiverRequest) -> JSONObject? {
        if case .success(let object) = LenientJSON.object(request.body) { return object }
        // `curl -d 'payload={…}'` calls itself a form; so does nothing else that is posted here.
        let items = request.isForm ? request.form : QueryText.items(request.body)
        if let payload = items.first(where: { $0.name == "payload" })?.value {
            guard case .success(let object) = LenientJSON.object(Array(payload.utf8)) else { return nil }
            return object
        }
        return items.first { $0.name == "text" }.map { ["text": .string($0.value)] }
    }
}
