package import GraphQLTransport

/// A path on which sockets are opened, and what is spoken there.
package struct SocketPath: Sendable {
    /// The exact path.
    package let path: String
    /// The subprotocols, the preferred first.
    package let protocols: [SocketProtocol]
    /// What is spoken with clients that offer none of them; `nil` closes their sockets with 4406.
    package let otherwise: SocketProtocol?

    /// A path of these parts.
    package init(_ path: String, protocols: [SocketProtocol], otherwise: SocketProtocol? = nil) {
        self.path = path
        self.protocols = protocols
        self.otherwise = otherwise
    }

    /// The paths of a server that speaks both protocols: GraphQL's own for both, and the one
    /// AppSync's clients derive.
    package static func standard(graphQLPath: String) -> [SocketPath] {
        [
            SocketPath(graphQLPath, protocols: [.graphQLTransportWS, .appSync]),
            SocketPath(graphQLPath + "/realtime", protocols: [.appSync, .graphQLTransportWS], otherwise: .appSync),
        ]
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

    /// AppSync's real-time protocol.
    package static var appSync: SocketProtocol {
        SocketProtocol(name: AppSyncSession.subprotocol) { opening in
            let handshake = AppSyncHandshake.read(
                queryString: opening.queryString,
                offered: opening.offeredProtocols,
                upgrade: opening.credentials
            )
            return AppSyncSession(limits: opening.limits, handshake: handshake)
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
