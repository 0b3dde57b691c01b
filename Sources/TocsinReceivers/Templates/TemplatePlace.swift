/// Where a value is to be found: a root, and steps from it.
package struct TemplatePlace: Sendable, Hashable {
    /// What the steps begin at.
    package enum Root: Sendable, Hashable {
        /// The data of a GraphQL document, or the sender's JSON.
        case document
        /// The list's item at hand.
        case item
        /// `{$name}`.
        case variable(String)
        /// `{group.name}`: beside the document.
        case group(String, name: String)
        /// `{body}`: the text that was sent.
        case body
    }

    /// One member, or one position in a list.
    package struct Step: Sendable, Hashable {
        /// The member's name, as written.
        package let key: String
        /// The position, where the name is a whole number; below zero it counts from the end.
        package let position: Int?

        init(_ key: String) {
            self.key = key
            let number = Int(key)
            position = number.map(String.init) == key ? number : nil
        }
    }

    /// Where it begins.
    package let root: Root
    /// The way from there.
    package let steps: [Step]

    /// The members' names on the way.
    package var keys: [String] { steps.map(\.key) }
}
