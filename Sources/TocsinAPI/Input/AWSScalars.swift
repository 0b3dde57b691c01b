import JSON

/// Input checks of AppSync's scalars (`docs/appsync.md`).
///
/// The text is kept as given and never normalised.
enum AWSScalars {
    /// The value to keep, or nil when it is not one of the scalar's.
    static func coerced(_ value: JSONValue, as scalar: String) -> JSONValue? {
        if scalar == "AWSTimestamp" {
            if case .int = value { return value }
            if case .double(let number) = value, let exact = Int64(exactly: number) { return .int(exact) }
            return nil
        }
        guard case .string(let text) = value, accepts(text, as: scalar) else { return nil }
        return value
    }

    /// What the scalar looks like, for error messages.
    static func expectation(of scalar: String) -> String {
        switch scalar {
        case "AWSDate": "a date like 2026-07-01"
        case "AWSTime": "a time like 12:00:00.000"
        case "AWSDateTime": "a date and time like 2026-07-01T12:00:00.000Z"
        case "AWSTimestamp": "an integer"
        case "AWSEmail": "an e-mail address"
        case "AWSJSON": "a string that holds JSON"
        case "AWSPhone": "a telephone number"
        case "AWSURL": "a URL with a scheme and a host"
        case "AWSIPAddress": "an IPv4 or IPv6 address"
        default: "a \(scalar)"
        }
    }

    private static func accepts(_ text: String, as scalar: String) -> Bool {
        switch scalar {
        case "AWSDate":
            var reader = DateReader(text)
            return reader.readDate() && (reader.isAtEnd || reader.readOffset()) && reader.isAtEnd
        case "AWSTime":
            var reader = DateReader(text)
            return reader.readTime() && (reader.isAtEnd || reader.readOffset()) && reader.isAtEnd
        case "AWSDateTime":
            var reader = DateReader(text)
            return reader.readDate() && reader.read("T") && reader.readTime()
                && (reader.isAtEnd || reader.readOffset()) && reader.isAtEnd
        case "AWSEmail": return isEmail(text)
        case "AWSJSON": return (try? JSONParser.parse(text)) != nil
        case "AWSPhone": return isPhone(text)
        case "AWSURL": return isURL(text)
        case "AWSIPAddress": return IPAddress.accepts(text)
        default: return true
        }
    }

    private static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let local = parts.first, let domain = parts.last else { return false }
        let isClean = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        return !local.isEmpty && !domain.isEmpty && isClean && !domain.hasPrefix(".") && !domain.hasSuffix(".")
    }

    private static func isPhone(_ text: String) -> Bool {
        let rest = text.hasPrefix("+") ? text.dropFirst() : text[...]
        let digits = rest.filter { $0.isASCII && $0.isNumber }.count
        return (3...15).contains(digits) && rest.allSatisfy { $0.isASCII && $0.isNumber || $0 == " " || $0 == "-" }
    }

    private static func isURL(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = text[..<colon]
        let rest = text[text.utf8.index(after: colon)...]
        let isScheme =
            scheme.utf8.first.map { isLetter($0) } == true
            && scheme.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
        let isClean = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        guard isScheme, isClean, rest.hasPrefix("//") else { return false }
        let host = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest.dropFirst(2 + host.count).prefix { $0 != "?" && $0 != "#" }
        return !host.isEmpty && host != ":" && !host.hasPrefix(":") && !path.contains("//")
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
}

/// IPv4 and IPv6 with an optional prefix length (RFC 4291 §2.2).
enum IPAddress {
    static func accepts(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = parts.first, parts.count <= 2 else { return false }
        let isV6 = address.utf8.contains(UInt8(ascii: ":"))
        if parts.count == 2 {
            guard let length = number(parts[1], maximum: isV6 ? 128 : 32), length >= 0 else { return false }
        }
        return isV6 ? acceptsV6(address) : acceptsV4(address)
    }

    private static func acceptsV4(_ text: Substring) -> Bool {
        let octets = text.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets.allSatisfy { number($0, maximum: 255) != nil }
    }

    private static func acceptsV6(_ text: Substring) -> Bool {
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return false }
        var count = 0
        for (index, half) in halves.enumerated() where !half.isEmpty {
            guard let groups = groupCount(half, mayEndWithV4: index == halves.count - 1) else { return false }
            count += groups
        }
        return halves.count == 2 ? count < 8 : count == 8
    }

    /// How many 16-bit groups the text stands for; nil when it is not a list of groups.
    private static func groupCount(_ text: Substring, mayEndWithV4: Bool) -> Int? {
        var groups = text.split(separator: ":", omittingEmptySubsequences: false)
        var count = 0
        if mayEndWithV4, let last = groups.last, last.utf8.contains(UInt8(ascii: ".")) {
            guard acceptsV4(last) else { return nil }
            groups.removeLast()
            count = 2
        }
        let areGroups = groups.allSatisfy {
            (1...4).contains($0.utf8.count) && $0.allSatisfy { $0.isASCII && $0.isHexDigit }
        }
        return areGroups ? count + groups.count : nil
    }

    private static func number(_ text: Substring, maximum: Int) -> Int? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let value = Int(text), value <= maximum
        else { return nil }
        return value
    }
}

/// Reads the parts of ISO 8601 dates and times, one after the other.
struct DateReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func read(_ character: Character) -> Bool {
        guard let byte = character.asciiValue, rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    /// `YYYY-MM-DD`, a real day of the calendar.
    mutating func readDate() -> Bool {
        guard let year = digits(4), read("-"), let month = digits(2), (1...12).contains(month), read("-"),
            let day = digits(2)
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...days[month - 1]).contains(day)
    }

    /// Reads `hh:mm[:ss[.s…]]`.
    mutating func readTime() -> Bool {
        guard let hour = digits(2), hour < 24, read(":"), let minute = digits(2), minute < 60 else { return false }
        guard read(":") else { return true }
        guard let second = digits(2), second < 60 else { return false }
        guard read(".") else { return true }
        let fraction = rest.prefix { (0x30...0x39).contains($0) }
        rest = rest.dropFirst(fraction.count)
        return (1...9).contains(fraction.count)
    }

    /// Reads `Z` or `±hh:mm[:ss]`.
    mutating func readOffset() -> Bool {
        if read("Z") { return true }
        guard read("+") || read("-"), let hour = digits(2), hour < 24, read(":"), let minute = digits(2), minute < 60
        else { return false }
        guard read(":") else { return true }
        return digits(2).map { $0 < 60 } ?? false
    }

    private mutating func digits(_ count: Int) -> Int? {
        let prefix = rest.prefix(count)
        guard prefix.count == count, prefix.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return prefix.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
