import JSON
import TocsinCore

/// A payload with gaps for what differs between devices: built once, filled by copying bytes.
struct BodyTemplate: Sendable, Hashable {
    /// What is put in a gap.
    enum Gap: Sendable, Hashable {
        /// The delivery's id, as a JSON string.
        case deliveryID
        /// A member with the links of the buttons, of at most so many bytes.
        case links(before: String, maximumBytes: Int)
        /// The member that names the device, its key told by the kind of its token:
        /// `"token":"…"` or `"fid":"…"`.
        case token
        /// The number for the app's icon between two pieces of JSON; another
        /// piece where there is none.
        case badge(before: String, after: String, otherwise: String)
        /// One piece of JSON where there is such a number, another where there is none.
        case choice(withBadge: String, otherwise: String)

        /// The most bytes it takes that count against the provider's limit; tokens do not.
        fileprivate var countedBytes: Int {
            switch self {
            case .deliveryID: 38
            case .links(let before, let maximumBytes): before.utf8.count + maximumBytes
            case .token: "\"token\":".utf8.count
            case .badge(let before, let after, let otherwise):
                max(before.utf8.count + Self.badgeDigits + after.utf8.count, otherwise.utf8.count)
            case .choice(let withBadge, let otherwise): max(withBadge.utf8.count, otherwise.utf8.count)
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

    /// Appends all of another template.
    mutating func append(_ other: BodyTemplate) {
        pieces[pieces.count - 1] += other.pieces[0]
        pieces += other.pieces.dropFirst()
        gaps += other.gaps
        count += other.count
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
            case .links(let before, let maximumBytes):
                guard let links = target.links, links.utf8.count <= maximumBytes else { continue }
                body += before.utf8
                body += links.utf8
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
            case .choice(let withBadge, let otherwise):
                body += target.badge == nil ? otherwise.utf8 : withBadge.utf8
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

/// Finds the longest texts that fit a provider's size limit: the body is
/// cut before the title.
enum TextFitting {
    /// Texts of a notification, possibly shortened.
    struct Texts {
        var title: String
        var body: String
    }

    /// How much of a message a notification carries.
    enum Detail: CaseIterable {
        case everything
        /// Ids and texts, without the publisher's own values.
        case idsOnly
    }

    /// The first template that fits the size; nil if even an empty one is too large.
    ///
    /// Tried in order: everything, a shortened body, no body and a shortened title, then the same
    /// with less detail.
    ///
    /// Ciphertext may not be cut, and the texts shown in its place are not what is long:
    /// all of it or less detail.
    static func fit(
        _ texts: Texts,
        of payload: PushPayload,
        within maximumBytes: Int,
        startingWith first: Detail = .everything,
        template: (Texts, Detail) -> BodyTemplate
    ) -> BodyTemplate? {
        for detail in Detail.allCases where first == .everything || detail == .idsOnly {
            func build(_ title: String, _ body: String) -> BodyTemplate? {
                let built = template(Texts(title: title, body: body), detail)
                return built.countedBytes <= maximumBytes ? built : nil
            }
            if let built = build(texts.title, texts.body) { return built }
            guard payload.placeholder == nil || detail == .idsOnly else { continue }
            if let built = longest(of: texts.body, { build(texts.title, $0) }) { return built }
            if let built = longest(of: texts.title, { build($0, "") }) { return built }
        }
        return nil
    }

    /// At most this many bytes of a text, ending at a character's border; within a character of
    /// absurd length, at a scalar's.
    static func prefix(of text: String, bytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let cut = text.utf8.index(text.startIndex, offsetBy: max(0, limit))
        var end = cut
        for _ in 0..<longestCharacterBytes where end > text.startIndex {
            if String.Index(end, within: text) != nil { return String(text[..<end]) }
            end = text.utf8.index(before: end)
        }
        end = cut
        while String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }

    /// No character that means something is longer; families of emoji take 25.
    private static let longestCharacterBytes = 64

    /// Searches for the most bytes of `text` that, with an ellipsis, can be built.
    private static func longest(of text: String, _ build: (String) -> BodyTemplate?) -> BodyTemplate? {
        var (low, high) = (1, text.utf8.count - 1)
        var best: BodyTemplate?
        while low <= high {
            let middle = (low + high) / 2
            let kept = prefix(of: text, bytes: middle)
            if !kept.isEmpty, let built = build(kept + "…") {
                best = built
                low = middle + 1
            } else if kept.isEmpty {
                // The first character alone is longer than this: nothing shorter can be kept.
                low = middle + 1
            } else {
                high = middle - 1
            }
        }
        return best
    }
}
