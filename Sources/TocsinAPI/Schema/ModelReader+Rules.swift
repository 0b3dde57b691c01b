import GraphQL
import TocsinCore

/// `@auth(rules: […])`.
extension ModelReader {
    mutating func accessRules(_ directive: Directive) -> [AccessRule] {
        guard let rules = directive.argument("rules")?.listValue else {
            note(directive.location, "@auth needs rules: @auth(rules: [{ allow: owner }]).")
            return []
        }
        return rules.compactMap { accessRule($0, at: directive.location) }
    }

    private mutating func accessRule(_ value: Value, at location: SourceLocation) -> AccessRule? {
        var members: [String: Value] = [:]
        for member in value.objectValue ?? [] { members[member.name] = member.value }
        let allow = members.removeValue(forKey: "allow")?.text
        let provider = members.removeValue(forKey: "provider")?.text
        let operations = members.removeValue(forKey: "operations").map { self.operations($0, at: location) }
        guard let allow, let grantee = grantee(allow, &members, at: location) else { return nil }
        for name in members.keys.sorted() {
            note(location, "\(name) has no meaning in an @auth rule with allow: \(allow); leave it out.")
        }
        guard let known = self.provider(provider, for: grantee, at: location) else { return nil }
        return AccessRule(grantee, provider: known, operations: operations ?? AccessRule.Operation.all)
    }

    private mutating func grantee(
        _ allow: String,
        _ members: inout [String: Value],
        at location: SourceLocation
    ) -> AccessRule.Grantee? {
        switch allow {
        case "owner":
            let field = members.removeValue(forKey: "ownerField")?.text ?? "owner"
            let claim = members.removeValue(forKey: "identityClaim")?.text ?? AccessRule.ownerClaim
            return .owner(field: field, claim: claim)
        case "groups":
            let claim = members.removeValue(forKey: "groupClaim")?.text ?? AccessRule.groupClaim
            let field = members.removeValue(forKey: "groupsField")?.text
            let names = members.removeValue(forKey: "groups")?.texts ?? []
            if let field, names.isEmpty { return .groupsField(field, claim: claim) }
            guard field == nil, !names.isEmpty else {
                note(location, "allow: groups needs either groups: [\"…\"] or groupsField: \"…\".")
                return nil
            }
            return .groups(Set(names), claim: claim)
        case "private": return .signedIn
        case "public": return .keyBearer
        default:
            note(location, "allow: \(allow) is not supported; write allow: owner, groups, private or public.")
            return nil
        }
    }

    private mutating func provider(
        _ name: String?,
        for grantee: AccessRule.Grantee,
        at location: SourceLocation
    ) -> Identity.Provider? {
        let isPublic = grantee == .keyBearer
        guard let name else { return isPublic ? .apiKey : .userPools }
        switch Identity.Provider(rawValue: name) {
        case .apiKey where isPublic: return .apiKey
        case .userPools where !isPublic: return .userPools
        case .oidc where !isPublic: return .oidc
        default:
            let choices = isPublic ? "apiKey" : "userPools or oidc"
            note(location, "provider: \(name) is not supported in this rule; write \(choices), or leave it out.")
            return nil
        }
    }

    private mutating func operations(_ value: Value, at location: SourceLocation) -> Set<AccessRule.Operation> {
        var operations: Set<AccessRule.Operation> = []
        for name in value.texts {
            guard let known = AccessRule.Operation(rawValue: name) else {
                note(
                    location,
                    "The operation \(name) is not known; write create, read, update, delete, or get, list, sync, listen."
                )
                continue
            }
            operations.insert(known)
        }
        return operations
    }
}
