/// What grants let somebody do with a topic that is not theirs; roles add up.
package struct TopicRole: OptionSet, Sendable, Hashable {
    /// One bit for each role, as stored.
    package let rawValue: Int64

    /// The roles whose bits are set.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Publishes, reads, renames the topic and shares it further.
    package static let owner = TopicRole(rawValue: 1)
    /// Publishes, and reads nothing but what it published.
    package static let publisher = TopicRole(rawValue: 2)
    /// Reads the topic and its messages.
    package static let reader = TopicRole(rawValue: 4)

    /// Those that may read the topic's messages.
    package static let reading: TopicRole = [.owner, .reader]
    /// Those that may publish to it.
    package static let publishing: TopicRole = [.owner, .publisher]
    /// Every role: whoever has one may see that the topic is there.
    package static let all: TopicRole = [.owner, .publisher, .reader]

    private static let names: [(role: TopicRole, name: String)] = [
        (.owner, "OWNER"), (.publisher, "PUBLISHER"), (.reader, "READER"),
    ]

    /// The role of this name; nil when there is none.
    package init?(name: String) {
        guard let known = Self.names.first(where: { $0.name == name }) else { return nil }
        self = known.role
    }

    /// The names of the roles, the strongest first.
    package var names: [String] { Self.names.filter { contains($0.role) }.map(\.name) }
}
