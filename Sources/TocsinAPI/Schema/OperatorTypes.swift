/// The part of the schema that is the same for every model (`docs/appsync.md`).
enum OperatorTypes {
    static let sdl = """
        "`YYYY-MM-DD` with an optional offset."
        scalar AWSDate
        "`hh:mm[:ss[.sss]]` with an optional offset."
        scalar AWSTime
        "ISO 8601 date and time with an offset; kept as given."
        scalar AWSDateTime
        "Seconds or, in sync metadata, milliseconds since 1970."
        scalar AWSTimestamp
        scalar AWSEmail
        "A string that holds JSON."
        scalar AWSJSON
        scalar AWSPhone
        scalar AWSURL
        scalar AWSIPAddress

        \(comparisons("ModelString", "String", withText: true))
        \(comparisons("ModelID", "ID", withText: true))
        \(comparisons("ModelInt", "Int", withText: false))
        \(comparisons("ModelFloat", "Float", withText: false))
        input ModelBooleanInput { ne: Boolean eq: Boolean attributeExists: Boolean attributeType: ModelAttributeTypes }
        input ModelSizeInput { ne: Int eq: Int le: Int lt: Int ge: Int gt: Int between: [Int] }
        \(keyCondition("String"))
        \(subscriptionFilter("String", withText: true))
        \(subscriptionFilter("ID", withText: true))
        \(subscriptionFilter("Int", withText: false))
        \(subscriptionFilter("Float", withText: false))
        input ModelSubscriptionBooleanInput { ne: Boolean eq: Boolean }

        enum ModelSortDirection { ASC DESC }
        enum ModelAttributeTypes { binary binarySet bool list map number numberSet string stringSet _null }
        """

    /// The key conditions that the SDL of models uses, beside that of
    /// `String`, which is always there.
    static func keyConditions(usedIn sdl: String) -> String {
        ["ID", "Int", "Float"].filter { sdl.contains(": Model\($0)KeyConditionInput") }.map(keyCondition)
            .joined(separator: "\n")
    }

    /// The operators of an enum, and of lists of it.
    static func filters(ofEnum name: String, usedIn sdl: String) -> String {
        let single = "input Model\(name)Input { eq: \(name) ne: \(name) }"
        guard sdl.contains(": Model\(name)ListInput") else { return single }
        return single + "\ninput Model\(name)ListInput { eq: [\(name)] ne: [\(name)] contains: \(name) "
            + "notContains: \(name) }"
    }

    /// The scalars of AppSync beside GraphQL's own.
    static let scalarNames = [
        "AWSDate", "AWSTime", "AWSDateTime", "AWSTimestamp", "AWSEmail", "AWSJSON", "AWSPhone", "AWSURL",
        "AWSIPAddress",
    ]

    private static func ordering(_ type: String) -> String {
        "eq: \(type) le: \(type) lt: \(type) ge: \(type) gt: \(type) between: [\(type)]"
    }

    private static func comparisons(_ name: String, _ type: String, withText: Bool) -> String {
        let text = withText ? " contains: \(type) notContains: \(type) beginsWith: \(type)" : ""
        let size = withText ? " size: ModelSizeInput" : ""
        return "input \(name)Input { ne: \(type) \(ordering(type))\(text) attributeExists: Boolean "
            + "attributeType: ModelAttributeTypes\(size) }"
    }

    private static func keyCondition(_ type: String) -> String {
        let prefix = type == "String" || type == "ID" ? " beginsWith: \(type)" : ""
        return "input Model\(type)KeyConditionInput { \(ordering(type))\(prefix) }"
    }

    private static func subscriptionFilter(_ type: String, withText: Bool) -> String {
        let text = withText ? " contains: \(type) notContains: \(type) beginsWith: \(type)" : ""
        return "input ModelSubscription\(type)Input { ne: \(type) \(ordering(type))\(text) "
            + "in: [\(type)] notIn: [\(type)] }"
    }
}
