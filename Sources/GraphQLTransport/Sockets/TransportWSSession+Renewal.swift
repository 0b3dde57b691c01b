import JSON

// Pings, and newer credentials that come with them.
extension TransportWSSession {
    /// Answers a ping; one that brings credentials asks for them to stand in place of those before,
    /// and its pong says whether they do.
    mutating func ping(_ payload: JSONObject?) -> [SessionAction] {
        let credentials: Credentials
        do throws(RequestFault) {
            credentials = try self.credentials(in: payload)
        } catch {
            return close(.badRequest, "Invalid message: \(error.message)")
        }
        if credentials.isEmpty, let id = payload?["replayed"]?.stringValue {
            let pong = TransportWSMessage.message(.pong, payload: ["replayed": .string(id)])
            return slots.answer(.message(pong), whenCaughtUp: id)
        }
        if credentials.isEmpty { return slots.answer(.message(TransportWSMessage.message(.pong, payload: payload))) }
        guard case .ready = phase else { return close(.unauthorized, "Unauthorized") }
        // Each token is told what became of it.
        guard !isReauthenticating else { return [Self.pong(stillInForce: "Other credentials are being checked.")] }
        isReauthenticating = true
        return [.reauthenticate(credentials)]
    }

    mutating func reauthenticated(_ outcome: SessionReauthentication) -> [SessionAction] {
        isReauthenticating = false
        switch outcome {
        case .accepted(let end):
            let expiry = end.map { JSONValue.int($0) } ?? .null
            return [.send(TransportWSMessage.message(.pong, payload: ["authenticated": true, "expiresAt": expiry]))]
        case .otherUser: return close(.forbidden, "Forbidden: the credentials are another user's")
        case .refused(let message), .unavailable(let message): return [Self.pong(stillInForce: message)]
        }
    }

    private static func pong(stillInForce message: String) -> SessionAction {
        .send(
            TransportWSMessage.message(.pong, payload: ["authenticated": false, "message": .string(message)])
        )
    }
}
