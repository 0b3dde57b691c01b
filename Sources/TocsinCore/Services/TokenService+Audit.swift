import Encodings

// What the audit says of tokens: never their texts.
extension TokenService {
    /// Who acts: the caller, or an operator at the data, who is none.
    static func actor(_ caller: Identity?) -> AuditActor { caller.map(AuditActor.caller) ?? .operator }

    /// An event about a token.
    func audit(
        _ action: String,
        _ token: IssuedToken,
        by caller: Identity?,
        _ detail: AuditDetail = [:]
    ) -> AuditEvent {
        environment.audit(
            action: action,
            by: Self.actor(caller),
            on: .token(token.id, of: token.userID),
            detail: detail
        )
    }

    /// What a token may do, from where and until when.
    static func detail(of token: IssuedToken) -> AuditDetail {
        [
            "name": .text(token.name), "scope": .text(token.scope.words.joined(separator: " ")),
            "networks": .list(token.networks.map(\.description)), "expiresAt": .text(token.expiresAt.iso8601),
        ]
    }
}
