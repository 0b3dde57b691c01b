/// Names of local groups that are administrators' alone.
///
/// Whoever chooses the members of a group gives away what rules and settings give to its name. So
/// people who may make groups get none of these.
package struct KeptGroups: Sendable {
    private let names: Set<[UInt8]>
    private let reason: String?

    /// The groups that the rules of these models name, and those that the settings name.
    ///
    /// Where records name groups, or groups of a sign-in provider are local ones, nobody knows all
    /// names. All are kept then.
    package init(models: [ModelType], settings: [String], _ claimed: ClaimedGroups) {
        let rules = models.flatMap(\.allRules)
        let named = rules.flatMap { rule in
            if case .groups(let names, _) = rule.grantee { Array(names) } else { [String]() }
        }
        // By bytes, as the database compares them: two spellings of a letter are two groups.
        names = Set((named + settings).map { Array($0.utf8) })
        let areNamedByRecords = rules.contains { if case .groupsField = $0.grantee { true } else { false } }
        reason =
            if areNamedByRecords {
                "records name groups here, by groupsField in the model file"
            } else if claimed.areMerged {
                "TOCSIN_GROUPS_MERGE makes them the sign-in provider's groups of the same names"
            } else {
                nil
            }
    }

    /// The names that rules and settings name, in the order of their bytes.
    var named: [String] {
        names.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Why all names are kept; nil where others are free.
    var reasonForAll: String? { reason }

    /// Whether administrators alone manage a group of this name.
    func contains(_ name: String) -> Bool { reason != nil || names.contains(Array(name.utf8)) }
}

extension ModelType {
    /// Its rules, and those of its fields and relations.
    fileprivate var allRules: [AccessRule] {
        rules + fieldRules.values.flatMap(\.self) + relations.flatMap { $0.rules ?? [] }
    }
}
