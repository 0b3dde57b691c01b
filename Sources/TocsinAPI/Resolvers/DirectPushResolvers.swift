import GraphQL
import JSON
import TocsinCore

/// Resolvers of pushes to users and devices without a topic of theirs.
struct DirectPushResolvers {
    let schema: APISchema

    func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        let messages = schema.messages
        map.service("Mutation.sendPush") { invocation throws(ServiceError) in
            let context = invocation.context
            let order = try Self.order(invocation.arguments.object, messages)
            return .object(
                .receipt(try await context.services.directPushes.send(order, caller: context.caller))
            )
        }
        map.value("PushReceipt.message") { object, _ in
            guard case .receipt(let receipt) = object else { return .null }
            return .object(.record(receipt.message))
        }
        map.leaf("PushReceipt.messageId") { object, out in
            guard case .receipt(let receipt) = object else { return out.null() }
            out.string(receipt.message.id)
        }
        map.leaf("PushReceipt.devices") { object, out in
            guard case .receipt(let receipt) = object else { return out.null() }
            out.int(Int64(receipt.devices))
        }
        map.leaf("PushReceipt.unknownTokens") { object, out in
            guard case .receipt(let receipt) = object else { return out.null() }
            out.int(Int64(receipt.unknownTokens))
        }
    }

    private static func order(_ arguments: JSONObject, _ messages: ModelType) throws(ServiceError)
        -> DirectPushService.Order
    {
        let platforms = try platforms(arguments["platforms"]?.arrayValue)
        let tokens = (arguments["tokens"]?.arrayValue ?? []).compactMap(\.stringValue)
        let (user, named) = (arguments["userId"]?.stringValue, arguments["user"]?.stringValue)
        let address = arguments["address"]?.stringValue
        let isForEverybody = arguments["everybody"]?.boolValue ?? false
        let isKeptByUser = arguments["inbox"]?.boolValue ?? false
        try PushInputCheck.check(arguments["push"])
        var push = arguments["push"]?.objectValue ?? [:]
        // Kept with the message, so that the same key for somebody else is a
        // conflict and not a repeat.
        let whom =
            (user ?? "") + (named.map { " \($0)" } ?? "") + (isForEverybody ? "\n*" : "")
            + (address.map { "\n0 \($0)" } ?? "")
        push["recipients"] = .string(digest(user: whom, tokens: tokens, platforms: platforms))
        var fields = arguments
        fields["push"] = .object(push)
        for name in ["body", "type"] where fields[name]?.isNull != false {
            fields[name] = name == "body" ? .string("") : .int(0)
        }
        let input = messages.input(from: fields)
        try PushInputCheck.check(data: input)
        var order = DirectPushService.Order(
            userID: user.map { UserID($0) },
            tokens: tokens,
            platforms: platforms,
            input: input
        )
        order.user = named
        order.isForEverybody = isForEverybody
        order.isKeptByUser = isKeptByUser
        order.address = address
        return order
    }

    private static func platforms(_ names: [JSONValue]?) throws(ServiceError) -> Set<PushPlatform> {
        guard let names else { return Set(PushPlatform.allCases) }
        var platforms: Set<PushPlatform> = []
        for name in names.compactMap(\.stringValue) {
            guard let platform = PushPlatform(rawValue: name) else {
                throw .badInput("platforms may hold ios, android and web; it has \"\(name.prefix(64))\".")
            }
            platforms.insert(platform)
        }
        guard !platforms.isEmpty else { throw .badInput("platforms must not be empty; leave it out for all.") }
        return platforms
    }

    private static func digest(user: String, tokens: [String], platforms: Set<PushPlatform>) -> String {
        let list = tokens.sorted().joined(separator: "\n")
        let names = platforms.map(\.rawValue).sorted().joined(separator: ",")
        return DerivedUUID.text(of: list, "\(names) \(user)")
    }
}
