extension ValidationRule {
    /// A field of an input object is given once (GraphQL §5.6.3).
    static let uniqueInputFieldNames = ValidationRule("UniqueInputFieldNames") { context in
        for object in context.facts.objects {
            context.reportDuplicates(object, .objectField) { name in
                "There can be only one input field named \"\(name)\"."
            }
        }
    }
}
