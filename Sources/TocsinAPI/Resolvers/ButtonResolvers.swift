import GraphQL
import JSON
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
        registerMessage(in: &map)
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

    private static func registerMessage(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.batch("Message.buttons") { parents, invocation throws(GraphQLError) in
            let limit = Int(clamping: max(0, invocation.arguments["limit"]?.intValue ?? .max))
            let listed = parents.map { Array(MessageButton.all(of: $0.record).prefix(limit)) }
            let asked = zip(parents, listed).compactMap { parent, buttons -> ButtonService.Asked? in
                let calls = buttons.filter(\.isCall).map(\.id)
                return calls.isEmpty ? nil : parent.record.map { ButtonService.Asked(calls, of: $0) }
            }
            let context = invocation.context
            let states = try await invocation.serving { () async throws(ServiceError) -> ButtonService.States in
                guard let service = context.services.buttons, !asked.isEmpty else { return [:] }
                return try await service.states(of: asked, caller: context.caller)
            }
            return zip(parents, listed).map { parent, buttons in
                let states = states[MessageID(parent.record?.id ?? "")] ?? [:]
                return .objects(buttons.map { .messageButton($0.standing(states[$0.id])) })
            }
        }
        map.button("id") { $1.string($0.id) }
        map.button("title") { $1.string($0.title) }
        map.button("url") { $1.string($0.url) }
        map.button("isCall") { $1.bool($0.isCall) }
        map.button("mayPress") { $1.bool($0.state?.mayPress == true) }
        map.value("MessageButton.press") { object, _ in
            guard case .messageButton(let button) = object, let press = button.state?.press else { return .null }
            return .object(.buttonPress(press))
        }
    }
}

/// A button of one message, as who reads the message sees it.
package struct MessageButton: Sendable {
    let id: String
    let title: String
    let url: String?
    /// Whether the server makes its call; what it asks for stays sealed.
    let isCall: Bool
    /// How it stands for the caller; nil where it has no call, or is over and was not pressed.
    private(set) var state: ButtonService.State?

    /// The buttons that a message has of its own.
    static func all(of message: Record?) -> [MessageButton] {
        let stored: String? =
            switch message?["push"] {
            case .json(let text)?, .text(let text)?: text
            default: nil
            }
        guard let push = stored.flatMap({ try? JSONParser.parse($0) }) else { return [] }
        let calls = push[ButtonCall.member]?.objectValue
        return (push["actions"]?.arrayValue ?? []).compactMap { action in
            guard let id = action["id"]?.stringValue, let title = action["title"]?.stringValue else { return nil }
            return MessageButton(
                id: id,
                title: title,
                url: action["url"]?.stringValue,
                isCall: calls?[id] != nil
            )
        }
    }

    /// The same button, which stands so.
    func standing(_ state: ButtonService.State?) -> MessageButton {
        var button = self
        if isCall { button.state = state }
        return button
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
    fileprivate mutating func button(
        _ field: String,
        _ write: @escaping @Sendable (MessageButton, inout LeafWriter) -> Void
    ) {
        leaf("MessageButton.\(field)") { object, out in
            guard case .messageButton(let button) = object else { return out.null() }
            write(button, &out)
        }
    }
}
