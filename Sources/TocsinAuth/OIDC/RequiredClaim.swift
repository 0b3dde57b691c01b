import JSON

/// A claim that must have one value for anybody to come in: `hd=example.com`.
package struct RequiredClaim: Sendable, Hashable, CustomStringConvertible {
    let path: ClaimPath
    let value: String

    /// Reads `name=value`; nil when either is empty.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        (path, value) = (ClaimPath(String(parts[0])), String(parts[1]))
    }

    /// As the settings write it.
    package var description: String { "\(path)=\(value)" }

    /// Whether the claim is this text, number or truth value, or a list with it.
    func holds(in claims: JSONObject) -> Bool {
        guard let claim = path.value(in: claims) else { return false }
        return (claim.arrayValue ?? [claim]).contains { Self.text(of: $0) == value }
    }

    private static func text(of value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .int, .bool: value.serializedString()
        default: nil
        }
    }
}
