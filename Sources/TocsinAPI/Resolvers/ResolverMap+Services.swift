import GraphQL
import TocsinCore

// The kinds of fields that resolvers of several types register.
extension ResolverMap where Object == APIObject, Context == RequestContext {
    /// A root field that one service call resolves.
    mutating func service(
        _ coordinate: String,
        _ resolve:
            @escaping @Sendable (FieldInvocation<RequestContext>) async throws(ServiceError) -> ResolvedValue<APIObject>
    ) {
        root(coordinate) { invocation throws(GraphQLError) in
            invocation.noteSubjects()
            do throws(ServiceError) {
                let value = try await resolve(invocation)
                if case .object(.record(let record)) = value { invocation.context.held.note(record) }
                return value
            } catch {
                throw invocation.worded(error)
            }
        }
    }

    /// A field of records that answers a page of what each of them has.
    mutating func pages(
        _ coordinate: String,
        _ page:
            @escaping @Sendable (Record, FieldInvocation<RequestContext>) async throws(ServiceError)
            -> ResolvedValue<APIObject>
    ) {
        batch(coordinate) { parents, invocation throws(GraphQLError) in
            var pages: [ResolvedValue<APIObject>] = []
            for parent in parents {
                guard let record = parent.record else {
                    pages.append(.null)
                    continue
                }
                pages.append(
                    try await invocation.serving { () throws(ServiceError) in try await page(record, invocation) }
                )
            }
            return pages
        }
    }

    /// The items of a page, and the token of the next one.
    mutating func connection<Item>(
        _ type: String,
        of object: @escaping @Sendable (Item) -> APIObject,
        _ page: @escaping @Sendable (APIObject) -> (items: [Item], nextToken: String?)?
    ) {
        value("\(type).items") { parent, _ in
            page(parent).map { .objects($0.items.map(object)) } ?? .null
        }
        leaf("\(type).nextToken") { parent, out in out.string(page(parent)?.nextToken) }
    }
}
