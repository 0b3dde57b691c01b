import JSON
import Synchronization

/// How a caller names a topic.
public enum TopicReference: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// By its name; refused where several of the caller's topics have it.
    case name(String)
    /// By its id.
    case id(String)
    /// By its name or, if there is no topic of that name, by its id.
    case nameOrID(String)

    /// A name or an id.
    public init(stringLiteral value: String) { self = .nameOrID(value) }

    /// The name or id as given.
    public var description: String {
        switch self {
        case .name(let text), .id(let text), .nameOrID(let text): text
        }
    }
}

extension TocsinClient {
    /// Most names remembered; beyond it all are asked for anew.
    private static let maximumTopicNames = 1024

    /// The id of the topic; asks the server once for each name.
    public func topicID(of topic: TopicReference) async throws(ClientError) -> String {
        switch topic {
        case .id(let id): return id
        case .name(let name):
            guard let id = try await id(ofTopicNamed: name) else {
                throw ClientError(.topicNotFound, "There is no topic \"\(name)\" that you may see.")
            }
            return id
        case .nameOrID(let text):
            if let id = try await id(ofTopicNamed: text) { return id }
            let found = try await query(Documents.topicByID, variables: ["id": .string(text)])
            guard let id = found["getTopic"].flatMap(Self.idUnlessDeleted) else {
                throw ClientError(.topicNotFound, "There is no topic with the name or id \"\(text)\" that you may see.")
            }
            topicIDs.withLock { $0[text] = id }
            return id
        }
    }

    /// Forgets what the name stood for, because the topic seems to be gone;
    /// says whether it was known.
    func forgetTopic(_ topic: TopicReference) -> Bool {
        if case .id = topic { return false }
        return topicIDs.withLock { $0.removeValue(forKey: topic.description) } != nil
    }

    /// Deleted topics still answer, as tombstones for clients that synchronise.
    private static func idUnlessDeleted(_ topic: JSONValue) -> String? {
        topic["_deleted"]?.boolValue == true ? nil : topic["id"]?.stringValue
    }

    private func id(ofTopicNamed name: String) async throws(ClientError) -> String? {
        if let known = topicIDs.withLock({ $0[name] }) { return known }
        let found = try await query(Documents.topicByName, variables: ["name": .string(name)])
        let items = found["getTopicByName"]?["items"]?.arrayValue ?? []
        var ids = items.compactMap(Self.idUnlessDeleted)
        guard !ids.isEmpty else { return nil }
        if ids.count > 1, let me = found["me"]?["username"]?.stringValue {
            // A topic that somebody shares never stands in the way of the caller's own.
            let own = items.filter { $0["owner"]?.stringValue == me }.compactMap(Self.idUnlessDeleted)
            if !own.isEmpty { ids = own }
        }
        guard ids.count == 1, let id = ids.first else {
            throw ClientError(
                .topicAmbiguous,
                "Several topics are named \"\(name)\": \(ids.prefix(10).joined(separator: ", ")). Give the id of one of them."
            )
        }
        topicIDs.withLock { names in
            if names.count >= Self.maximumTopicNames { names = [:] }
            names[name] = id
        }
        return id
    }
}
