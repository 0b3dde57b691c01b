import GraphQL
import TocsinCore

/// `@auth(rules: […])`.
extension ModelReader {
    mutating func accessRules(_ directive: Directive) -> [AccessRule] {
        guard let rules = directive.argument("rules")?.listValue else {
            note(directive.location, "@auth needs rules: @auth(rules: [{ allow: owner }]).")
            return []
        }
        for argument in directive.arguments where argument.name != "rules" {
            note(directive.location, "@auth(\(argument.name):) is not supported; write @auth(rules: […]).")
        }
        return rules.compactMap { accessRule($0, at: directive.location) }
    }

    private mutating func accessRule(_ value: Value, at location: SourceLocation) -> AccessRule? {
        var members: [String: Value] = [:]
        for member in value.objectValue ?? [] {
            let earlier = members.updateValue(member.value, forKey: member.name)
            if earlier != nil {
                note(location, "A rule of @auth says \(member.name) twice; make two rules of it.")
            }
        }
        guard let allowed = members.removeValue(forKey: "allow") else {
            note(location, "Each rule of @auth says whom it allows: { allow: owner }.")
            return nil
        }
        let allow = word(allowed, of: "allow", at: location)
        let provider = members.removeValue(forKey: "provider").map { word($0, of: "provider", at: location) ?? "" }
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
            let field = text("ownerField", of: &members, at: location) ?? "owner"
            let claim = text("identityClaim", of: &members, at: location) ?? AccessRule.ownerClaim
            return .owner(field: field, claim: claim)
        case "groups":
            let claim = text("groupClaim", of: &members, at: location) ?? AccessRule.groupClaim
            let field = text("groupsField", of: &members, at: location)
            let names = members.removeValue(forKey: "groups").map { words($0, of: "groups", at: location) } ?? []
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

    private mutating func text(
        _ name: String,
        of members: inout [String: Value],
        at location: SourceLocation
    ) -> String? {
        members.removeValue(forKey: name).flatMap { word($0, of: name, at: location) }
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
        for name in words(value, of: "operations", at: location) {
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
