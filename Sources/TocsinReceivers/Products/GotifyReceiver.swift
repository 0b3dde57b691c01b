import JSON
package import TocsinCore

/// Gotify's way to send: `POST /message`.
package struct GotifyReceiver: Receiver {
    /// A receiver without state.
    package init() {}

    /// `GOTIFY`.
    package var kind: Integration.Kind { .gotify }
    /// `POST`; `GET` for the questions of `openAnswer`.
    package var methods: [String] { ["POST"] }

    /// `GET /version` and `GET /health`, which tools ask without a key; nil: another request.
    package static func openAnswer(to request: ReceiverRequest) -> ReceiverAnswer? {
        guard request.method == "GET" || request.method == "HEAD" else { return nil }
        switch request.segments.last {
        case "version":
            return ReceiverAnswer(200, json: ["version": "2.6.3", "commit": "unknown", "buildDate": "unknown"])
        case "health": return ReceiverAnswer(200, json: ["health": "green", "database": "green"])
        default: return nil
        }
    }

    /// A message, or an event where the extras say so.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        if let answer = Self.openAnswer(to: request) { return .answered(answer) }
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        let message: JSONObject
        switch Self.message(of: request) {
        case .success(let read): message = read
        case .failure(let error): return .refused(.badInput([error.reason]))
        }
        guard let text = message["message"]?.senderText, !text.trimmed.isEmpty else {
            return .refused(.badInput(["Field 'message' is required"]))
        }
        var event = SenderEvent(.log, title: message.filled("title") ?? context.integration.name, body: text)
        var notes: [String] = []
        if let value = message["priority"], !value.isNull {
            event.priority = value.senderNumber.map(Self.priority)
            if event.priority == nil { notes.append("'priority' was left out: it must be a number from 0 to 10.") }
        }
        if let extras = message["extras"]?.objectValue, let word = Self.fill(&event, from: extras) {
            notes.append(word)
        }
        return .events([event.bounded(in: context)], notes: notes)
    }

    /// The message as Gotify tells it, with its number in the topic.
    package func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer {
        var json: JSONObject = [
            "id": .int(accepted.outcomes.first?.messageNumber ?? 0),
            "appid": .int(Self.number(of: accepted.integration)),
        ]
        if case .success(let message) = Self.message(of: request) {
            // As they are stored, so that the answer says what was taken.
            json["message"] = .string(message["message"]?.senderText?.withoutControls ?? "")
            json["title"] = .string(message.filled("title")?.withoutControls ?? accepted.integration.name)
            json["priority"] = .int(message["priority"]?.senderNumber ?? 0)
            if let extras = message["extras"], extras.objectValue != nil { json["extras"] = extras }
        }
        json["date"] = .string(request.receivedAt.iso8601)
        return ReceiverAnswer(200, json: .object(json))
    }

    /// `{"error", "errorCode", "errorDescription"}`.
    package func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        switch fault {
        case .unauthenticated:
            Self.error(
                401,
                "Unauthorized",
                "you need to provide a valid access token or user credentials to access this api"
            )
        case .badInput(let words, _): Self.error(400, "Bad Request", words.joined(separator: " "))
        case .unsupportedType: Self.error(415, "Unsupported Media Type", "send JSON or a form")
        case .tooLarge: Self.error(413, "Request Entity Too Large", "the message is larger than this server takes")
        case .rateLimited(let seconds):
            Self.error(429, "Too Many Requests", "send it again later", NativeAnswers.headers(retryAfter: seconds))
        case .lockedOut(let seconds):
            Self.error(
                429,
                "Too Many Requests",
                NativeAnswers.wrongKeys(seconds),
                NativeAnswers.headers(retryAfter: seconds)
            )
        case .unavailable(let seconds):
            Self.error(503, "Service Unavailable", "send it again later", NativeAnswers.headers(retryAfter: seconds))
        case .methodNotAllowed:
            Self.error(405, "Method Not Allowed", "the path takes POST", NativeAnswers.headers(allow: methods))
        case .notFound: Self.error(404, "Not Found", "page not found")
        }
    }

    private static func error(
        _ status: Int,
        _ name: String,
        _ words: String,
        _ headers: [ReceiverRequest.Item] = []
    ) -> ReceiverAnswer {
        ReceiverAnswer(
            status,
            json: ["error": .string(name), "errorCode": .int(Int64(status)), "errorDescription": .string(words)],
            headers: headers
        )
    }

    /// The fields of JSON, of a form or of the query.
    private static func message(of request: ReceiverRequest) -> Result<JSONObject, LenientJSON.Unreadable> {
        var fields = JSONObject()
        for item in request.query + request.form { fields[item.name] = .string(item.value) }
        let first = request.body.first { $0 > 0x20 }
        guard !request.isForm || first == UInt8(ascii: "{"), first != nil else { return .success(fields) }
        return LenientJSON.object(request.body).map { object in
            var object = object
            for field in fields where object[field.key] == nil { object[field.key] = field.value }
            return object
        }
    }

    private static func priority(_ number: Int64) -> Int {
        switch number {
        case ...0: 1
        case 1...3: 2
        case 4...5: 3
        case 6...7: 4
        default: 5
        }
    }

    /// What `extras` add; a sentence when something in them is not understood.
    private static func fill(_ event: inout SenderEvent, from extras: JSONObject) -> String? {
        let notification = extras["client::notification"]
        event.url = notification?["click"]?.filled("url")
        event.image = notification?.filled("bigImageUrl")
        if extras["client::display"]?.filled("contentType") == "text/markdown" { event.data["markdown"] = event.body }
        guard let incident = extras["tocsin::incident"]?.objectValue else { return nil }
        let word = incident.filled("action") ?? "trigger"
        guard let key = incident.filled("key"), let action = SenderEvent.Action(rawValue: word) else {
            return
                "'tocsin::incident' was left out: it must have a key, and an action of trigger, acknowledge, resolve."
        }
        (event.action, event.key, event.isOfIncident) = (action, key, true)
        return nil
    }

    /// A number that stays the same for an integration.
    private static func number(of integration: Integration) -> Int64 {
        Int64(integration.id.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 } >> 1)
    }
}
