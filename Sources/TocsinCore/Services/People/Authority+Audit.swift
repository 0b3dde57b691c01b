// What the audit says of people and groups: never a password.
extension Authority {
    /// Who acts.
    var actor: AuditActor {
        switch self {
        case .shell: .operator
        case .caller(let caller): .caller(caller)
        }
    }
}

extension ServiceEnvironment {
    /// An event about an account.
    func audit(
        _ action: String,
        _ account: Account,
        by authority: Authority,
        _ detail: AuditDetail = [:]
    ) -> AuditEvent {
        var detail = detail
        detail["name"] = .text(account.name)
        return audit(
            action: action,
            by: authority.actor,
            on: .user(account.id),
            about: account.id,
            detail: detail
        )
    }

    /// An event about a group, and about the member whom it concerns.
    func audit(
        _ action: String,
        _ group: Group,
        by authority: Authority,
        member: Account? = nil
    ) -> AuditEvent {
        audit(
            action: action,
            by: authority.actor,
            on: .group(group.name),
            about: member?.id,
            detail: ["member": member.map { .text($0.name) }]
        )
    }
}
