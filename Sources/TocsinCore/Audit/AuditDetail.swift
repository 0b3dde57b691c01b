/// What an audit event says beyond its columns: a JSON object of at most 4 KiB.
package struct AuditDetail: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The name of a member.
    package typealias Key = String
    /// The value of a member; nil leaves it out.
    package typealias Value = Member?

    /// A member's value.
    package enum Member: Sendable, Hashable {
        case text(String)
        case int(Int64)
        case bool(Bool)
        case list([String])
    }

    /// What the object may have, in UTF-8.
    package static let maximumBytes = 4096
    /// What one text may have, in UTF-8; the rest is cut off.
    package static let maximumTextBytes = 512

    private var members: [(name: String, value: Member)] = []

    /// Members in the order in which they are given; nil leaves one out.
    package init(dictionaryLiteral members: (String, Value)...) {
        for case (let name, let value?) in members { self.members.append((name, value)) }
    }

    /// The value of a member; nil removes it.
    package subscript(name: String) -> Value {
        get { members.first { $0.name == name }?.value }
        set {
            members.removeAll { $0.name == name }
            if let newValue { members.append((name, newValue)) }
        }
    }

    /// The object's JSON.
    ///
    /// What finds no room is left out, and `"cut": true` says so.
    package var json: String {
        var json = "{"
        var isCut = false
        for (name, value) in members {
            let member = (json == "{" ? "" : ",") + Self.string(name) + ":" + Self.text(of: value)
            if json.utf8.count + member.utf8.count > Self.maximumBytes - Self.cut.utf8.count - 2 {
                isCut = true
            } else {
                json += member
            }
        }
        if isCut { json += (json == "{" ? "" : ",") + Self.cut }
        return json + "}"
    }

    private static let cut = "\"cut\":true"

    private static func text(of value: Member) -> String {
        switch value {
        case .text(let text): string(text)
        case .int(let number): "\(number)"
        case .bool(let isTrue): isTrue ? "true" : "false"
        case .list(let texts): "[" + texts.map(string).joined(separator: ",") + "]"
        }
    }

    /// A JSON string of a text's beginning.
    private static func string(_ text: String) -> String {
        var (kept, bytes) = ("", 0)
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= maximumTextBytes else { return JSONMapText.text(kept + "…") }
            kept.unicodeScalars.append(scalar)
        }
        return JSONMapText.text(kept)
    }

    /// Whether both have the same members with the same values, in the same order.
    package static func == (left: Self, right: Self) -> Bool { left.json == right.json }

    /// Hashes the JSON.
    package func hash(into hasher: inout Hasher) { hasher.combine(json) }
}

extension AuditDetail.Member: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A text.
    package init(stringLiteral text: String) { self = .text(text) }
    /// A number.
    package init(integerLiteral number: Int64) { self = .int(number) }
    /// A truth.
    package init(booleanLiteral isTrue: Bool) { self = .bool(isTrue) }
}
