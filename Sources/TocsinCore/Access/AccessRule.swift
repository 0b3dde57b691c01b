/// One entry of `@auth(rules: […])`.
package struct AccessRule: Sendable, Hashable {
    /// What a rule allows.
    package enum Operation: String, Sendable, Hashable, CaseIterable {
        case create, read, update, delete
    }

    /// The field that holds the owner.
    package var ownerField: String
    /// `sub::username`, or one claim's name.
    package var identityClaim: String
    package var operations: Set<Operation>

    package init(ownerField: String = "owner", identityClaim: String = "sub::username", operations: Set<Operation>) {
        self.ownerField = ownerField
        self.identityClaim = identityClaim
        self.operations = operations
    }
}
