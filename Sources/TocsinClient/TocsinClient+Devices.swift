import JSON
public import TocsinContent

/// An installed app that push should reach.
public struct DeviceRegistration: Sendable, Hashable {
    /// The push token that Apple or Google gave the app.
    public var token: String
    /// `ios`, `android` or `web`.
    public var platform: String
    /// `sandbox` or `production`; iOS only.
    public var environment: String?
    /// The app's bundle id or package name.
    public var appID: String?
    /// The device's own id, kept when its token changes.
    public var deviceID: String?
    /// What its owner calls it.
    public var name: String?
    /// Who says that the device is theirs; `registerPushToken(_:signedBy:)` fills it in.
    public var proof: RegistrationProof?

    /// A registration of these parts.
    public init(token: String, platform: String) {
        self.token = token
        self.platform = platform
    }
}

/// What the server says of a caller's devices.
public struct PushRegistration: Sendable, Hashable {
    /// The caller.
    public let userID: String
    /// The caller's active tokens, masked but for the one just registered.
    public let pushTokens: [String]
}

extension TocsinClient {
    /// Registers an installed app, so that pushes reach it; doing it again does no harm.
    public func registerPushToken(_ device: DeviceRegistration) async throws(ClientError) -> PushRegistration {
        var variables: JSONObject = ["token": .string(device.token), "platform": .string(device.platform)]
        let optional = [
            ("environment", device.environment), ("appId", device.appID), ("deviceId", device.deviceID),
            ("name", device.name),
        ]
        for case (let name, let value?) in optional { variables[name] = .string(value) }
        guard let proof = device.proof else {
            let answer = try await query(Documents.registerPushToken, variables: variables)
            return try registration(answer["registerPushToken"])
        }
        variables["proof"] = proof.json
        // A challenge is good once: the same registration again would be refused.
        let answer = try await mutate(Documents.registerProvenPushToken, variables: variables)
        return try registration(answer["registerPushToken"])
    }

    /// Ends pushes to an installed app at once; the app signs out.
    public func unregisterPushToken(_ token: String) async throws(ClientError) -> PushRegistration {
        let answer = try await query(Documents.unregisterPushToken, variables: ["token": .string(token)])
        return try registration(answer["unregisterPushToken"])
    }

    private func registration(_ value: JSONValue?) throws(ClientError) -> PushRegistration {
        guard let userID = value?["userId"]?.stringValue else {
            throw ClientError(.badAnswer, "The server did not say whose device it is.")
        }
        let tokens = value?["pushTokens"]?.arrayValue ?? []
        return PushRegistration(userID: userID, pushTokens: tokens.compactMap(\.stringValue))
    }
}
