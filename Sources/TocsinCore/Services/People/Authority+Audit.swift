extension Authority {
    /// Who asks, for the audit.
    var actor: AuditActor {
        switch self {
        case .shell: .operator
        case .caller(let caller): .caller(caller)
        }
    }
}

extension ServiceEnvironment {
    /// The making of an account.
    func audit(creationOf account: Account, by actor: AuditActor) -> AuditEvent {
        audit(
            action: "user.create",
            by: actor,
            on: .user(account.id),
            detail: [
                "name": .text(account.name), "kind": account.kind == .local ? nil : .text(account.kind.rawValue),
                "admin": account.isAdmin ? true : nil,
            ]
        )
    }
}
