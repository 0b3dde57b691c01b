/// The texts of stored JSON objects, merged without building their values.
///
/// The texts must be valid JSON without spaces between tokens: the API writes nothing else.
enum JSONObjectText {
    private struct Member {
        /// With its quotes.
        var name: String
        var value: String
    }

    /// The stored object with what it lacks taken from the given one, as AppSync's AUTOMERGE does.
    ///
    /// Objects inside are merged in turn, lists are joined, and all else stays.
    static func merged(_ stored: String, _ given: String) -> String {
        var members = members(of: stored)
        for addition in Self.members(of: given) {
            guard let position = members.firstIndex(where: { $0.name == addition.name }) else {
                members.append(addition)
                continue
            }
            members[position].value = joined(members[position].value, addition.value)
        }
        return "{" + members.map { $0.name + ":" + $0.value }.joined(separator: ",") + "}"
    }

    /// A member's value as it is written; nil where the object has none of that name.
    static func member(_ name: String, of object: String) -> String? {
        members(of: object).first { $0.name == "\"\(name)\"" }?.value
    }

    private static func joined(_ stored: String, _ given: String) -> String {
        switch (stored.utf8.first, given.utf8.first) {
        case (UInt8(ascii: "n"), _): given
        case (UInt8(ascii: "{"), UInt8(ascii: "{")): merged(stored, given)
        case (UInt8(ascii: "["), UInt8(ascii: "[")): JSONListText.joined(stored, given)
        default: stored
        }
    }

    /// The members at the outermost level, in their order.
    private static func members(of object: String) -> [Member] {
        guard object.utf8.first == UInt8(ascii: "{"), object.utf8.last == UInt8(ascii: "}") else { return [] }
        let inside = Array(object.utf8.dropFirst().dropLast())
        var members: [Member] = []
        for part in split(inside[...], at: UInt8(ascii: ",")) {
            let halves = split(part, at: UInt8(ascii: ":"), once: true)
            guard halves.count == 2 else { continue }
            members.append(
                Member(
                    name: String(decoding: halves[0], as: UTF8.self),
                    value: String(decoding: halves[1], as: UTF8.self)
                )
            )
        }
        return members
    }

    /// The parts between separators that stand in no text, list or object.
    private static func split(_ bytes: ArraySlice<UInt8>, at separator: UInt8, once: Bool = false) -> [ArraySlice<
        UInt8
    >] {
        var parts: [ArraySlice<UInt8>] = []
        var (start, depth, isInText, isEscaped) = (bytes.startIndex, 0, false, false)
        for index in bytes.indices {
            let byte = bytes[index]
            if isInText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else {
                    isInText = byte != UInt8(ascii: "\"")
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case separator where depth == 0:
                parts.append(bytes[start..<index])
                start = index + 1
                if once { return parts + [bytes[start...]] }
            default: continue
            }
        }
        if start < bytes.endIndex { parts.append(bytes[start...]) }
        return parts
    }
}
