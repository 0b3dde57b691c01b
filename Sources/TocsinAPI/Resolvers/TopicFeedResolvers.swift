import GraphQL
import JSON
import TocsinCore

/// Where the feeds of topics stand, for who begins to follow one.
enum TopicFeedResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>, sealer: any Sealer) {
        map.batch("Topic.cursor") { parents, invocation throws(GraphQLError) in
            try await stands(of: parents, invocation).map { topic, stand in
                guard let stand else { return .null }
                let mark = stand.message.map(MessageMark.init)
                return .leaf(
                    .string(MessageCursor(.topic(topic), at: stand.bounds.last, mark: mark).text(sealer: sealer))
                )
            }
        }
        map.batch("Me.cursor") { parents, invocation throws(GraphQLError) in
            let context = invocation.context
            let cursor = try await invocation.serving { () throws(ServiceError) -> MessageCursor? in
                guard let scope = context.services.feeds.ownFeed(of: context.caller),
                    let stand = try await context.services.feeds.stand(of: scope, at: nil, caller: context.caller)
                else { return nil }
                return MessageCursor(scope, at: stand.bounds.last, mark: stand.message.map(MessageMark.init))
            }
            let text = cursor?.text(sealer: sealer)
            return parents.map { _ in text.map { .leaf(.string($0)) } ?? .null }
        }
        map.batch("Topic.lastNumber") { parents, invocation throws(GraphQLError) in
            try await stands(of: parents, invocation).map { _, stand in
                stand.map { .leaf(.int($0.bounds.last)) } ?? .null
            }
        }
    }

    private static func stands(
        of parents: [APIObject],
        _ invocation: FieldInvocation<RequestContext>
    ) async throws(GraphQLError) -> [(TopicID, FeedStand?)] {
        let topics = parents.map { TopicID($0.record?.id ?? "") }
        let context = invocation.context
        let found = try await invocation.serving { () throws(ServiceError) in
            try await context.services.feeds.stands(of: topics, caller: context.caller)
        }
        return topics.map { ($0, found[$0]) }
    }
}
