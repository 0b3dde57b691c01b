import FoundationEssentials
import Glibc
import TocsinCore

/// A mail as programs write it to sendmail, made whole: with a date, a sender and an id.
struct HostMail {
    /// Who calls sendmail.
    struct Author {
        var user: String
        var host: String

        /// The user of this process, on this machine.
        static var current: Author {
            var name = [CChar](repeating: 0, count: 256)
            let isNamed = gethostname(&name, name.count - 1) == 0
            let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let entry = getpwuid(getuid())
            let user = entry.map { String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
            return Author(user: user, host: isNamed && !host.isEmpty ? host : "localhost")
        }
    }

    /// The most that is sent.
    static let maximumBytes = 1 << 20
    /// The most that is read; what is added to it is shorter than the rest.
    static let maximumInputBytes = maximumBytes - 8192

    /// The lines of the head, each with those that go on with it.
    private var fields: [[UInt8]] = []
    private var body: ArraySlice<UInt8> = []
    private let isCut: Bool
    private let arguments: SendmailArguments

    /// Reads a mail up to its end or its dot.
    init(_ input: [UInt8], isCut: Bool, arguments: SendmailArguments) {
        self.arguments = arguments
        let input = arguments.endsAtDot ? Self.beforeDot(input) : input[...]
        self.isCut = isCut && input.endIndex == Self.maximumInputBytes
        readHead(input)
    }

    /// The whole mail, with what was missing in its head.
    func bytes(at time: Timestamp, from author: Author) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields where Self.name(of: field) != "bcc" { bytes += field }
        for (name, value) in missing(time, author) {
            bytes += Array("\(name): \(Self.plain(value))\n".utf8)
        }
        if isCut { bytes += Array("X-Tocsin-Cut: of a mail beyond 1 MiB this is the beginning\n".utf8) }
        bytes.append(UInt8(ascii: "\n"))
        bytes += body
        if isCut, isPlainText { bytes += Array("\n[The mail was longer than 1 MiB and is cut here.]\n".utf8) }
        return bytes
    }

    private func missing(_ time: Timestamp, _ author: Author) -> [(String, String)] {
        let address = arguments.sender ?? "\(author.user)@\(author.host)"
        let name = arguments.senderName?.filter { $0 != "\"" && $0 != "\\" }
        let sender = name.map { "\"\($0)\" <\(address)>" } ?? address
        var fields = [("From", sender), ("Date", Self.date(time))]
        // Repeats are known by it.
        fields.append(("Message-ID", "<\(UUID().uuidString.lowercased())@\(author.host)>"))
        if !arguments.recipients.isEmpty, !has("cc") {
            fields.append(("To", arguments.recipients.joined(separator: ", ")))
        }
        return fields.filter { !has($0.0.lowercased()) }
    }

    private func has(_ name: String) -> Bool { fields.contains { Self.name(of: $0) == name } }

    /// Whether a line of text at its end is a line of text to readers too.
    private var isPlainText: Bool {
        let values = fields.filter { ["content-type", "content-transfer-encoding"].contains(Self.name(of: $0)) }
            .map { String(decoding: $0, as: UTF8.self).lowercased() }
        return !values.contains { $0.contains("multipart/") || $0.contains("base64") }
    }

    private mutating func readHead(_ input: ArraySlice<UInt8>) {
        var rest = input
        // The line with which a mail begins in a mailbox.
        if rest.starts(with: "From ".utf8) { _ = Self.popLine(&rest) }
        while !rest.isEmpty {
            var after = rest
            let line = Self.popLine(&after)
            if line.allSatisfy({ $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
                rest = after
                break
            }
            let isContinued = line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t")
            if isContinued, !fields.isEmpty {
                fields[fields.count - 1] += Self.ended(line)
            } else if Self.name(of: line) != nil {
                fields.append(Self.ended(line))
            } else {
                // There was no head, or no line between it and the text.
                break
            }
            rest = after
        }
        body = rest
    }

    private static func popLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    private static func ended(_ line: ArraySlice<UInt8>) -> [UInt8] {
        line.last == UInt8(ascii: "\n") ? Array(line) : line + [UInt8(ascii: "\n")]
    }

    /// RFC 5322 §2.2: the name in small letters of a line that begins a field.
    private static func name(of line: some Collection<UInt8>) -> String? {
        let name = line.prefix { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
        guard !name.isEmpty, name.count < line.count else { return nil }
        guard line[line.index(line.startIndex, offsetBy: name.count)] == UInt8(ascii: ":") else { return nil }
        return String(decoding: name, as: UTF8.self).lowercased()
    }

    private static func beforeDot(_ input: [UInt8]) -> ArraySlice<UInt8> {
        var rest = input[...]
        while !rest.isEmpty {
            let start = rest.startIndex
            let line = popLine(&rest)
            if line.first == UInt8(ascii: "."), line.dropFirst().allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
                return input[..<start]
            }
        }
        return input[...]
    }

    /// An argument as it may stand in a head: one line, and not endless.
    private static func plain(_ text: String) -> String {
        let kept = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
        return String(String.UnicodeScalarView(kept.prefix(500)))
    }

    /// RFC 5322 §3.3.
    private static func date(_ time: Timestamp) -> String {
        let parts = time.iso8601.split { "-T.Z".contains($0) }
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count >= 4, let month = Int(parts[1]), (1...12).contains(month) else { return time.iso8601 }
        return "\(parts[2]) \(months[month - 1]) \(parts[0]) \(parts[3]) +0000"
    }
}
