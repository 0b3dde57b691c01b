import JSON
import TocsinAuth

extension SettingsDraft {
    private static let maximumProviders = 20

    /// Reads the tables `[[oidc]]` of the settings file.
    ///
    /// Each has an `id`, and what the variables `TOCSIN_OIDC_…` have, without their prefix.
    mutating func readOIDC() {
        guard let file, !file.oidc.isEmpty else { return }
        guard file.oidc.count <= Self.maximumProviders else {
            problems.append("\(file.path): there are \(file.oidc.count) oidc tables; at most 20 are allowed.")
            return
        }
        for (index, value) in file.oidc.enumerated() {
            let name = "\(file.path): oidc[\(index)]"
            guard case .object(let members) = value else {
                problems.append("\(name) must be a table.")
                continue
            }
            guard let id = members["id"]?.stringValue else {
                problems.append("\(name): id is missing. Write a short name that never changes, such as google.")
                continue
            }
            var rest = members
            rest["id"] = nil
            readOIDC(rest, id: id, name: "\(name) (\(id))")
        }
    }

    private mutating func readOIDC(_ members: JSONObject, id: String, name: String) {
        let table = SettingsFile(path: name, members: members, prefix: "oidc-")
        var draft = SettingsDraft(flags: [:], environment: [:], files: files)
        draft.file = table
        draft.problems = table.problems
        for definition in SettingTable.oidc { draft.read(definition) }
        let keys = Set(SettingTable.oidc.flatMap { [$0.key] + [$0.fileKey].compactMap(\.self) })
        for key in table.values.keys.sorted() where !keys.contains(key) {
            let hint = NearestName.hint(for: key, among: keys)
            warnings.append("\(name): \(key.dropFirst(5)) is not a setting and has no effect.\(hint)")
        }
        problems += draft.problems
        warnings += draft.warnings
        var provider = draft.settings.signIn.oidc
        provider.id = id
        guard provider.issuer != nil else {
            problems.append("\(name): issuer is missing.")
            return
        }
        settings.signIn.furtherOIDC.append(provider)
        appOrigins += draft.shownOrigins.filter { $0.origin != "default" }.map { origin in
            SettingOrigin(
                key: "oidc.\(id).\(origin.key.dropFirst(5))",
                variable: "",
                value: origin.value,
                origin: "file"
            )
        }
    }
}

extension Settings.OIDC {
    /// What is wrong with the provider, a sentence each.
    var problems: [String] {
        let wrong = requiredClaims.filter { RequiredClaim($0) == nil }
        return provider(isUserPool: false).problems
            + wrong.map { "\($0) is no required claim; write name=value, such as hd=example.com." }
    }

    /// The provider as the sign-in takes it.
    ///
    /// - Parameter isUserPool: Whether its people are those whom bearer tokens of the issuer name.
    func provider(isUserPool: Bool) -> OIDCProvider {
        var provider = OIDCProvider(issuer: issuer ?? "", clientID: clientID ?? "")
        provider.id = id
        provider.secret = clientSecret.map { ClientSecret($0.contents) }
        provider.scopes = scopes
        (provider.audience, provider.label) = (audience, label)
        provider.groupsClaim = groupsClaim.map { ClaimPath($0) }
        (provider.adminGroups, provider.allowedGroups) = (Set(adminGroups), Set(allowedGroups))
        provider.requiredClaims = requiredClaims.compactMap { RequiredClaim($0) }
        provider.signup = OIDCProvider.Signup(rawValue: signup) ?? .invited
        provider.isUserPool = isUserPool
        return provider
    }
}
