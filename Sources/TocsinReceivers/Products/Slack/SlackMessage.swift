import JSON
import TocsinCore

/// A message with attachments and blocks.
struct SlackMessage {
    private let object: JSONObject
    private let text: String
    private let attachments: [JSONObject]
    private let blocks: SlackBlocks
    private let attachedBlocks: SlackBlocks

    /// The most attachments, blocks and fields of each that are read.
    static let maximum = 100

    init(_ object: JSONObject) {
        self.object = object
        text = SlackMarkup.plain(object["text"]?.senderText ?? "").trimmed
        attachments = (object["attachments"]?.arrayValue ?? []).prefix(Self.maximum).compactMap(\.objectValue)
        blocks = SlackBlocks(object["blocks"])
        attachedBlocks = SlackBlocks(attachments.lazy.compactMap { $0["blocks"] }.first)
    }

    /// Whether it says nothing at all.
    var isEmpty: Bool {
        text.isEmpty && blocks.isEmpty && attachedBlocks.isEmpty
            && attachments.allSatisfy { attached in
                ["title", "text", "fallback", "pretext", "image_url", "fields"].allSatisfy {
                    attached.filled($0) == nil && (attached[$0]?.arrayValue ?? []).isEmpty
                }
            }
    }

    /// The event that it is: a plain message, or with grouping a trigger or a resolve.
    func event(in context: ReceiverContext) -> SenderEvent {
        let title = title
        var event = SenderEvent(.log, title: title, body: body(without: title))
        event.priority = Self.priority(of: first?.filled("color"))
        event.links = links
        event.url = SenderURL.checked(first?.filled("title_link")) ?? event.links.first?.url
        event.image =
            (attachments.map { $0.filled(["image_url", "thumb_url"]) } + [blocks.image, attachedBlocks.image])
            .lazy.compactMap { SenderURL.secure($0) }.first
        event.buttons = (blocks.buttons + attachedBlocks.buttons).prefix(3).enumerated().map { index, link in
            SenderEvent.Button(id: "open\(index + 1)", title: link.text, url: link.url)
        }
        event.occurredAt = SenderTime.read(first?["ts"])
        for name in ["username", "channel", "thread_ts", "icon_emoji", "icon_url"] {
            event.labels[name] = object.filled(name)
        }
        if context.integration.grouping != .none { group(&event) }
        return event
    }

    private var first: JSONObject? { attachments.first }

    private var title: String {
        let attached = first?.filled("title").map(SlackMarkup.plain)
        let candidates = [
            attached, blocks.header, attachedBlocks.header, text.firstLine, blocks.text.firstLine,
            (first?.filled(["pretext", "text", "fallback"])).map { SlackMarkup.plain($0).firstLine },
            attachedBlocks.text.firstLine, object.filled("username"),
        ]
        return candidates.lazy.compactMap { $0?.trimmed }.first { !$0.isEmpty } ?? ""
    }

    /// Everything that is read, each once, without what the title says.
    private func body(without title: String) -> String {
        var (lines, seen): ([String], Set<String>) = ([], [title])
        func add(_ text: String?) {
            guard let text = text?.trimmed, !text.isEmpty, seen.insert(text).inserted else { return }
            lines.append(text)
        }
        // The text is what stands in a notification where blocks cannot be shown.
        if blocks.isEmpty {
            let isFirstLine = text.firstLine == title && text.hasPrefix(title)
            add(isFirstLine ? String(text.dropFirst(title.count)) : text)
        }
        add(blocks.text)
        for attached in attachments {
            add(attached.filled("pretext").map(SlackMarkup.plain))
            add(attached.filled("title").map(SlackMarkup.plain))
            add(attached.filled("text").map(SlackMarkup.plain))
            for field in attached["fields"]?.arrayValue?.prefix(Self.maximum) ?? [] {
                let parts = [field.filled("title"), field.filled("value")].compactMap { $0.map(SlackMarkup.plain) }
                add(parts.joined(separator: ": "))
            }
            add(SlackBlocks(attached["blocks"]).text)
            add(attached.filled("footer").map(SlackMarkup.plain))
        }
        if lines.isEmpty, let text = first?.filled("fallback").map(SlackMarkup.plain), !text.hasPrefix(title) {
            add(text)
        }
        return lines.joined(separator: "\n")
    }

    private var links: [SenderEvent.Link] {
        var links: [SenderEvent.Link] = []
        for attached in attachments {
            if let url = SenderURL.checked(attached.filled("title_link")) {
                links.append(SenderEvent.Link(text: SlackMarkup.plain(attached.filled("title") ?? ""), url: url))
            }
            for action in attached["actions"]?.arrayValue?.prefix(Self.maximum) ?? [] {
                guard let url = SenderURL.checked(action.filled("url")) else { continue }
                links.append(SenderEvent.Link(text: action.filled("text") ?? "", url: url))
            }
        }
        links += blocks.buttons + attachedBlocks.buttons
        return links + SlackMarkup.links(object["text"]?.senderText ?? "") + blocks.links
    }

    /// What becomes an incident: the same title is the same thing, whatever its state.
    private func group(_ event: inout SenderEvent) {
        let isOver = first?.filled("color")?.lowercased() == "good" || event.title.hasPrefix("[RESOLVED")
        event.title = GrafanaReceiver.withoutBracket(event.title)
        // Alertmanager's link is of its receiver: it is the same for all groups.
        let link = first?.filled("title_link").flatMap { $0.contains("#/alerts?receiver=") ? nil : $0 }
        (event.action, event.key) = (isOver ? .resolve : .trigger, link ?? event.title)
    }

    static func priority(of color: String?) -> Int? {
        switch color?.lowercased() {
        case "danger": return 4
        case "warning": return 3
        case "good": return 2
        case let color?:
            let digits = color.hasPrefix("#") ? String(color.dropFirst()) : color
            guard let bytes = HexText.bytes(of: digits), bytes.count == 3 else { return nil }
            return bytes[0] >= 0xB0 && bytes[1] < 0x70 && bytes[2] < 0x70 ? 4 : nil
        case nil: return nil
        }
    }
}
