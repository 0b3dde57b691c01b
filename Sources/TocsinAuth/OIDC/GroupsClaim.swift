import JSON

/// Reads a person's groups from where the settings say; nobody is silently left without theirs.
struct GroupsClaim {
    private let path: ClaimPath?

    init(_ path: ClaimPath?) {
        self.path = path
    }

    /// The groups, each once; none where the claim is absent.
    func groups(in claims: JSONObject) throws(OIDCRefusal) -> [String] {
        guard let path else { return [] }
        guard let claim = path.value(in: claims) else {
            try refuseOverage(in: claims, path)
            return []
        }
        let values = claim.arrayValue ?? [claim]
        let texts = values.compactMap(\.stringValue)
        guard texts.count == values.count, texts.allSatisfy(OwnerClaims.isValid) else {
            throw OIDCRefusal(.groupsMalformed, "The claim \(path) is no list of groups' names.")
        }
        var seen: Set<[UInt8]> = []
        let groups = texts.filter { seen.insert(Array($0.utf8)).inserted }
        guard groups.count <= OwnerClaims.maximumValues else {
            throw OIDCRefusal(
                .groupsOverage,
                "The claim \(path) names \(groups.count) groups; at most \(OwnerClaims.maximumValues) are taken. Let the "
                    + "provider send those alone that this server needs."
            )
        }
        return groups
    }

    /// Entra ID leaves out more than 200 groups and says where they can be asked for; they are not.
    private func refuseOverage(in claims: JSONObject, _ path: ClaimPath) throws(OIDCRefusal) {
        let isElsewhere = claims["_claim_names"]?[path.description] != nil || claims["hasgroups"] == .bool(true)
        guard isElsewhere else { return }
        throw OIDCRefusal(
            .groupsOverage,
            "The person is in more groups than the provider puts into a token, so their groups are unknown. Let it send "
                + "only those assigned to the application (Entra ID: \"Groups assigned to the application\")."
        )
    }
}
