/// Apple's push types: what follows the bundle id in `apns-topic`, and the size limit (Apple:
/// Sending notification requests to APNs).
enum APNsPushType: String, Sendable, Hashable, CaseIterable {
    case alert, background, voip, complication, fileprovider, location, liveactivity, pushtotalk, widgets, controls

    /// What `apns-topic` has after the bundle id.
    var topicSuffix: String {
        switch self {
        case .alert, .background: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// Bytes of the body.
    var maximumBytes: Int { self == .voip ? 5120 : PushPayload.maximumBytes }

    /// Whether a message makes sense as a push of this type: the others carry states
    /// and orders of an app's own.
    var carriesMessages: Bool { self == .alert || self == .background || self == .voip }

    /// The type of pushes to a topic: a device says what its token is for by
    /// the suffix of its app id.
    ///
    /// Only what follows the bundle id itself is a suffix, because an app may be
    /// called `com.example.voip`.
    init(topic: String, bundleID: String?) {
        let suffix = bundleID.flatMap { topic.hasPrefix($0) ? topic.dropFirst($0.utf8.count) : nil } ?? ""
        self = Self.allCases.first { !suffix.isEmpty && $0.topicSuffix == suffix } ?? .alert
    }

    /// What is before the suffix of a topic; nil where there is none.
    static func bundleID(of topic: String) -> String? {
        allCases.map(\.topicSuffix).first { !$0.isEmpty && topic.hasSuffix($0) }
            .map { String(topic.dropLast($0.utf8.count)) }
    }
}
