/// What grants give of the records of one model: of topics, their messages and incidents, and of
/// the ways in that post to them.
package struct ModelSharing: Sendable, Hashable {
    /// Position of the field that holds the topic's id.
    package let field: Int
    let isTopic: Bool
    /// What must hold of a record beside a grant.
    let among: Predicate
    /// Names of fields that nobody changes by a grant, beside those that name owners.
    let lasting: [String]
    /// Whether the role OWNER alone gives anything, and only by the model's own operations.
    private let isOfOwners: Bool

    /// The sharing of a model; nil for models that are not shared, and where no rule speaks of
    /// owners.
    ///
    /// - Parameter isShipped: Whether the declaration is the server's own, in the table that it
    ///   shares with a team's models.
    init?(
        of name: String,
        _ table: ModelTable,
        _ rules: [AccessRule],
        isShipped: Bool,
        at position: (String) -> Int?
    ) {
        guard rules.contains(where: { $0.owner != nil }) else { return nil }
        switch name {
        case "Topic" where table.discriminator == nil:
            (isTopic, isOfOwners, among, lasting) = (true, false, .always, [])
        case "Message" where table.discriminator == nil, "Incident" where table.discriminator == nil:
            (isTopic, isOfOwners, among, lasting) = (false, false, .always, [])
        case "Integration" where isShipped:
            guard let kind = position("kind"), let id = position("id") else { return nil }
            // Pings make monitors, which are their owner's alone. Whoever ended what a token made
            // for its own posts would end the token's posts for good.
            among = .all([
                .field(kind, .notEqual(.text(Integration.Kind.heartbeat.rawValue))),
                .not(.field(id, .beginsWith(Integration.idPrefixOfTokens))),
            ])
            (isTopic, isOfOwners, lasting) = (false, true, ["topicId", "watchdogs", "routes"])
        default: return nil
        }
        guard let field = position(isTopic ? "id" : "topicId") else { return nil }
        self.field = field
    }

    /// The roles of which one is enough for an operation; nil for what grants never give.
    ///
    /// Whoever publishes to a topic may look it up and sees its name, but `read`, by which topics
    /// are joined and messages followed, takes a reader.
    func need(for operation: AccessRule.Operation) -> TopicRole? {
        guard !isOfOwners else {
            // Whoever publishes makes their own; streams and syncs tell of one's own alone.
            return [.create, .listen, .sync].contains(operation) ? nil : .owner
        }
        return switch operation {
        case .read, .listen: .reading
        case .get, .list, .sync: isTopic ? .all : .reading
        case .create: isTopic ? nil : .publishing
        case .update: .owner
        case .delete: isTopic ? nil : .owner
        }
    }
}
