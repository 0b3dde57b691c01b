/// A web address without user information as it may be shown: without what lets whoever knows it
/// in.
///
/// That is the query, and those parts of the path that are long and look made by chance, as chat
/// services' webhooks have them.
struct ShownAddress {
    /// The address, with `Secret.mask` in place of each such part.
    let text: String
    /// Whether any part is masked.
    let isMasked: Bool

    private static let leastBytes = 16

    init(_ address: String) {
        let ends = address.firstRange(of: "://")?.upperBound ?? address.startIndex
        let (scheme, rest) = (address[..<ends], address[ends...])
        let query = rest.firstIndex { $0 == "?" || $0 == "#" } ?? rest.endIndex
        var segments = rest[..<query].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        for index in segments.indices.dropFirst() where Self.looksMade(segments[index]) {
            segments[index] = Secret.mask
        }
        let shown = scheme + segments.joined(separator: "/") + (query < rest.endIndex ? "?" + Secret.mask : "")
        (text, isMasked) = (String(shown), shown != address)
    }

    /// A word that somebody chose has no digits, and capitals at most in front.
    private static func looksMade(_ segment: String) -> Bool {
        let bytes = segment.utf8
        guard bytes.count >= leastBytes else { return false }
        return bytes.dropFirst().contains { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || byte == UInt8(ascii: "%")
        }
    }
}
