import JSON
import TocsinCore

/// A payload with gaps for what differs between devices: built once, filled by copying bytes.
struct BodyTemplate: Sendable, Hashable {
    /// What is put in a gap.
    enum Gap: Sendable, Hashable {
        /// The delivery's id, as a JSON string.
        case deliveryID
        /// The member that names the device, its key told by the kind of its token: `"token":"…"` or `"fid":"…"`.
        case token
        /// The number for the app's icon between two pieces of JSON; another piece where there is none.
        case badge(before: String, after: String, otherwise: String)

        /// The most bytes it takes that count against the provider's limit; tokens do not.
        fileprivate var countedBytes: Int {
            switch self {
            case .deliveryID: 38
            case .token: "\"token\":".utf8.count
            case .badge(let before, let after, let otherwise):
                max(before.utf8.count + Self.badgeDigits + after.utf8.count, otherwise.utf8.count)
            }
        }

        /// Digits of the largest badge.
        private static let badgeDigits = 6
        fileprivate static let largestBadge: Int64 = 999_999
    }

    private var pieces: [[UInt8]] = [[]]
    private var gaps: [Gap] = []
    private var count = 0

    /// The most bytes of the filled body that count against the provider's limit.
    var countedBytes: Int { gaps.reduce(count) { $0 + $1.countedBytes } }

    /// Appends what a closure writes.
    mutating func append(_ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(capacity: 512)
        write(&writer)
        pieces[pieces.count - 1] += writer.bytes
        count += writer.count
    }

    mutating func appendGap(_ gap: Gap) {
        gaps.append(gap)
        pieces.append([])
    }

    /// The body for one device.
    func filled(for target: PushTarget) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(countedBytes + target.token.utf8.count + 2)
        for (index, piece) in pieces.enumerated() {
            body += piece
            guard index < gaps.count else { continue }
            switch gaps[index] {
            case .deliveryID: Self.appendString(target.deliveryID.text, to: &body)
            case .token:
                body += target.kind == .fid ? "\"fid\":".utf8 : "\"token\":".utf8
                Self.appendString(target.token, to: &body)
            case .badge(let before, let after, let otherwise):
                guard let badge = target.badge else {
                    body += otherwise.utf8
                    continue
                }
                body += before.utf8
                body += String(min(max(0, badge), Gap.largestBadge)).utf8
                body += after.utf8
            }
        }
        return body
    }

    /// Plain text is copied; anything that might need escaping goes through the JSON writer.
    private static func appendString(_ text: String, to body: inout [UInt8]) {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        guard isPlain else {
            var writer = JSONWriter()
            writer.string(text)
            body += writer.bytes
            return
        }
        body.append(UInt8(ascii: "\""))
        body += text.utf8
        body.append(UInt8(ascii: "\""))
    }
}
