import JSON
package import TocsinCore

/// PagerDuty's Events API v2: `POST /v2/enqueue` and `POST /v2/change/enqueue`.
package struct PagerDutyReceiver: Receiver {
    /// Longer bodies are refused, as PagerDuty refuses them.
    package static let maximumBytes = 512 << 10

    /// A receiver without state.
    package init() {}

    /// `PAGERDUTY`.
    package var kind: Integration.Kind { .pagerDuty }
    /// `POST`.
    package var methods: [String] { ["POST"] }

    /// One event.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        let object: JSONObject
        switch LenientJSON.object(request.body) {
        case .success(let read): object = read
        case .failure(let error): return .refused(.badInput([error.reason]))
        }
        let isChange = request.segments.starts(with: ["v2", "change"])
        var reader = PagerDutyObject(object)
        guard var event = isChange ? reader.change() : reader.event() else {
            return .refused(.badInput(reader.problems))
        }
        var severity = SeverityReader(context.integration)
        if isChange { event.priority = 1 } else { event.priority = reader.priority(&severity) }
        return .events([event.bounded(in: context)], notes: reader.notes + severity.notes)
    }

    /// 202 with the `dedup_key`.
    package func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer {
        let isChange = request.segments.starts(with: ["v2", "change"])
        var json: JSONObject = [
            "status": "success", "message": isChange ? "Change event processed" : "Event processed",
        ]
        if let key = accepted.outcomes.first?.key ?? accepted.events.first?.key { json["dedup_key"] = .string(key) }
        return ReceiverAnswer(202, json: .object(json))
    }

    /// PagerDuty says 400 for a wrong key too.
    package func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        switch fault {
        case .unauthenticated: Self.invalid(["'routing_key' is not valid"])
        case .badInput(let words, _): Self.invalid(words)
        case .unsupportedType: Self.invalid(["the body must be JSON"])
        case .tooLarge: Self.fault(413, "request too large", "The event is larger than this server takes.")
        case .rateLimited(let seconds):
            Self.fault(
                429,
                "throttle exceeded",
                "Requests for this service are arriving too quickly.",
                retryAfter: seconds
            )
        case .lockedOut(let seconds):
            Self.fault(429, "throttle exceeded", NativeAnswers.wrongKeys(seconds), retryAfter: seconds)
        case .unavailable(let seconds):
            Self.fault(503, "unavailable", "The event could not be stored. Send it again.", retryAfter: seconds)
        case .methodNotAllowed:
            Self.fault(405, "method not allowed", "The path takes POST.", allow: methods)
        case .notFound: Self.fault(404, "not found", "Nothing has this path.")
        }
    }

    private static func invalid(_ errors: [String]) -> ReceiverAnswer {
        ReceiverAnswer(
            400,
            json: [
                "status": "invalid event", "message": "Event object is invalid",
                "errors": .array(errors.map(JSONValue.string)),
            ]
        )
    }

    private static func fault(
        _ status: Int,
        _ word: String,
        _ message: String,
        retryAfter: Int? = nil,
        allow: [String] = []
    ) -> ReceiverAnswer {
        ReceiverAnswer(
            status,
            json: ["status": .string(word), "message": .string(message), "errors": [.string(message)]],
            headers: NativeAnswers.headers(retryAfter: retryAfter, allow: allow)
        )
    }
}
