import JSON
package import TocsinCore

/// ntfy's way to publish: a body and headers, a query, or JSON.
package struct NtfyReceiver: Receiver {
    /// A receiver without state.
    package init() {}

    /// `NTFY`.
    package var kind: Integration.Kind { .ntfy }
    /// `POST`, `PUT`, `GET` for `/{topic}/publish`, `DELETE` for a sequence.
    package var methods: [String] { ["POST", "PUT", "GET", "DELETE"] }

    /// The topic that a request names, by its path or in its JSON; nil: none, as under `/in/{key}`.
    package static func topic(of request: ReceiverRequest) -> String? {
        if case .success(let message) = NtfyMessage.read(request) { return message.topic }
        // What is wrong with it is told to whoever has the key of its topic.
        if request.segments.isEmpty, case .success(let json) = LenientJSON.object(request.body) {
            return json["topic"]?.stringValue
        }
        return request.segments.first == "in" ? nil : request.segments.first
    }

    /// A body as its integration's owner and editors are shown it: what a button of kind `http`
    /// asks for is the server's alone to know, and `***` here.
    package static func shownBody(of request: ReceiverRequest) -> [UInt8] {
        guard request.body.firstRange(of: Array("actions".utf8)) != nil,
            case .success(var body) = LenientJSON.object(request.body),
            let actions = body["actions"]?.arrayValue, actions.contains(where: NtfyAction.isCall)
        else { return request.body }
        body["actions"] = .array(actions.map { NtfyAction.isCall($0) ? NtfyAction.withoutCall($0) : $0 })
        return Array(JSONValue.object(body).serializedString().utf8)
    }

    /// The events of a request, whose JSON the receiver reads that it names (`X-Template`), where
    /// `receiver` knows one of that name: its incidents open and end whatever the grouping is.
    package func read(
        _ request: ReceiverRequest,
        in context: ReceiverContext,
        by receiver: (String) -> (any Receiver)?
    ) -> Reading {
        let name = NtfyParameters(request, json: nil).value("X-Template", "Template", "tpl")
        guard let named = name.flatMap(receiver) else { return read(request, in: context) }
        // curl calls a body a form where nobody says what it is.
        let others = request.headers.filter { $0.name.lowercased() != "content-type" }
        let json = ReceiverRequest(
            method: request.method,
            target: request.path,
            headers: others + [.init("Content-Type", "application/json")],
            body: request.body,
            receivedAt: request.receivedAt
        )
        let reading = named.read(json, in: context)
        guard case .events(var events, let notes) = reading else { return reading }
        for index in events.indices { events[index].isOfIncident = true }
        return .events(events, notes: notes)
    }

    /// A message, or an event where `X-Incident` names one.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        switch NtfyMessage.read(request) {
        case .failure(let fault): return .refused(fault.fault)
        case .success(let message):
            var notes: [String] = []
            let event = message.event(in: context, &notes)
            return .events([event.bounded(in: context)], notes: notes)
        }
    }

    /// The message as ntfy tells it.
    package func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer {
        guard case .success(let message) = NtfyMessage.read(request) else { return ReceiverAnswer(200, json: [:]) }
        let outcome = accepted.outcomes.first
        let time = (accepted.events.first?.dueAt ?? request.receivedAt).milliseconds / 1000
        let id = outcome?.messageID ?? outcome?.incidentID ?? outcome?.scheduledID
        var json: JSONObject = ["id": .string(id ?? ""), "time": .int(time)]
        json["event"] = .string(message.kind.rawValue)
        json["topic"] = .string(message.topic ?? accepted.topicName)
        if let sequence = message.sequence { json["sequence_id"] = .string(sequence) }
        guard message.kind == .message else { return ReceiverAnswer(200, json: .object(json)) }
        if let title = message.title { json["title"] = .string(title) }
        json["message"] = .string(message.text)
        if let priority = message.priority { json["priority"] = .int(Int64(priority)) }
        if !message.tags.isEmpty { json["tags"] = .array(message.tags.map(JSONValue.string)) }
        if let click = message.click { json["click"] = .string(click) }
        if let icon = message.icon { json["icon"] = .string(icon) }
        return ReceiverAnswer(200, json: .object(json))
    }

    /// `{"code", "http", "error"}` with ntfy's numbers.
    package func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        switch fault {
        case .unauthenticated: Self.error(40101, "unauthorized")
        case .badInput(let words, let code):
            Self.error(code ?? 40000, "invalid request: " + words.joined(separator: " "))
        case .unsupportedType: Self.error(40000, "invalid request: the body's type is not taken")
        case .tooLarge(let code):
            Self.error(code ?? 41301, "message too large, not UTF-8, or a file: there are no files here")
        case .rateLimited(let seconds):
            Self.error(
                42901,
                "limit reached: too many requests, please be nice",
                NativeAnswers.headers(retryAfter: seconds)
            )
        case .lockedOut(let seconds):
            Self.error(
                42909,
                "limit reached: too many auth failures; request failed",
                NativeAnswers.headers(retryAfter: seconds)
            )
        case .unavailable(let seconds):
            Self.error(50301, "the message could not be stored", NativeAnswers.headers(retryAfter: seconds))
        case .methodNotAllowed: Self.error(40501, "method not allowed", NativeAnswers.headers(allow: methods))
        case .notFound: Self.error(40401, "page not found")
        }
    }

    private static func error(_ code: Int, _ words: String, _ headers: [ReceiverRequest.Item] = []) -> ReceiverAnswer {
        ReceiverAnswer(
            code / 100,
            json: ["code": .int(Int64(code)), "http": .int(Int64(code / 100)), "error": .string(words)],
            headers: headers
        )
    }
}
