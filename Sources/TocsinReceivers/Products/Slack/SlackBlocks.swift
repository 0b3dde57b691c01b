import JSON
import TocsinCore

/// The blocks of a message, read for their texts.
struct SlackBlocks {
    /// The first header.
    private(set) var header: String?
    /// All other texts, a line each.
    private(set) var text = ""
    /// The first picture.
    private(set) var image: String?
    /// Buttons that open an address.
    private(set) var buttons: [SenderEvent.Link] = []
    /// Addresses inside texts.
    private(set) var links: [SenderEvent.Link] = []

    /// Whether there is nothing to show.
    var isEmpty: Bool { header == nil && text.isEmpty && image == nil && buttons.isEmpty }

    init(_ value: JSONValue?) {
        var lines: [String] = []
        for block in value?.arrayValue?.prefix(SlackMessage.maximum) ?? [] { read(block, &lines) }
        text = lines.map(\.trimmed).filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private mutating func read(_ block: JSONValue, _ lines: inout [String]) {
        switch block.filled("type") {
        case "header" where header == nil: header = plain(block["text"])
        case "section":
            lines.append(plain(block["text"]))
            for field in block["fields"]?.arrayValue?.prefix(SlackMessage.maximum) ?? [] {
                lines.append(plain(field).replacing("\n", with: ": ", maxReplacements: 1))
            }
            if let accessory = block["accessory"] { readElement(accessory, &lines) }
        case "context", "actions":
            for element in block["elements"]?.arrayValue?.prefix(SlackMessage.maximum) ?? [] {
                readElement(element, &lines)
            }
        case "image": readElement(block, &lines)
        case "divider": break
        default: lines.append(Self.texts(of: block, depth: 0))
        }
    }

    private mutating func readElement(_ element: JSONValue, _ lines: inout [String]) {
        switch element.filled("type") {
        case "button":
            guard let url = SenderURL.checked(element.filled("url")) else { return }
            buttons.append(SenderEvent.Link(text: plain(element["text"]), url: url))
        case "image":
            if image == nil { image = element.filled("image_url") }
            lines.append(element["title"].map { plain($0) } ?? element.filled("alt_text") ?? "")
        default: lines.append(plain(element))
        }
    }

    /// The text of a text object, or of a text.
    private mutating func plain(_ value: JSONValue?) -> String {
        guard let text = value?.senderText ?? value?["text"]?.senderText else { return "" }
        if links.count < SenderEvent.maximumLinks { links += SlackMarkup.links(text) }
        return SlackMarkup.plain(text)
    }

    /// All texts inside a block that has no rule of its own, as in rich text.
    private static func texts(of value: JSONValue, depth: Int) -> String {
        guard depth < 16 else { return "" }
        if let values = value.arrayValue {
            return values.prefix(1000).map { texts(of: $0, depth: depth + 1) }.joined()
        }
        guard let object = value.objectValue else { return "" }
        if let text = object["text"]?.senderText { return text }
        if let text = object["text"], text.objectValue != nil { return texts(of: text, depth: depth + 1) }
        if object.filled("type") == "emoji" { return object.filled("name").map { Emoji.named($0) ?? ":\($0):" } ?? "" }
        if let url = object.filled("url") { return url }
        guard let elements = object["elements"] else { return "" }
        let isLines = ["rich_text", "rich_text_list"].contains(object.filled("type"))
        guard isLines, let values = elements.arrayValue else { return texts(of: elements, depth: depth + 1) }
        return values.prefix(1000).map { texts(of: $0, depth: depth + 1) }.joined(separator: "\n")
    }
}
