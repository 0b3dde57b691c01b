import JSON
package import TocsinCore

/// Our own shape: `POST /in/{key}` with an event, a list of them, a form or a query.
package struct EventReceiver: Receiver {
    /// The most events of one request.
    package static let maximumEvents = 1000

    /// A receiver without state.
    package init() {}

    /// `EVENT`.
    package var kind: Integration.Kind { .event }
    /// `POST`.
    package var methods: [String] { ["POST"] }

    /// The events of a body, in its order; what the query says counts where one event says nothing.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        let objects: [JSONObject]
        switch Self.objects(of: request) {
        case .success(let read): objects = read
        case .failure(let error): return .refused(.badInput([error.reason]))
        }
        guard objects.count <= Self.maximumEvents else {
            return .refused(
                .badInput(["The list has \(objects.count) events; at most \(Self.maximumEvents) are taken."])
            )
        }
        var (events, problems, notes) = ([SenderEvent](), [String](), [String]())
        var severity = SeverityReader(context.integration)
        for (index, object) in objects.enumerated() {
            var reader = EventObject(object, place: objects.count > 1 ? "events[\(index)]: " : "")
            let event = reader.event(&severity)
            problems += reader.problems
            notes += reader.notes
            if let event { events.append(event.bounded(in: context)) }
        }
        guard problems.isEmpty else { return .refused(.badInput(Array(problems.prefix(10)))) }
        return .events(events, notes: Array((notes + severity.notes).prefix(20)))
    }

    /// 202 and what became of each event.
    package func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer {
        ReceiverAnswer(202, json: ["events": .array(accepted.outcomes.map(NativeAnswers.outcome))])
    }

    /// `{"error": {"code", "message"}}`.
    package func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        NativeAnswers.fault(fault, methods: methods)
    }

    private static func objects(of request: ReceiverRequest) -> Result<[JSONObject], LenientJSON.Unreadable> {
        let fields = object(of: request.query)
        let first = request.body.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }
        // `curl -d` says that JSON is a form: what it begins with counts, not what it is called.
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || request.mediaType == "application/json" {
            do throws(JSONError) {
                switch try LenientJSON.parse(request.body) {
                case .object(let object): return .success([filled(object, from: fields)])
                case .array(let values):
                    let objects = values.compactMap(\.objectValue)
                    guard objects.count == values.count else {
                        return .failure(LenientJSON.Unreadable("Each member of the list must be an object."))
                    }
                    return .success(objects)
                default: return .failure(LenientJSON.Unreadable("The body must be a JSON object or a list of them."))
                }
            } catch {
                return .failure(LenientJSON.Unreadable("The body is not JSON: \(error)."))
            }
        }
        if request.isForm { return .success([filled(object(of: request.form), from: fields)]) }
        guard first != nil || !fields.isEmpty else {
            return .failure(
                LenientJSON.Unreadable("The body is empty. Post an event: {\"action\":\"trigger\",\"title\":\"…\"}.")
            )
        }
        let text = String(decoding: request.body, as: UTF8.self)
        return .success([filled(first == nil ? [:] : ["body": .string(text)], from: fields)])
    }

    /// The fields of a form: `label.NAME=…` is a label.
    private static func object(of items: [ReceiverRequest.Item]) -> JSONObject {
        var (object, labels) = (JSONObject(), JSONObject())
        let secrets: Set<String> = ["token", "apikey", "access_token"]
        for item in items where !secrets.contains(item.name.lowercased()) {
            if item.name.hasPrefix("label.") {
                labels[String(item.name.dropFirst(6))] = .string(item.value)
            } else {
                object[item.name] = .string(item.value)
            }
        }
        if !labels.isEmpty { object["labels"] = .object(labels) }
        return object
    }

    private static func filled(_ object: JSONObject, from fields: JSONObject) -> JSONObject {
        var object = object
        for field in fields where object[field.key] == nil { object[field.key] = field.value }
        return object
    }
}
