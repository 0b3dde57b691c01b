import JSON

/// A push request that keeps Apple's rules for path, headers and payload ("Sending
/// notification requests to APNs").
struct APNsRequest {
    let deviceToken: String
    let topic: String
    let type: APNsPushType
    let collapseID: String?
    let payload: JSONValue

    /// The device token in the path, if the path is one of a push.
    static func deviceToken(inPath path: String) -> Substring? {
        path.hasPrefix("/3/device/") ? path.dropFirst("/3/device/".count) : nil
    }

    let endsMilliseconds: Int64?

    init(_ request: WireRequest, bundleIDs: [String]) throws(APNsRefusal) {
        try Self.checkDuplicates(request)
        try Self.checkNumbers(request)
        endsMilliseconds = request.value("apns-expiration").flatMap { Int64($0) }
            .map { $0.multipliedReportingOverflow(by: 1000) }.map { $0.overflow ? .max : $0.partialValue }
        type = try Self.pushType(request)
        topic = try Self.topic(request, type, bundleIDs)
        collapseID = request.value("apns-collapse-id")
        if let collapseID, collapseID.isEmpty || collapseID.utf8.count > 64 {
            throw APNsRefusal(
                .badCollapseID,
                "apns-collapse-id has \(collapseID.utf8.count) bytes, allowed are 1 to 64"
            )
        }
        if let id = request.value("apns-id"), !LowercaseUUID.isOne(id) {
            throw APNsRefusal(.badMessageID, "apns-id \(id) is not a lowercase UUID")
        }
        deviceToken = try Self.checkedDeviceToken(request)
        payload = try APNsPayloadRules.payload(request, type, priority: request.value("apns-priority") ?? "10")
    }

    /// Headers that may stand only once; all that APNs reads.
    private static let single: Set = [
        "authorization", "apns-topic", "apns-push-type", "apns-id", "apns-expiration", "apns-priority",
        "apns-collapse-id",
    ]

    private static func checkDuplicates(_ request: WireRequest) throws(APNsRefusal) {
        for (index, line) in request.headers.enumerated() where single.contains(line.name) {
            guard !request.headers[..<index].contains(where: { $0.name == line.name }) else {
                throw APNsRefusal(.duplicateHeaders, "\(line.name) stands more than once")
            }
        }
    }

    private static func checkNumbers(_ request: WireRequest) throws(APNsRefusal) {
        if let expiration = request.value("apns-expiration"), Int64(expiration).map({ $0 >= 0 }) != true {
            throw APNsRefusal(.badExpirationDate, "apns-expiration \(expiration) is not a time in Unix seconds")
        }
        if let priority = request.value("apns-priority"), !["1", "5", "10"].contains(priority) {
            throw APNsRefusal(.badPriority, "apns-priority \(priority) is none of 1, 5, 10")
        }
    }

    private static func pushType(_ request: WireRequest) throws(APNsRefusal) -> APNsPushType {
        guard let name = request.value("apns-push-type") else {
            throw APNsRefusal(.invalidPushType, "apns-push-type is missing")
        }
        guard let type = APNsPushType(rawValue: name) else {
            throw APNsRefusal(.invalidPushType, "apns-push-type \(name) is unknown")
        }
        return type
    }

    private static func topic(
        _ request: WireRequest,
        _ type: APNsPushType,
        _ bundleIDs: [String]
    ) throws(APNsRefusal) -> String {
        guard let topic = request.value("apns-topic"), !topic.isEmpty else {
            throw APNsRefusal(.missingTopic, "apns-topic is missing")
        }
        guard topic.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw APNsRefusal(.badTopic, "apns-topic \(topic) is no bundle id")
        }
        guard bundleIDs.contains(where: { topic == $0 + type.topicSuffix }) else {
            let known = bundleIDs.map { $0 + type.topicSuffix }.joined(separator: ", ")
            throw APNsRefusal(
                .topicDisallowed,
                "apns-topic \(topic) is not of this team; \(type.rawValue) has \(known)"
            )
        }
        return topic
    }

    private static func checkedDeviceToken(_ request: WireRequest) throws(APNsRefusal) -> String {
        let token = deviceToken(inPath: request.path) ?? ""
        guard !token.isEmpty else { throw APNsRefusal(.missingDeviceToken, "the path ends after /3/device/") }
        let isHex = token.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
        }
        guard isHex, token.utf8.count.isMultiple(of: 2), (64...200).contains(token.utf8.count) else {
            throw APNsRefusal(.badDeviceToken, "a device token is 64 to 200 hex digits, an even number")
        }
        return token.lowercased()
    }
}

extension APNsRequest {
    /// What the phone gets of it.
    var arrival: Arrival {
        var arrival = Arrival(replaceKey: collapseID)
        let aps = payload["aps"]
        if let text = aps?["alert"]?.stringValue {
            arrival.body = text
        } else {
            arrival.title = aps?["alert"]?["title"]?.stringValue ?? ""
            arrival.body = aps?["alert"]?["body"]?.stringValue ?? ""
        }
        arrival.isShown = type == .alert && aps?["alert"] != nil
        arrival.badge = aps?["badge"]?.intValue.map { Int($0) }
        arrival.app = topic
        arrival.endsMilliseconds = endsMilliseconds
        return arrival
    }
}

/// Apple's push types, with the suffix their topics carry.
enum APNsPushType: String {
    case alert, background, voip, complication, fileprovider, location, liveactivity, pushtotalk, widgets, controls, mdm

    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
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

    var maximumPayloadBytes: Int { self == .voip ? 5120 : 4096 }
}

/// The one form Apple takes for `apns-id`: 8-4-4-4-12 lowercase hex digits.
enum LowercaseUUID {
    static func isOne(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && text.utf8.allSatisfy { $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)

    static func random(_ numbers: inout SeededNumbers) -> String {
        var bits = numbers.next()
        let rest = numbers.next()
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for index in 0..<32 {
            if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(hexDigits[Int(bits & 15)])
            bits = index == 15 ? rest : bits >> 4
        }
        return String(decoding: text, as: UTF8.self)
    }
}
