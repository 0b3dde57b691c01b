import JSON
// One import of TocsinClient brings what apps do without a socket.
@_exported public import TocsinContent

extension DeviceRegistration {
    /// An app on one of these platforms.
    public init(token: String, platform: PushPlatform) {
        self.init(token: token, platform: platform.rawValue)
    }

    /// An app on one of Apple's devices, by the bytes of its APNs token.
    public init(apnsToken: some Sequence<UInt8>, environment: APNsEnvironment? = nil) {
        self.init(token: hexEncoded(apnsToken), platform: PushPlatform.ios.rawValue)
        self.environment = environment?.rawValue
    }
}

extension TocsinClient {
    /// Registers an app by its token: for Apple's devices the token's bytes by `hexEncoded`.
    public func registerToken(_ token: String, platform: PushPlatform) async throws(ClientError) -> PushRegistration {
        try await registerPushToken(DeviceRegistration(token: token, platform: platform))
    }

    /// The kinds of notifications that the server knows, to be registered with the system.
    public func notificationCategories() async throws(ClientError) -> NotificationCategories {
        NotificationCategories(json: try await query(NotificationCategories.document))
    }

    /// Pushes to a user's devices, to devices by their tokens, or to both, without a topic.
    ///
    /// With a `key` the push may be asked for again, and is sent once. Without one it is repeated
    /// only where the server cannot have seen it.
    public func sendPush(
        _ payload: PushPayload,
        userID: String? = nil,
        tokens: [String] = [],
        platforms: [PushPlatform] = []
    ) async throws(ClientError) -> PushResult {
        var variables = payload.arguments
        variables["userId"] = userID.map(JSONValue.string)
        if !tokens.isEmpty { variables["tokens"] = .array(tokens.map(JSONValue.string)) }
        if !platforms.isEmpty { variables["platforms"] = .array(platforms.map { .string($0.rawValue) }) }
        let answer =
            payload.key == nil
            ? try await mutate(Documents.sendPush, variables: variables)
            : try await query(Documents.sendPush, variables: variables)
        guard let result = PushResult(answer["sendPush"]) else {
            throw ClientError(.badAnswer, "The server did not say what became of the push.")
        }
        return result
    }
}
