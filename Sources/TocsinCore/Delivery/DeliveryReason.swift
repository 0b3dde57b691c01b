/// Why a delivery stands as it does, or why a device was ended: a provider's word or ours.
///
/// Providers may say what no document lists, and their word is kept as it is. So this is no enum:
/// any text is a reason, and those that the code knows have names.
package struct DeliveryReason: RawRepresentable, Sendable, Hashable {
    /// The text as it is stored, shown and logged.
    package let rawValue: String

    /// A reason from its stored text, or from a provider's word.
    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The reason with a sentence that says more, behind a colon.
    package func with(detail: String) -> DeliveryReason {
        DeliveryReason(rawValue: "\(rawValue): \(detail)")
    }
}

extension DeliveryReason: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A reason from the text that stands in the source.
    package init(stringLiteral text: String) {
        self.init(rawValue: text)
    }

    /// The text, for logs.
    package var description: String { rawValue }
}

// Our own words; the providers' are where their answers are read.
extension DeliveryReason {
    /// No credentials for the service that reaches the device.
    package static let providerNotConfigured: Self = "PROVIDER_NOT_CONFIGURED"
    /// The device names an app, or a side of Apple's, that the server has no credentials for.
    package static let appNotConfigured: Self = "APP_NOT_CONFIGURED"
    /// The device's owner has switched all pushes off.
    package static let notificationsOff: Self = "NOTIFICATIONS_OFF"
    /// The member wants no pushes of this topic.
    package static let topicMuted: Self = "TOPIC_MUTED"
    /// It is quiet where the device's owner is: the push waits, or stays in the feed.
    package static let quietHours: Self = "QUIET_HOURS"
    /// A summary told of it when the quiet was over.
    package static let inSummary: Self = "IN_SUMMARY"
    /// The member reads the topic in the feed alone.
    package static let feedOnly: Self = "FEED_ONLY"
    /// The member's digest tells of it.
    package static let inDigest: Self = "IN_DIGEST"
    /// The member wants pushes of a higher priority alone.
    package static let belowPriority: Self = "BELOW_PRIORITY"
    /// The member had no active device when the message was committed.
    package static let noDevice: Self = "NO_DEVICE"
    /// The device has not been heard of for longer than the server's settings allow.
    package static let deviceStale: Self = "DEVICE_STALE"
    /// The device was removed while the delivery waited.
    package static let deviceGone: Self = "DEVICE_GONE"
    /// The device is not active, and nothing says why.
    package static let deviceInactive: Self = "DEVICE_INACTIVE"
    /// A token that no device has, or none that the sender may reach.
    package static let unknownToken: Self = "UNKNOWN_TOKEN"
    /// An address that no device was registered with, or none that the sender may reach.
    package static let unknownAddress: Self = "UNKNOWN_ADDRESS"
    /// The device was signed out; FCM says the same of a token that it has forgotten.
    package static let unregistered: Self = "UNREGISTERED"
    /// The token was registered again, by another owner or for another device.
    package static let tokenMoved: Self = "TOKEN_MOVED"
    /// The member left the topic, or was removed from it.
    package static let leftTopic: Self = "LEFT_TOPIC"
    /// The device's owner may not read the message any more, or their account is disabled; or an
    /// operator ended the device.
    package static let accessEnded: Self = "ACCESS_ENDED"
    /// Somebody has taken the incident on, or it is over: the push that asked for somebody is not
    /// needed any more.
    package static let incidentAnswered: Self = "INCIDENT_ANSWERED"
    /// A quiet change of an incident, for a device that had no push of it.
    package static let incidentUnseen: Self = "INCIDENT_UNSEEN"
}
