import Foundation

/// A page on senders, with its blocks and the addresses that its text names.
struct SenderPage: CustomStringConvertible {
    /// A fenced block.
    struct Block {
        let number: Int
        let language: String
        let text: String
    }

    /// A path that senders are told to use, with `KEY` where the key stands.
    struct Address: Hashable {
        let method: String?
        let path: String
    }

    /// The file's name without its end, as in `alertmanager`.
    let name: String
    let text: String
    let blocks: [Block]

    var description: String { "docs/…/\(name).md" }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// The overview and all pages of `docs/monitoring`.
    static let all: [SenderPage] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root + "/docs/monitoring")) ?? []
        return (["monitoring.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "monitoring/" + $0 })
            .compactMap(SenderPage.init(file:))
    }()

    private init?(file: String) {
        guard let text = try? String(contentsOfFile: Self.root + "/docs/" + file, encoding: .utf8) else { return nil }
        name = String(file.split(separator: "/").last?.dropLast(3) ?? "")
        let fence = /```([a-z]*)\n(.*?)```/.dotMatchesNewlines()
        self.text = text.replacing(fence, with: "")
        blocks = text.matches(of: fence).enumerated().map {
            Block(number: $0.offset + 1, language: String($0.element.output.1), text: String($0.element.output.2))
        }
    }

    /// The addresses in the text beside the blocks, whole or as a path in a span of code.
    var addresses: Set<Address> {
        var found: Set<Address> = []
        for match in text.matches(of: /https:\/\/tocsin\.example(\/[^\s`"')|]+)/) {
            found.insert(Address(method: nil, path: String(match.output.1)))
        }
        let span = /`(?:(GET|POST) )?(\/(?:in|ping|api\/push|hooks|services|v2|message|version|health)[^`\s]*)`/
        for match in text.matches(of: span) where !match.output.2.contains("…") {
            found.insert(Address(method: match.output.1.map { String($0) }, path: String(match.output.2)))
        }
        return found
    }

    /// Text of the page, with an address and a key where the reader puts theirs.
    static func filled(_ text: some StringProtocol, address: String, key: String) -> String {
        let kept = ["TOCSIN_KEY_FILE", "MAIL_KEY", "EVENT_KEY"]
        var text = String(text).replacing(/https:\/\/tocsin(-[0-9])?\.example/, with: address)
        for (number, word) in kept.enumerated() { text = text.replacing(word, with: "\u{1}\(number)\u{1}") }
        text = text.replacing("KEY", with: key)
        for (number, word) in kept.enumerated() { text = text.replacing("\u{1}\(number)\u{1}", with: word) }
        return text
    }
}
