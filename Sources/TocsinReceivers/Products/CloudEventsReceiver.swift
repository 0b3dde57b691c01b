import Encodings
import JSON
package import TocsinCore

/// CloudEvents 1.0 over HTTP: binary, structured and batched.
package struct CloudEventsReceiver: Receiver {
    /// The most events of a batch.
    package static let maximumEvents = 1000
    private static let structured = "application/cloudevents+json"
    private static let batch = "application/cloudevents-batch+json"

    /// A receiver without state.
    package init() {}

    /// `CLOUDEVENTS`.
    package var kind: Integration.Kind { .cloudEvents }
    /// `POST`, and `OPTIONS` for the handshake of the web hooks' standard.
    package var methods: [String] { ["POST", "OPTIONS"] }

    /// One event, or all of a batch.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        switch request.method {
        case "OPTIONS": return handshake(request, context)
        case "POST": break
        default: return .refused(.methodNotAllowed)
        }
        let objects: [JSONObject]
        switch Self.objects(of: request) {
        case .success(let read)?: objects = read
        case .failure(let error)?: return .refused(.badInput([error.reason]))
        case nil: return .refused(.unsupportedType)
        }
        guard objects.count <= Self.maximumEvents else {
            return .refused(
                .badInput(["The batch has \(objects.count) events; at most \(Self.maximumEvents) are taken."])
            )
        }
        var severity = SeverityReader(context.integration)
        var (events, problems, notes) = ([SenderEvent](), [String](), [String]())
        for (index, object) in objects.enumerated() {
            let place = objects.count > 1 ? "events[\(index)]: " : ""
            let missing = ["id", "source", "type"].filter { object.filled($0) == nil }
            if !missing.isEmpty {
                problems.append("\(place)\(missing.map { "'\($0)'" }.joined(separator: ", ")) must be there.")
                continue
            }
            guard object.filled("specversion") == "1.0" else {
                problems.append("\(place)'specversion' must be 1.0.")
                continue
            }
            events.append(Self.event(object, &severity, &notes).bounded(in: context))
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

    /// HTTP 1.1 Web Hooks for Event Delivery, §4.
    private func handshake(_ request: ReceiverRequest, _ context: ReceiverContext) -> Reading {
        guard let origin = request.header("WebHook-Request-Origin"), origin.utf8.count <= 256,
            origin.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return .refused(.badInput(["'WebHook-Request-Origin' must be there."])) }
        let headers = [
            ReceiverRequest.Item("WebHook-Allowed-Origin", origin),
            ReceiverRequest.Item("WebHook-Allowed-Rate", String(context.ratePerMinute)),
            ReceiverRequest.Item("Allow", methods.joined(separator: ", ")),
        ]
        return .answered(ReceiverAnswer(200, headers: headers))
    }

    /// The events as the JSON form has them; nil: the body is of another type.
    private static func objects(of request: ReceiverRequest) -> Result<[JSONObject], LenientJSON.Unreadable>? {
        if request.mediaType == batch {
            do throws(JSONError) {
                guard let values = try LenientJSON.parse(request.body).arrayValue else {
                    return .failure(LenientJSON.Unreadable("A batch must be a list."))
                }
                let objects = values.compactMap(\.objectValue)
                guard objects.count == values.count else {
                    return .failure(LenientJSON.Unreadable("Each member of the batch must be an object."))
                }
                return .success(objects)
            } catch {
                return .failure(LenientJSON.Unreadable("The body is not JSON: \(error)."))
            }
        }
        if request.header("ce-specversion") != nil || request.header("ce-id") != nil {
            return .success([binary(request)])
        }
        if request.mediaType == structured { return LenientJSON.object(request.body).map { [$0] } }
        // Scripts post the JSON form without saying so.
        if !request.mediaType.hasPrefix("application/cloudevents"),
            case .success(let object) = LenientJSON.object(request.body), object["specversion"] != nil
        {
            return .success([object])
        }
        return nil
    }

    /// The attributes of the headers, the body as data.
    private static func binary(_ request: ReceiverRequest) -> JSONObject {
        var object = JSONObject()
        for header in request.headers where header.name.lowercased().hasPrefix("ce-") {
            let value = QueryText.decoded(header.value.trimmed, plusIsSpace: false)
            object[String(header.name.lowercased().dropFirst(3))] = .string(value)
        }
        let isJSON = request.mediaType.hasSuffix("json")
        if isJSON, case .success(let data) = Result(catching: { try LenientJSON.parse(request.body) }) {
            object["data"] = data
        } else if !request.body.isEmpty {
            object["data"] = .string(String(decoding: request.body, as: UTF8.self))
        }
        return object
    }

    private static func event(
        _ object: JSONObject,
        _ severity: inout SeverityReader,
        _ notes: inout [String]
    ) -> SenderEvent {
        let (source, id) = (object.filled("source") ?? "", object.filled("id") ?? "")
        var event = SenderEvent(.log, title: object.filled("type") ?? "", body: body(of: object))
        event.messageKey = "\(source) \(id)"
        for name in ["source", "type", "subject"] { event.labels[name] = object.filled(name) }
        event.occurredAt = SenderTime.read(object["time"])
        event.priority = severity.priority(of: object.filled("severity"))
        event.url = object["data"]?.filled("url")
        event.data["id"] = id
        guard let key = object.filled("incident") else { return event }
        let word = object.filled("action") ?? "trigger"
        if let action = SenderEvent.Action(rawValue: word) {
            (event.action, event.key) = (action, key)
        } else {
            notes.append("The action \"\(word.withoutControls.cut(toBytes: 64))\" is none: a plain message was made.")
        }
        return event
    }

    private static func body(of object: JSONObject) -> String {
        if let text = object["data_base64"]?.stringValue {
            return Base64URL.decodedPasted(text).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        guard let data = object["data"] else { return "" }
        if let text = data.objectValue?.filled(["message", "text", "body", "summary", "description"]) { return text }
        return data.compactText
    }
}
