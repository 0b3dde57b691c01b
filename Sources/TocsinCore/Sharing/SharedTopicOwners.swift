import Synchronization

/// Whose topics they are that others publish to by a grant, as they were seen last.
///
/// A message goes into the feed of its topic's owner, which is locked before the topic. So the
/// owner must be known before the topic is held; what is known here is looked at again then, and
/// decides nothing.
final class SharedTopicOwners: Sendable {
    private let owners = Mutex<[TopicID: String]>([:])
    private static let maximumCount = 10_000

    /// The owner of a topic, if it is known as shared and not the caller's.
    func owner(of topic: TopicID, for caller: Identity) -> String? {
        guard let owner = owners.withLock({ $0.isEmpty ? nil : $0[topic] }) else { return nil }
        return caller.ownerForms.contains(owner) ? nil : owner
    }

    /// Notes whose topic it is.
    func note(_ owner: String, of topic: TopicID) {
        owners.withLock { owners in
            if owners.count >= Self.maximumCount { owners.removeAll() }
            owners[topic] = owner
        }
    }
}
