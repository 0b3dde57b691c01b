package import JSON

/// JSON as senders write it: read more kindly than our own clients' is.
package enum LenientJSON {
    /// What one body may ask of us; its size is checked before.
    package static let limits = JSONLimits(
        maximumBytes: 64 << 20,
        maximumDepth: 32,
        maximumValues: 200_000,
        maximumNumberLength: 1000
    )

    /// The value of a body.
    ///
    /// A byte order mark is skipped. Invalid UTF-8 and lone surrogates are replaced, raw line ends
    /// in texts taken, as scripts send them. Of members with one name the last wins.
    package static func parse(_ body: [UInt8]) throws(JSONError) -> JSONValue {
        do throws(JSONError) {
            return try JSONParser.parse(body, limits: limits)
        } catch {
            let mended = mended(body)
            guard mended != body else { throw error }
            return try JSONParser.parse(mended, limits: limits)
        }
    }

    /// The object of a body, or what is wrong with it.
    package static func object(_ body: [UInt8]) -> Result<JSONObject, Unreadable> {
        do throws(JSONError) {
            guard case .object(let object) = try parse(body) else {
                return .failure(Unreadable("The body is no JSON object."))
            }
            return .success(object)
        } catch {
            return .failure(Unreadable("The body is not JSON: \(error)."))
        }
    }

    /// Why a body could not be read.
    package struct Unreadable: Error, Sendable, Equatable {
        /// A sentence.
        package let reason: String

        /// A reason in a sentence.
        package init(_ reason: String) { self.reason = reason }
    }

    private static func mended(_ body: [UInt8]) -> [UInt8] {
        var input = Array(String(decoding: body, as: UTF8.self).utf8)
        if input.starts(with: [0xEF, 0xBB, 0xBF]) { input.removeFirst(3) }
        var output: [UInt8] = []
        output.reserveCapacity(input.count)
        var (index, isInText) = (0, false)
        while index < input.count {
            let byte = input[index]
            switch byte {
            case UInt8(ascii: "\""):
                isInText.toggle()
                output.append(byte)
            case UInt8(ascii: "\\") where isInText:
                let (escape, length) = mendedEscape(input, at: index)
                output += escape
                index += length - 1
            case ..<0x20 where isInText:
                output += Array("\\u00".utf8) + Array(HexText.text(of: [byte]).utf8)
            default:
                output.append(byte)
            }
            index += 1
        }
        return output
    }

    /// The escape that begins at a backslash, with how many bytes it had.
    private static func mendedEscape(_ input: [UInt8], at index: Int) -> ([UInt8], Int) {
        guard let first = codeUnit(input, at: index) else {
            let end = min(index + 2, input.count)
            return (Array(input[index..<end]), end - index)
        }
        guard (0xD800..<0xE000).contains(first) else { return (Array(input[index..<index + 6]), 6) }
        if first < 0xDC00, let second = codeUnit(input, at: index + 6), (0xDC00..<0xE000).contains(second) {
            return (Array(input[index..<index + 12]), 12)
        }
        return (Array("\\ufffd".utf8), 6)
    }

    private static func codeUnit(_ input: [UInt8], at index: Int) -> UInt32? {
        guard index + 6 <= input.count, input[index] == UInt8(ascii: "\\"), input[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        let digits = input[index + 2..<index + 6].compactMap(HexText.digit)
        return digits.count == 4 ? digits.reduce(0) { $0 << 4 | UInt32($1) } : nil
    }
}

extension JSONValue {
    /// A text, number or truth value as text; nil: it is none of them.
    var senderText: String? {
        switch self {
        case .string(let text): text
        case .int(let number): String(number)
        case .double(let number): Int64(exactly: number).map(String.init) ?? String(number)
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// As `senderText`, lists and objects as compact JSON, null as nothing.
    var compactText: String { senderText ?? (isNull ? "" : serializedString()) }

    /// The number of a number or of a text that is one.
    var senderNumber: Int64? {
        intValue ?? doubleValue.flatMap { Int64(exactly: $0.rounded()) } ?? stringValue.flatMap { Int64($0.trimmed) }
    }

    /// The member as text without space around it; nil: it is not there, or empty.
    func filled(_ name: String) -> String? { objectValue?.filled(name) }
}

extension JSONObject {
    /// The member as text without space around it; nil: it is not there, or empty.
    func filled(_ name: String) -> String? {
        guard let text = self[name]?.senderText?.trimmed, !text.isEmpty else { return nil }
        return text
    }

    /// The first of these members that is there and not empty.
    func filled(_ names: [String]) -> String? {
        for name in names { if let text = filled(name) { return text } }
        return nil
    }

    /// The members as texts; those that are null are left out.
    var senderTexts: [String: String] {
        var texts: [String: String] = [:]
        for member in self where !member.value.isNull { texts[member.key] = member.value.compactText }
        return texts
    }
}
