import GraphQL
import JSON
import TocsinCore

/// Resolvers of devices, push registration and memberships.
enum DeviceResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        registerRoots(in: &map)
        registerMembershipRoots(in: &map)
        registerDevice(in: &map)
        registerMembership(in: &map)
        registerMe(in: &map)
    }

    private static func registerRoots(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.devices") { invocation throws(ServiceError) in
            let context = invocation.context
            let address = invocation.arguments["address"]?.stringValue
            let devices = try await context.services.devices.devices(address: address, caller: context.caller)
            return .list(devices.map { .object(.device($0)) })
        }
        map.service("Query.webPushKey") { invocation throws(ServiceError) in
            guard let key = invocation.context.services.devices.webPushKey else { return .null }
            return .leaf(.string(key))
        }
        map.service("Mutation.registerPushToken") { invocation throws(ServiceError) in
            let context = invocation.context
            let (device, all) = try await context.services.devices.register(
                try registration(invocation),
                caller: context.caller
            )
            let tokens = all.filter(\.isActive).map { $0.id == device.id ? $0.token : $0.maskedToken }
            return .object(
                .registration(RegistrationResult(userID: context.caller.userID, tokens: tokens, device: device))
            )
        }
        map.service("Mutation.unregisterPushToken") { invocation throws(ServiceError) in
            let context = invocation.context
            let left = try await context.services.devices.unregister(
                token: invocation.text("token"),
                deviceID: invocation.arguments["deviceId"]?.stringValue.map { DeviceID($0) },
                caller: context.caller
            )
            let tokens = left.filter(\.isActive).map(\.maskedToken)
            return .object(
                .registration(RegistrationResult(userID: context.caller.userID, tokens: tokens, device: nil))
            )
        }
    }

    private static func registerMembershipRoots(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.memberships") { invocation throws(ServiceError) in
            let context = invocation.context
            let memberships = try await context.services.memberships.memberships(caller: context.caller)
            return .objects(memberships.map { .membership($0) })
        }
        map.service("Mutation.subscribeToTopic") { invocation throws(ServiceError) in
            let (context, topic) = (invocation.context, TopicID(invocation.text("topicId")))
            let push = invocation.arguments["push"]?.boolValue ?? true
            let membership = try await context.services.memberships.join(
                topic,
                push: push,
                delivery: invocation.arguments["delivery"]?.stringValue.flatMap(MembershipDelivery.init(rawValue:)),
                minPriority: invocation.arguments["minPriority"]?.intValue,
                caller: context.caller
            )
            return .object(.membership(membership))
        }
        map.service("Mutation.unsubscribeFromTopic") { invocation throws(ServiceError) in
            let (context, topic) = (invocation.context, TopicID(invocation.text("topicId")))
            return .object(.membership(try await context.services.memberships.leave(topic, caller: context.caller)))
        }
    }

    private static func registration(
        _ invocation: FieldInvocation<RequestContext>
    ) throws(ServiceError) -> DeviceService.Registration {
        let platformText = invocation.text("platform")
        guard let platform = PushPlatform(rawValue: platformText) else {
            throw .badInput("platform must be ios, android or web; it is \"\(platformText.prefix(64))\".")
        }
        var environment: PushEnvironment?
        if let text = invocation.arguments["environment"]?.stringValue {
            environment = PushEnvironment(rawValue: text)
            guard environment != nil else {
                throw .badInput("environment must be sandbox or production; it is \"\(text.prefix(64))\".")
            }
        }
        let kindText = invocation.arguments["kind"]?.stringValue ?? PushTokenKind.token.rawValue
        guard let kind = PushTokenKind(rawValue: kindText) else {
            throw .badInput("kind must be token or fid; it is \"\(kindText.prefix(64))\".")
        }
        var registration = DeviceService.Registration(
            token: invocation.text("token"),
            platform: platform,
            environment: environment,
            appID: invocation.arguments["appId"]?.stringValue ?? "",
            deviceID: invocation.arguments["deviceId"]?.stringValue.map { DeviceID($0) },
            name: invocation.arguments["name"]?.stringValue,
            kind: kind
        )
        registration.hardwareID = invocation.arguments["hardwareId"]?.stringValue
        registration.isActive = invocation.arguments["active"]?.boolValue ?? true
        registration.isBound = invocation.flag("bindToSignIn")
        registration.proof = ProofResolvers.proof(invocation.arguments["proof"])
        return registration
    }

    private static func registerDevice(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.device("id") { $1.string($0.id.text) }
        map.device("platform") { $1.string($0.platform.rawValue) }
        map.device("environment") { $1.string($0.environment?.rawValue) }
        map.device("token") { $1.string($0.maskedToken) }
        map.device("appId") { $1.string($0.appID.isEmpty ? nil : $0.appID) }
        map.device("kind") { $1.string($0.kind.rawValue) }
        map.device("name") { $1.string($0.name) }
        map.device("hardwareId") { $1.string($0.hardwareID) }
        map.device("active") { $1.bool($0.isActive) }
        map.device("disabledReason") { $1.string($0.disabledReason?.rawValue) }
        map.device("signedInUntil") { $1.string($0.signedInUntil?.iso8601) }
        map.device("address") { $1.string($0.address) }
        map.device("provenAt") { $1.string($0.provenAt?.iso8601) }
        map.device("registeredAt") { $1.string($0.registeredAt.iso8601) }
        map.device("lastSeenAt") { $1.string($0.lastSeenAt.iso8601) }
        map.leaf("PushRegistration.userId") { object, out in
            guard case .registration(let result) = object else { return out.null() }
            out.string(result.userID.text)
        }
        map.value("PushRegistration.pushTokens") { object, _ in
            guard case .registration(let result) = object else { return .null }
            return .list(result.tokens.map { .leaf(.string($0)) })
        }
        map.value("PushRegistration.device") { object, _ in
            guard case .registration(let result) = object, let device = result.device else { return .null }
            return .object(.device(device))
        }
    }

    private static func registerMembership(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.membership("topicId") { $1.string($0.topicID.text) }
        map.membership("userId") { $1.string($0.userID.text) }
        map.membership("userName") { $1.string($0.userName) }
        map.membership("push") { $1.bool($0.push) }
        map.membership("createdAt") { $1.string($0.createdAt.iso8601) }
        map.membership("delivery") { $1.string($0.delivery.rawValue) }
        map.membership("minPriority") { $1.int($0.minPriority) }
    }

    private static func registerMe(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.me") { invocation throws(ServiceError) in .object(.me(invocation.context.caller)) }
        map.service("Mutation.setNotifications") { invocation throws(ServiceError) in
            let context = invocation.context
            let areWanted = invocation.arguments["enabled"]?.boolValue ?? true
            try await context.services.devices.setPushes(areWanted, caller: context.caller)
            return .object(.me(context.caller))
        }
        map.batch("Me.notifications") { parents, invocation throws(GraphQLError) in
            let areWanted = try await invocation.serving { () throws(ServiceError) in
                try await invocation.context.services.devices.wantsPushes(caller: invocation.context.caller)
            }
            return parents.map { _ in .leaf(.bool(areWanted)) }
        }
        map.me("userId") { $1.string($0.userID.text) }
        map.me("username") { $1.string($0.username) }
        map.me("tokenExpiresAt") { $1.string($0.expiresAt?.iso8601) }
        map.value("Me.groups") { object, _ in
            guard case .me(let caller) = object else { return .null }
            return .list(caller.groups.map { .leaf(.string($0)) })
        }
        map.me("admin") { $1.bool($0.isAdmin) }
        map.me("groupMaker") { $1.bool($0.isGroupMaker) }
        map.me("scope") { $1.string($0.scope.summary) }
        map.value("Me.scopes") { object, _ in
            guard case .me(let caller) = object else { return .null }
            return .list(caller.scope.words.map { .leaf(.string($0)) })
        }
    }
}

extension Device {
    /// The token with all but its first 8 characters masked.
    var maskedToken: String { token.count > 8 ? token.prefix(8) + "…" : String(repeating: "*", count: token.count) }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func device(_ field: String, _ write: @escaping @Sendable (Device, inout LeafWriter) -> Void) {
        leaf("Device.\(field)") { object, out in
            guard case .device(let device) = object else { return out.null() }
            write(device, &out)
        }
    }

    fileprivate mutating func membership(
        _ field: String,
        _ write: @escaping @Sendable (Membership, inout LeafWriter) -> Void
    ) {
        leaf("Membership.\(field)") { object, out in
            guard case .membership(let membership) = object else { return out.null() }
            write(membership, &out)
        }
    }

    fileprivate mutating func me(_ field: String, _ write: @escaping @Sendable (Identity, inout LeafWriter) -> Void) {
        leaf("Me.\(field)") { object, out in
            guard case .me(let caller) = object else { return out.null() }
            write(caller, &out)
        }
    }
}
