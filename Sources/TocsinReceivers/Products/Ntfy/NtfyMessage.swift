import JSON
import TocsinCore

/// A message as ntfy's clients publish it.
struct NtfyMessage {
    /// ntfy's names of what a request does.
    enum Kind: String {
        case message
        case clear = "message_clear"
        case delete = "message_delete"
    }

    /// Why nothing can be taken, with ntfy's number.
    struct Refusal: Error {
        let fault: ReceiverFault

        init(_ code: Int, _ words: String) { fault = .badInput([words], code: code) }
        init(_ fault: ReceiverFault) { self.fault = fault }
    }

    private(set) var kind = Kind.message
    /// As it was written, in the path or in JSON.
    private(set) var topic: String?
    private(set) var title: String?
    private(set) var text = ""
    private(set) var priority: Int?
    private(set) var tags: [String] = []
    private(set) var click: String?
    private(set) var icon: String?
    private(set) var attachment: SenderEvent.Link?
    private(set) var isMarkdown = false
    private(set) var dueAt: Timestamp?
    private(set) var sequence: String?
    private(set) var actions: [NtfyAction] = []
    private(set) var isPushed = true
    private(set) var key: String?
    private(set) var incident: (key: String, action: SenderEvent.Action)?

    /// The message of a request.
    static func read(_ request: ReceiverRequest) -> Result<NtfyMessage, Refusal> {
        Result { () throws(Refusal) -> NtfyMessage in try NtfyMessage(request) }
    }

    private init(_ request: ReceiverRequest) throws(Refusal) {
        let isIn = request.segments.first == "in"
        let tail = isIn ? request.rest : Array(request.segments.dropFirst())
        topic = isIn ? nil : request.segments.first
        try readPath(tail, request.method)
        guard kind == .message else { return }
        let json = try Self.json(of: request, isRoot: topic == nil, isNeeded: !isIn)
        let parameters = NtfyParameters(request, json: json)
        topic = topic ?? json?.filled("topic")
        if topic == nil, !isIn { throw Refusal(40009, "topic invalid: the JSON names none") }
        try readText(request, parameters, hasJSON: json != nil)
        try readRest(parameters, request.receivedAt)
    }

    /// The event that it is.
    func event(in context: ReceiverContext, _ notes: inout [String]) -> SenderEvent {
        var event = SenderEvent(.log)
        event.collapseKey = sequence.map { "ntfy/\($0)" }
        guard kind == .message else {
            (event.title, event.priority) = (kind == .clear ? "Cleared" : "Deleted", 1)
            event.data["ntfy"] = kind.rawValue
            event.isWithdrawal = true
            return event
        }
        let emoji = tags.compactMap { Emoji.named($0) }.joined()
        event.title = [emoji, title ?? context.topicName].filter { !$0.isEmpty }.joined(separator: " ")
        event.body = isMarkdown ? MarkdownText.plain(text) : text
        event.priority = priority ?? 3
        event.url = SenderURL.checked(click)
        if let click, event.url == nil { event.data["click"] = click }
        if !tags.isEmpty { event.labels["tags"] = tags.joined(separator: ",") }
        if isMarkdown { event.data["markdown"] = text }
        event.data["icon"] = icon
        if let attachment {
            if Self.isPicture(attachment.url) { event.image = attachment.url } else { event.links.append(attachment) }
        }
        for (index, action) in actions.enumerated() { action.add(to: &event, number: index + 1, context, &notes) }
        (event.isPushed, event.dueAt, event.messageKey) = (isPushed, dueAt, key)
        if let incident {
            (event.action, event.key, event.isOfIncident) = (incident.action, incident.key, true)
            if !event.buttons.isEmpty {
                event.buttons = []
                notes.append("'Actions' were left out: an incident has buttons of its own.")
            }
            if dueAt != nil {
                event.dueAt = nil
                notes.append("'Delay' was left out: what becomes of an incident is told at once.")
            }
        }
        return event
    }

    /// What follows the topic: nothing, a word for publishing, a sequence.
    private mutating func readPath(_ tail: [String], _ method: String) throws(Refusal) {
        let isPublishing = tail.count == 1 && ["publish", "send", "trigger"].contains(tail[0])
        if isPublishing || tail.isEmpty {
            guard method != "DELETE", isPublishing || method != "GET" else { throw Refusal(.methodNotAllowed) }
            return
        }
        guard method != "GET", tail.count == 1 || (tail.count == 2 && tail[1] == "clear" && method != "DELETE") else {
            throw Refusal(.notFound)
        }
        sequence = try Self.sequence(tail[0])
        if tail.count == 2 { kind = .clear } else if method == "DELETE" { kind = .delete }
    }

    private static func json(of request: ReceiverRequest, isRoot: Bool, isNeeded: Bool) throws(Refusal) -> JSONObject? {
        guard isRoot, request.method != "GET" else { return nil }
        let isObject = request.body.first { $0 > 0x20 } == UInt8(ascii: "{")
        guard isNeeded || isObject else { return nil }
        switch LenientJSON.object(request.body) {
        case .success(let object):
            return isNeeded || object["message"] != nil || object["topic"] != nil || object["title"] != nil
                ? object : nil
        case .failure(let error):
            guard isNeeded else { return nil }
            throw Refusal(40017, "request body must be message JSON. \(error.reason)")
        }
    }

    private mutating func readText(
        _ request: ReceiverRequest,
        _ parameters: NtfyParameters,
        hasJSON: Bool
    ) throws(Refusal) {
        title = parameters.value(json: "title", "X-Title", "Title", "t")
        var given = parameters.value(json: "message", "X-Message", "Message", "m")
        if !hasJSON {
            given = given?.replacing("\\n", with: "\n")
            guard let body = String(validating: request.body, as: UTF8.self) else {
                throw Refusal(.tooLarge(code: 41301))
            }
            given = [given ?? "", body.withoutControls.trimmed].filter { !$0.isEmpty }.joined(separator: "\n")
        }
        text = given ?? ""
        guard text.utf8.count <= SenderEvent.maximumBodyBytes else {
            throw Refusal(.tooLarge(code: hasJSON ? 41303 : 41301))
        }
        if text.isEmpty { text = "triggered" }
    }

    private mutating func readRest(_ parameters: NtfyParameters, _ now: Timestamp) throws(Refusal) {
        if parameters.value(json: "email", "X-Email", "Email", "X-E-Mail", "E-Mail", "Mail", "e") != nil {
            throw Refusal(40001, "e-mail notifications are not enabled")
        }
        if parameters.value(json: "call", "X-Call", "Call", "phone") != nil {
            throw Refusal(40032, "calling is disabled")
        }
        if let word = parameters.value(json: "priority", "X-Priority", "Priority", "prio", "p") {
            priority = try Self.priority(word)
        }
        tags = Self.tags(parameters)
        click = parameters.value(json: "click", "X-Click", "Click")
        icon = parameters.value(json: "icon", "X-Icon", "Icon")
        let filename = parameters.value(json: "filename", "X-Filename", "Filename", "file", "f")
        if let attached = parameters.value(json: "attach", "X-Attach", "Attach", "a") {
            guard let url = SenderURL.checked(attached) else { throw Refusal(40013, "attachment URL is invalid") }
            attachment = SenderEvent.Link(text: filename ?? "Attachment", url: url)
        } else if filename != nil {
            throw Refusal(.tooLarge(code: 41301))
        }
        isMarkdown =
            Self.isTrue(parameters.value(json: "markdown", "X-Markdown", "Markdown", "md"))
            || parameters.value("Content-Type")?.lowercased().hasPrefix("text/markdown") == true
        isPushed = parameters.value(json: "firebase", "X-Firebase", "Firebase").map(Self.isTrue) ?? true
        if let delay = parameters.value(json: "delay", "X-Delay", "Delay", "X-At", "At", "X-In", "In") {
            dueAt = try NtfyDelay.moment(delay, after: now)
        }
        if let text = parameters.value(json: "sequence_id", "X-Sequence-ID", "Sequence-ID", "sid") {
            sequence = try Self.sequence(text)
        }
        actions = try Self.actions(parameters)
        key = parameters.value("X-Key", "Idempotency-Key")
        try readIncident(parameters)
    }

    private mutating func readIncident(_ parameters: NtfyParameters) throws(Refusal) {
        guard let key = parameters.value("X-Incident") else { return }
        let word = parameters.value("X-Incident-Action")?.lowercased() ?? "trigger"
        guard let action = SenderEvent.Action(rawValue: word), [.trigger, .acknowledge, .resolve].contains(action)
        else {
            throw Refusal(40000, "X-Incident-Action must be trigger, acknowledge or resolve")
        }
        incident = (key, action)
    }

    private static func priority(_ word: String) throws(Refusal) -> Int? {
        switch word.lowercased() {
        case "0": return nil
        case "1", "min": return 1
        case "2", "low": return 2
        case "3", "default": return 3
        case "4", "high": return 4
        case "5", "max", "urgent": return 5
        default: throw Refusal(40007, "priority invalid: it must be 1 to 5, min, low, default, high, max or urgent")
        }
    }

    private static func tags(_ parameters: NtfyParameters) -> [String] {
        let listed = parameters.member("tags")?.arrayValue?.prefix(64).compactMap(\.senderText)
        let texts =
            listed ?? parameters.value(json: "tags", "X-Tags", "Tags", "Tag", "ta")
            .map { $0.split(separator: ",", maxSplits: 64).prefix(64).map(String.init) } ?? []
        return texts.map { $0.withoutControls.trimmed.cut(toBytes: 128) }.filter { !$0.isEmpty }
    }

    private static func actions(_ parameters: NtfyParameters) throws(Refusal) -> [NtfyAction] {
        if let list = parameters.member("actions") { return try NtfyAction.read(list) }
        guard let text = parameters.value("X-Actions", "Actions", "Action") else { return [] }
        guard text.hasPrefix("[") else { return try NtfyAction.read(simple: text) }
        guard let list = try? LenientJSON.parse(Array(text.utf8)) else {
            throw Refusal(40018, "actions invalid: they are no JSON")
        }
        return try NtfyAction.read(list)
    }

    private static func sequence(_ text: String) throws(Refusal) -> String {
        let isAllowed = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x2D || $0 == 0x5F
        }
        guard isAllowed, (1...64).contains(text.utf8.count) else {
            throw Refusal(40049, "sequence ID invalid: 1 to 64 of letters, digits, - and _")
        }
        return text
    }

    private static func isTrue(_ text: String?) -> Bool { ["1", "yes", "true"].contains(text?.lowercased() ?? "") }

    private static func isPicture(_ url: String) -> Bool {
        let path = url.split(whereSeparator: { $0 == "?" || $0 == "#" }).first.map { $0.lowercased() } ?? ""
        return path.hasPrefix("https://") && [".png", ".jpg", ".jpeg", ".gif", ".webp"].contains { path.hasSuffix($0) }
    }
}
