package import GraphQLTransport

/// A path on which sockets are opened, and what is spoken there.
package struct SocketPath: Sendable {
    /// The exact path.
    package let path: String
    /// The subprotocols, the preferred first.
    package let protocols: [SocketProtocol]

    /// A path of these parts.
    package init(_ path: String, protocols: [SocketProtocol]) {
        self.path = path
        self.protocols = protocols
    }
}

/// One subprotocol.
package struct SocketProtocol: Sendable {
    /// Its name in `Sec-WebSocket-Protocol`.
    package let name: String
    /// Makes the session of one socket.
    package let makeSession: @Sendable (SocketOpening) -> any SocketSession

    /// A subprotocol of these parts.
    package init(name: String, makeSession: @escaping @Sendable (SocketOpening) -> any SocketSession) {
        self.name = name
        self.makeSession = makeSession
    }

    /// The common protocol of GraphQL over WebSocket.
    package static var graphQLTransportWS: SocketProtocol {
        SocketProtocol(name: TransportWSSession.subprotocol) { opening in
            TransportWSSession(limits: opening.limits, upgradeCredentials: opening.credentials)
        }
    }
}

/// What a session may need of the request that opened its socket.
package struct SocketOpening: Sendable {
    /// What follows the target's question mark.
    package let queryString: String
    /// All subprotocols the client offered.
    package let offeredProtocols: [String]
    /// What the client sent to show who it is.
    package let credentials: Credentials
    /// What the session may allow.
    package let limits: SocketSessionLimits
}
