import Encodings
import JSON
package import TocsinCore

/// Where senders put their key, and how it is kept out of logs.
package enum SenderKeys {
    /// A key that a request carries.
    package struct Key: Sendable, Equatable {
        /// The key, or in a header `Authorization` a token of a user.
        package var text: String
        /// Whether it stands in `Authorization`: only there a user's token may.
        package var isAuthorization: Bool

        /// A key of this place.
        package init(text: String, isAuthorization: Bool) {
            (self.text, self.isAuthorization) = (text, isAuthorization)
        }
    }

    /// What a request carries.
    package enum Finding: Sendable, Equatable {
        /// No key.
        case none
        /// One key, in one place or the same in several.
        case key(Key)
        /// Keys that differ: refused as an unknown one is.
        case differing
    }

    /// The key of a request to a receiver of this kind.
    package static func find(in request: ReceiverRequest, kind: Integration.Kind) -> Finding {
        var keys: [Key] = request.headers.filter { $0.name.lowercased() == "authorization" }
            .compactMap { authorization($0.value) }
        let names: Set<String> =
            kind == .ntfy ? ["token", "apikey", "access_token", "auth"] : ["token", "apikey", "access_token"]
        for item in request.query where names.contains(item.name.lowercased()) && !item.value.isEmpty {
            guard item.name.lowercased() == "auth" else {
                keys.append(Key(text: withoutPrefix(item.value), isAuthorization: false))
                continue
            }
            let whole = Base64URL.decodedPasted(item.value.trimmed.replacing("-", with: "+").replacing("_", with: "/"))
            if let key = authorization(String(decoding: whole ?? [], as: UTF8.self)) { keys.append(key) }
        }
        for header in request.headers where headers.contains(header.name.lowercased()) {
            let text = header.value.trimmed
            if !text.isEmpty { keys.append(Key(text: text, isAuthorization: false)) }
        }
        if let position = position(in: request.segments), !request.segments[position].isEmpty {
            keys.append(Key(text: request.segments[position], isAuthorization: false))
        }
        if kind == .pagerDuty, let text = routingKey(request) { keys.append(Key(text: text, isAuthorization: false)) }
        guard let first = keys.first else { return .none }
        return keys.allSatisfy { $0.text == first.text } ? .key(first) : .differing
    }

    /// The path and query of a request as a log may show them, keys as `***`.
    package static func masked(_ target: String) -> String {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var pieces = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let filled = pieces.indices.filter { !pieces[$0].isEmpty }
        let segments = filled.map { QueryText.decoded(pieces[$0], plusIsSpace: false) }
        let secret = position(in: segments)
        for (number, segment) in segments.enumerated() where number == secret || isKey(segment.lowercased()) {
            pieces[filled[number]] = "***"
        }
        let path = pieces.joined(separator: "/")
        guard parts.count > 1 else { return path }
        let query = parts[1].split(separator: "&", omittingEmptySubsequences: false).map { item in
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = QueryText.decoded(halves.first ?? "", plusIsSpace: true).lowercased()
            let isSecret =
                halves.count > 1
                && (secretNames.contains(name) || isKey(QueryText.decoded(halves[1], plusIsSpace: true)))
            return isSecret ? halves[0] + "=***" : String(item)
        }
        return path + "?" + query.joined(separator: "&")
    }

    private static let headers: Set<String> = ["x-gotify-key", "x-api-key", "x-routing-key"]
    private static let secretNames: Set<String> = ["token", "auth", "apikey", "access_token", "routing_key"]
    private static let words = Set(Integration.Kind.allCases.map(Receivers.pathName)).union(["to"])

    /// The segment that is the key, by how the path begins.
    private static func position(in segments: [String]) -> Int? {
        switch segments.first?.lowercased() {
        case "in": segments.count > 1 && !words.contains(segments[1]) ? 1 : nil
        case "services": segments.count > 3 ? 3 : segments.count > 1 ? segments.count - 1 : nil
        case "hooks": segments.count > 1 ? min(segments.count - 1, 2) : nil
        case "ping", "act": segments.count > 1 ? 1 : nil
        case "api": segments.count > 2 && segments[1] == "push" ? 2 : nil
        default: nil
        }
    }

    /// `Bearer K`, `Token K`, `GenieKey K`, `Basic` with the key as the password, or as the user
    /// where there is no password.
    private static func authorization(_ value: String) -> Key? {
        let parts = value.trimmed.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let text = String(parts[1]).trimmed
        switch parts[0].lowercased() {
        case "bearer", "token", "geniekey": return Key(text: withoutPrefix(text), isAuthorization: true)
        case "basic":
            guard let bytes = Base64URL.decodedPasted(text) else { return nil }
            let pair = String(decoding: bytes, as: UTF8.self)
                .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let (user, password) = (pair[0], pair.count > 1 ? pair[1] : "")
            // Apprise writes the password "None" where a user gave a key alone.
            let isUser = password.isEmpty || (isKey(user) && !isKey(password))
            let key = withoutPrefix(isUser ? user : password)
            return key.isEmpty ? nil : Key(text: key, isAuthorization: true)
        default: return nil
        }
    }

    private static func isKey(_ text: some StringProtocol) -> Bool { IntegrationKey.hasForm(String(text)) }

    /// Clients of ntfy take for a token only what begins with `tk_`.
    private static func withoutPrefix(_ text: String) -> String {
        text.hasPrefix("tk_") && isKey(text.dropFirst(3)) ? String(text.dropFirst(3)) : text
    }

    private static func routingKey(_ request: ReceiverRequest) -> String? {
        guard case .success(let object) = LenientJSON.object(request.body) else { return nil }
        return object.filled("routing_key")
    }
}
