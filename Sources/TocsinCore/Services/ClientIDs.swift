/// Which ids clients may choose for topics and messages; all owners share these ids.
package enum ClientIDs: String, Sendable, Hashable, CaseIterable {
    /// UUIDs and ULIDs: nobody takes one that another owner is about to use, or learns by
    /// trying that it is taken.
    case uuid
    /// Any text of the permitted characters, for servers of one team.
    case any

    /// Whether a text is an id of this kind; letters may be large or small, and stay as they are.
    package func accepts(_ id: String) -> Bool {
        switch self {
        case .any: true
        case .uuid: Self.isUUID(id.utf8) || Self.isULID(id.utf8)
        }
    }

    /// 8-4-4-4-12 hexadecimal digits (RFC 9562 §4).
    private static func isUUID(_ id: String.UTF8View) -> Bool {
        guard id.count == 36 else { return false }
        return id.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index)
                ? byte == UInt8(ascii: "-") : Character(UnicodeScalar(byte)).isHexDigit
        }
    }

    /// 26 digits of Crockford's base 32, of which the first holds three bits.
    private static func isULID(_ id: String.UTF8View) -> Bool {
        guard id.count == 26, let first = id.first, first <= UInt8(ascii: "7") else { return false }
        return id.allSatisfy { base32.contains($0) }
    }

    private static let base32 = Set("0123456789abcdefghjkmnpqrstvwxyzABCDEFGHJKMNPQRSTVWXYZ".utf8)
}
