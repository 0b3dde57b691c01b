import JSON
import TocsinCore

/// The answers of `/in/…`.
enum NativeAnswers {
    /// `{"error": {"code", "message"}}`.
    ///
    /// - Parameter lockedOut: The status for addresses that are locked out.
    static func fault(_ fault: ReceiverFault, methods: [String], lockedOut: Int = 429) -> ReceiverAnswer {
        switch fault {
        case .unauthenticated:
            error(
                401,
                "UNAUTHENTICATED",
                "The key is missing, unknown or ended. Make one with `tocsin integration key`."
            )
        case .badInput(let words, _): error(400, "BAD_USER_INPUT", words.joined(separator: " "))
        case .unsupportedType:
            error(415, "BAD_USER_INPUT", "The body's type is none that this integration reads.")
        case .tooLarge: error(413, "LIMIT", "The body is longer than this server takes.")
        case .rateLimited(let seconds):
            error(429, "LIMIT", "The integration's rate is used up. Try again in \(seconds) s.", retryAfter: seconds)
        case .lockedOut(let seconds):
            error(lockedOut, "LIMIT", wrongKeys(seconds), retryAfter: seconds)
        case .unavailable(let seconds):
            error(503, "UNAVAILABLE", "Nothing can be stored now. Try again in \(seconds) s.", retryAfter: seconds)
        case .methodNotAllowed:
            error(405, "BAD_USER_INPUT", "The path takes \(methods.joined(separator: ", ")).", allow: methods)
        case .notFound: error(404, "NOT_FOUND", "Nothing has this path.")
        }
    }

    /// What an address that is locked out is told, in any shape.
    static func wrongKeys(_ seconds: Int) -> String {
        "The key is missing, unknown or ended, and so were too many before it from this address. "
            + "The next wrong one is looked at in \(seconds) s; good keys are taken meanwhile."
    }

    /// What became of an event: of an incident, or of a plain message.
    static func outcome(_ outcome: EventOutcome) -> JSONValue {
        var object = JSONObject()
        if let key = outcome.key { object["key"] = .string(key) }
        if let id = outcome.incidentID {
            object["incidentId"] = .string(id)
            if let number = outcome.incidentNumber { object["number"] = .int(number) }
            if let state = outcome.state { object["state"] = .string(state.rawValue) }
        } else if let id = outcome.messageID {
            object["messageId"] = .string(id)
            if let number = outcome.messageNumber { object["number"] = .int(number) }
        }
        object["change"] = .string(outcome.change?.rawValue ?? "NONE")
        return .object(object)
    }

    /// `Retry-After` and `Allow` of a fault, for any shape.
    static func headers(retryAfter: Int? = nil, allow: [String] = []) -> [ReceiverRequest.Item] {
        (retryAfter.map { [ReceiverRequest.Item("Retry-After", String($0))] } ?? [])
            + (allow.isEmpty ? [] : [ReceiverRequest.Item("Allow", allow.joined(separator: ", "))])
    }

    private static func error(
        _ status: Int,
        _ code: String,
        _ message: String,
        retryAfter: Int? = nil,
        allow: [String] = []
    ) -> ReceiverAnswer {
        ReceiverAnswer(
            status,
            json: ["error": ["code": .string(code), "message": .string(message)]],
            headers: headers(retryAfter: retryAfter, allow: allow)
        )
    }
}
