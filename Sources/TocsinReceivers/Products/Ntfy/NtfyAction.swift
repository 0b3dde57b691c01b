import JSON
import TocsinCore

/// A button of ntfy's.
struct NtfyAction {
    private static let maximum = 3

    private let action: String
    private let label: String
    private let url: String?
    /// As it was written.
    private let address: String
    private let method: String
    private let headers: [String: String]
    private let body: String
    private let intent: String?
    private let extras: [String: String]

    /// The actions of their JSON form.
    static func read(_ list: JSONValue) throws(NtfyMessage.Refusal) -> [NtfyAction] {
        guard let values = list.arrayValue else { throw refusal("they must be a list") }
        var actions: [NtfyAction] = []
        guard values.count <= maximum else { throw refusal("at most \(maximum) are taken") }
        for value in values {
            guard let object = value.objectValue else { throw refusal("each must be an object") }
            actions.append(try NtfyAction(object))
        }
        return actions
    }

    /// The actions of their short form: `view, Open, https://…, clear=true; http, …`.
    static func read(simple text: String) throws(NtfyMessage.Refusal) -> [NtfyAction] {
        var list: [JSONValue] = []
        for fields in try NtfyActionText.actions(in: text) {
            var (object, headers, extras) = (JSONObject(), JSONObject(), JSONObject())
            for (index, field) in fields.enumerated() {
                let positions = ["action", "label", fields.first?.value == "broadcast" ? "intent" : "url"]
                guard let name = field.name ?? (index < positions.count ? positions[index] : nil) else {
                    throw refusal("\"\(field.value.cut(toBytes: 64))\" has no name")
                }
                if name.hasPrefix("headers.") {
                    headers[String(name.dropFirst(8))] = .string(field.value)
                } else if name.hasPrefix("extras.") {
                    extras[String(name.dropFirst(7))] = .string(field.value)
                } else {
                    object[name] = .string(field.value)
                }
            }
            if !headers.isEmpty { object["headers"] = .object(headers) }
            if !extras.isEmpty { object["extras"] = .object(extras) }
            list.append(.object(object))
        }
        return try read(.array(list))
    }

    private init(_ object: JSONObject) throws(NtfyMessage.Refusal) {
        action = object.filled("action")?.lowercased() ?? ""
        label = object.filled("label") ?? ""
        address = object.filled("url")?.trimmed ?? ""
        url = SenderURL.checked(address)
        method = object.filled("method")?.uppercased() ?? "POST"
        headers = (object["headers"]?.objectValue?.senderTexts ?? [:])
        body = object["body"]?.compactText ?? ""
        intent = object.filled("intent")
        extras = object["extras"]?.objectValue?.senderTexts ?? [:]
        guard ["view", "http", "broadcast"].contains(action) else {
            throw Self.refusal("an action must be view, http or broadcast")
        }
        guard !label.isEmpty else { throw Self.refusal("an action needs a label") }
        if action != "broadcast", url == nil { throw Self.refusal("the action \(label.cut(toBytes: 64)) needs a URL") }
    }

    /// What it is for us: a button, a link, or data for apps.
    func add(to event: inout SenderEvent, number: Int, _ context: ReceiverContext, _ notes: inout [String]) {
        switch (action, url) {
        case ("view", let url?):
            event.buttons.append(SenderEvent.Button(id: "view\(number)", title: label, url: url))
        case ("http", _?) where context.integration.allowsHTTPActions:
            let call = SenderEvent.Call(method: method, url: address, headers: headers, body: body)
            if let problem = ButtonCall.problem(of: call) {
                notes.append("The button \"\(label.cut(toBytes: 64))\" was left out, because \(problem).")
                return
            }
            // No address: it and the headers are for the server alone.
            var button = SenderEvent.Button(id: "http\(number)", title: label, url: nil)
            button.call = call
            event.buttons.append(button)
        case ("http", let url?):
            event.links.append(SenderEvent.Link(text: label, url: url))
            notes.append("The button \"\(label.cut(toBytes: 64))\" is a link: the integration allows no calls.")
        default:
            var object = JSONObject([("intent", .string(intent ?? "io.heckel.ntfy.USER_ACTION"))])
            for extra in extras.sorted(by: { $0.key < $1.key }) { object[extra.key] = .string(extra.value) }
            event.data["broadcast\(number)"] = JSONValue.object(object).serializedString()
        }
    }

    /// Whether an action as JSON is one that calls.
    static func isCall(_ value: JSONValue) -> Bool { value["action"]?.stringValue?.lowercased() == "http" }

    /// An action as JSON without what it asks for.
    static func withoutCall(_ value: JSONValue) -> JSONValue {
        guard var object = value.objectValue else { return value }
        for name in ["url", "headers", "body"] where object[name] != nil { object[name] = "***" }
        return .object(object)
    }

    static func refusal(_ words: String) -> NtfyMessage.Refusal {
        NtfyMessage.Refusal(40018, "actions invalid: \(words)")
    }
}
