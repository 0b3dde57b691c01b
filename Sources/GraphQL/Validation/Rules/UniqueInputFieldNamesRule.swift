extension ValidationRule {
    /// A field of an input object is given once (GraphQL §5.6.3).
    static let uniqueInputFieldNames = ValidationRule("UniqueInputFieldNames") { context in
        for fields in context.facts.objects {
            let names = fields.map { (name: $0.name, location: $0.location) }
            context.reportDuplicates(names) { "There can be only one input field named \"\($0)\"." }
        }
    }
}
