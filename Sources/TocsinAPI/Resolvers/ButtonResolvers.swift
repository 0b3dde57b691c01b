import GraphQL
import TocsinCore

/// Resolvers of buttons whose call the server makes.
enum ButtonResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Mutation.pressButton") { invocation throws(ServiceError) in
            let context = invocation.context
            guard AccessPolicy.mayManageOwnThings(context.caller, writing: true) else { throw .unauthorized }
            guard let service = context.services.buttons else { throw .badInput("This server makes no calls.") }
            let press = try await service.press(
                invocation.text("id"),
                of: MessageID(invocation.text("messageId")),
                caller: context.caller
            )
            return .object(.buttonPress(press))
        }
        map.press("at") { $1.string($0.at.iso8601) }
        map.press("isDone") { $1.bool($0.outcome?.isDone == true) }
        map.press("status") { press, out in
            guard case .answered(let status)? = press.outcome else { return out.null() }
            out.int(Int64(status))
        }
        map.press("problem") { press, out in
            guard case .failed(let words)? = press.outcome else { return out.null() }
            out.string(words)
        }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func press(
        _ field: String,
        _ write: @escaping @Sendable (ButtonPress, inout LeafWriter) -> Void
    ) {
        leaf("ButtonPress.\(field)") { object, out in
            guard case .buttonPress(let press) = object else { return out.null() }
            write(press, &out)
        }
    }
}
