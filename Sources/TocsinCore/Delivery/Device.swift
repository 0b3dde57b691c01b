/// Where a device's pushes go.
package enum PushPlatform: String, Sendable, Hashable, CaseIterable {
    case ios, android, web
}

/// Apple's two sides.
package enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
    case sandbox, production
}

/// What kind of name a provider has for a device.
package enum PushTokenKind: String, Sendable, Hashable, CaseIterable {
    /// A registration or device token.
    case token
    /// A Firebase installation id: the target `fid` of FCM's HTTP v1 API, which replaces tokens.
    case fid
}

/// One installed app that push can reach.
package struct Device: Sendable, Hashable {
    /// The device's id, made by the server when it is first registered.
    package var id: DeviceID
    /// Whose device it is; a token that another user registers moves to that user.
    package var userID: UserID
    /// Which kind of provider reaches it.
    package var platform: PushPlatform
    /// iOS only; nil: the server's default side.
    package var environment: PushEnvironment?
    /// Bundle id or project the token belongs to; empty: the server's default app.
    package var appID: String
    /// The provider's token; unique per app.
    ///
    /// Never logged.
    package var token: String
    /// What kind of name `token` is.
    package var kind: PushTokenKind
    /// What its owner calls it; nil: nothing.
    package var name: String?
    /// The hardware's own id, as the app gives it; nil: none.
    package var hardwareID: String?
    /// Whether pushes go to it; false once it was unregistered or a provider refused it for good.
    package var isActive: Bool
    /// Why it is not active: nil while it is active.
    package var disabledReason: DeliveryReason?
    /// When its present token was registered; a refusal of older date does not end it.
    package var registeredAt: Timestamp
    /// When its app last registered, in whatever state it was before.
    package var lastSeenAt: Timestamp
    /// The sign-in that pushes to it end with; nil: they end with the account alone.
    package var binding: Binding?
    /// Until when that sign-in is good, as of when the device was read, 0 once it was revoked; nil
    /// where there is no binding.
    package var signedInUntil: Timestamp?
    /// The wallet's address, or the key, that proved the registration of its present token; nil:
    /// none did.
    package var address: String?
    /// When that was proven.
    package var provenAt: Timestamp?
    /// Whether its owner wants no pushes, as of when it was read; never saved with the device.
    package var isMuted = false
    /// Whether its owner wants no pushes of the topic it was read for; never saved with the device.
    package var isTopicMuted = false
    /// What its owner wants of that topic, never saved with the device; nil: each push.
    package var topicWish: MembershipWish?
    /// Whether its owner may read what it was read for; judged by the outbox,
    /// never saved with the device.
    package var mayReceive = true
    /// What its owner wants of the push it was read for, where that is not to be sent at once;
    /// judged by the outbox, never saved with the device.
    package var wish: PushWish?
    /// Whether the push that it was read for is shown without ringing, as others see to what it
    /// tells of; judged by the outbox, never saved with the device.
    package var isHushed = false
    /// How many messages its owner has not read, as of when it was read for a push;
    /// nil where nobody counts.
    package var unread: Int64?

    /// What a device is bound to.
    package enum Binding: Sendable, Hashable {
        /// A local token, which may be revoked.
        case token(TokenID)
        /// The end of a token that somebody else issued.
        case end(Timestamp)
    }

    /// Whether the sign-in that it is bound to has ended by a moment.
    package func isSignedOut(at moment: Timestamp) -> Bool { signedInUntil.map { $0 <= moment } ?? false }

    /// A device from its stored values; the marks of a single push are set afterwards.
    package init(
        id: DeviceID,
        userID: UserID,
        platform: PushPlatform,
        environment: PushEnvironment?,
        appID: String,
        token: String,
        name: String?,
        isActive: Bool = true,
        disabledReason: DeliveryReason? = nil,
        registeredAt: Timestamp,
        lastSeenAt: Timestamp,
        kind: PushTokenKind = .token,
        hardwareID: String? = nil
    ) {
        self.id = id
        self.userID = userID
        self.platform = platform
        self.environment = environment
        self.appID = appID
        self.token = token
        self.name = name
        self.isActive = isActive
        self.disabledReason = disabledReason
        self.registeredAt = registeredAt
        self.lastSeenAt = lastSeenAt
        self.kind = kind
        self.hardwareID = hardwareID
    }
}

extension Device {
    /// Whether Firebase gave an iPhone its name: an installation id, or a registration token, which
    /// has a colon.
    ///
    /// Apple's own tokens are hexadecimal, so no name can be both.
    package var isNamedByFirebase: Bool { kind == .fid || Self.isFirebaseToken(token) }

    /// Whether a text has the form of Firebase's registration tokens, which begin with an
    /// installation id and a colon.
    package static func isFirebaseToken(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: ":")) }

    /// Whether a text has the form of Apple's device tokens: bytes in hexadecimal.
    package static func isAppleToken(_ text: String) -> Bool {
        text.utf8.count.isMultiple(of: 2)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
            }
    }
}

/// A person's tie to a topic: whether their devices get its pushes.
package struct Membership: Sendable, Hashable {
    /// The topic that the person is a member of.
    package var topicID: TopicID
    /// The member.
    package var userID: UserID
    /// Whether the member's devices get the topic's pushes; false: the topic is muted.
    package var push: Bool
    /// When the membership began; later memberships get no older messages pushed.
    package var createdAt: Timestamp
    /// How the member gets the topic's messages.
    package var delivery = MembershipDelivery.now
    /// Messages of a lower priority are not pushed to the member.
    package var minPriority: Int64 = 1
    /// The member's name, where it was looked up and is known; nothing stored.
    package var userName: String?

    /// A membership that gets each message at once.
    package init(topicID: TopicID, userID: UserID, push: Bool, createdAt: Timestamp) {
        self.topicID = topicID
        self.userID = userID
        self.push = push
        self.createdAt = createdAt
    }
}

/// What registering browsers takes.
package protocol WebPushRegistering: Sendable {
    /// The key that browsers subscribe with; nil when Web Push is not set up.
    var applicationServerKey: String? { get }
    /// The one form of a token of the platform `web`; throws `badInput` for a subscription
    /// that cannot be pushed to.
    func canonicalToken(_ token: String) throws(ServiceError) -> String
}
