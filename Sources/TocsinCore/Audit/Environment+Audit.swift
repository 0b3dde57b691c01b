extension ServiceEnvironment {
    /// An event of the audit, to be recorded in the transaction of what it tells.
    ///
    /// Where the request came from is added by the store. To be called inside a write.
    package func audit(
        action: String,
        by actor: AuditActor,
        on subject: AuditSubject,
        about: UserID? = nil,
        detail: AuditDetail = [:],
        outcome: AuditOutcome = .done
    ) -> AuditEvent {
        var actor = actor
        if actor.id == nil { actor.id = actorName(of: actor.kind) }
        return AuditEvent(
            id: identifiers.makeID(),
            at: time.now(),
            actor: actor,
            action: action,
            subject: subject,
            about: about,
            detail: detail,
            outcome: outcome
        )
    }

    /// The same for what a caller does.
    package func audit(
        action: String,
        by caller: Identity,
        on subject: AuditSubject,
        about: UserID? = nil,
        detail: AuditDetail = [:],
        outcome: AuditOutcome = .done
    ) -> AuditEvent {
        audit(
            action: action,
            by: .caller(caller),
            on: subject,
            about: about,
            detail: detail,
            outcome: outcome
        )
    }

    private func actorName(of kind: AuditActor.Kind) -> String? {
        switch kind {
        case .operator: operatorName
        case .server: nodeName
        case .user, .key, .stranger: nil
        }
    }
}
