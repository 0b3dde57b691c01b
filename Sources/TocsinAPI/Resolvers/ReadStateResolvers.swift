import GraphQL
import JSON
import TocsinCore

/// Resolvers of how far the caller has read.
enum ReadStateResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.readState") { invocation throws(ServiceError) in
            let context = invocation.context
            return .object(.readState(try await context.services.readMarks.marks(caller: context.caller)))
        }
        map.service("Mutation.markRead") { invocation throws(ServiceError) in
            let context = invocation.context
            let marks = try await context.services.readMarks.markRead(
                invocation.arguments["topicId"]?.stringValue.map { TopicID($0) },
                upTo: invocation.arguments["number"]?.intValue,
                caller: context.caller
            )
            return .object(.readState(marks))
        }
        map.leaf("ReadState.unread") { object, out in
            guard case .readState(let marks) = object else { return out.null() }
            out.int(marks.reduce(0) { $0 + $1.unread })
        }
        map.value("ReadState.topics") { object, _ in
            guard case .readState(let marks) = object else { return .null }
            return .list(marks.map { .object(.readMark($0)) })
        }
        map.mark("topicId") { $1.string($0.topicID.text) }
        map.mark("number") { $1.int($0.number) }
        map.mark("unread") { $1.int($0.unread) }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func mark(_ field: String, _ write: @escaping @Sendable (ReadMark, inout LeafWriter) -> Void) {
        leaf("TopicReadState.\(field)") { object, out in
            guard case .readMark(let mark) = object else { return out.null() }
            write(mark, &out)
        }
    }
}
