import TocsinCore

/// Models that ship beside the team's own file, in `schema/oncall.graphql`: the server writes them,
/// clients read them.
enum ShippedModels {
    /// The name of the model of incidents.
    static let incident = "Incident"
    /// The name of the model of ways in.
    private static let integration = "Integration"

    /// The models with those marked that ship; incidents are read-only, for whoever may read
    /// messages.
    static func adopted(_ read: ModelReader.Models) -> ModelReader.Models {
        let reading = read.models.first { $0.name == "Message" }?.rules.compactMap(readingRule) ?? []
        let models = read.models.map { declaration in
            guard [incident, integration].contains(declaration.name) else { return declaration }
            var declaration = declaration
            declaration.isShipped = true
            guard declaration.name == incident else { return declaration }
            if !reading.isEmpty { declaration.rules = reading }
            // What the server writes is told all the same, so the subscriptions stay.
            declaration.operations.create = nil
            declaration.operations.update = nil
            declaration.operations.delete = nil
            return declaration
        }
        return (models, read.enums, read.embedded)
    }

    /// What of a rule for messages holds for incidents: reading, by what both have.
    private static func readingRule(_ rule: AccessRule) -> AccessRule? {
        switch rule.grantee {
        case .owner(let field, _) where field != "owner": return nil
        case .groupsField: return nil
        case .owner, .groups, .signedIn, .keyBearer: break
        }
        var rule = rule
        rule.operations.formIntersection([.read, .get, .list, .sync, .listen])
        return rule.operations.isEmpty ? nil : rule
    }
}
