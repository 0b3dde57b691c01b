import JSON

/// What AppSync's clients send with the upgrade to show who they are, in three forms.
public enum AppSyncHandshake: Sendable, Hashable {
    /// These are to be judged, even when there are none.
    case credentials(Credentials)
    /// What should hold credentials cannot be read.
    case malformed
    /// The client did not offer the subprotocol.
    case noProtocol

    /// The first form that is there: the parameter `header`, a subprotocol
    /// `header-…`, plain fields.
    ///
    /// `upgrade` came as plain fields; `offered` are the subprotocols, in the client's order.
    public static func read(queryString: String, offered: [String], upgrade: Credentials) -> AppSyncHandshake {
        guard offered.contains(AppSyncMessage.subprotocol) else { return .noProtocol }
        let inSubprotocol = offered.first { $0.hasPrefix(subprotocolPrefix) }?.dropFirst(subprotocolPrefix.count)
        guard let encoded = parameter(in: queryString)?[...] ?? inSubprotocol.map({ Array($0.utf8)[...] }) else {
            return .credentials(upgrade)
        }
        guard let bytes = Base64.decoded(encoded), let json = try? JSONParser.parse(bytes, limits: limits),
            case .object(let object) = json, var credentials = Credentials(appSync: object)
        else { return .malformed }
        credentials.remoteAddress = upgrade.remoteAddress
        return .credentials(credentials)
    }

    private static let subprotocolPrefix = "header-"
    private static let limits = JSONLimits(maximumBytes: 32_768, maximumDepth: 4, maximumValues: 64)

    /// The parameter `header`; a plus is a plus, as some clients do not escape it.
    private static func parameter(in queryString: String) -> [UInt8]? {
        for pair in queryString.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0].elementsEqual("header".utf8) else { continue }
            return parts.count == 2 ? PercentEncoding.decoded(parts[1]) ?? [] : []
        }
        return nil
    }
}

extension Credentials {
    /// The members of AppSync's authorization object, whatever the case of their names;
    /// `nil` when one is no string.
    ///
    /// `host` and others are informative and not looked at.
    init?(appSync object: JSONObject) {
        var found: [String: String] = [:]
        for member in object {
            let name = member.key.lowercased()
            guard name == "authorization" || name == "x-api-key", !member.value.isNull else { continue }
            guard case .string(let text) = member.value else { return nil }
            found[name] = text
        }
        self.init(authorization: found["authorization"], apiKey: found["x-api-key"])
    }
}
