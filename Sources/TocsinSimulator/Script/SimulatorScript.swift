package import JSON

/// A script: rules for pushes, and limits that replace the settings'.
///
///     { "rules": [ { "provider": "apns", "fault": "TooManyRequests", "share": "5 %" } ],
///       "fcm": { "messagesPerMinute": 1000 } }
package struct SimulatorScript: Sendable {
    /// `nil` leaves the rules in force as they are.
    var rules: [FaultRule]?
    private let changes: [@Sendable (inout SimulatorLimits) -> Void]

    /// Rules at most.
    static let maximumRules = 1000

    /// Reads a script, or says what is wrong with it.
    package init(_ value: JSONValue) throws(ScriptError) {
        let reader = try ScriptReader(value, "the script", members: ["rules", "apns", "fcm", "lateSeconds", "seed"])
        if let list = value["rules"] {
            guard let values = list.arrayValue, values.count <= Self.maximumRules else {
                throw ScriptError("rules must be a list of at most \(Self.maximumRules) objects.")
            }
            var rules: [FaultRule] = []
            for value in values { rules.append(try FaultRule(value)) }
            self.rules = rules
        }
        var changes: [@Sendable (inout SimulatorLimits) -> Void] = []
        if let seconds = try reader.number("lateSeconds") { changes.append { $0.lateSeconds = seconds } }
        if let seed = try reader.whole("seed") { changes.append { $0.seed = UInt64(seed) } }
        if let apns = value["apns"] { changes += try Self.apns(apns) }
        if let fcm = value["fcm"] { changes += try Self.fcm(fcm) }
        self.changes = changes
    }

    /// Reads a script from text.
    package init(text: [UInt8]) throws(ScriptError) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONParser.parse(text)
        } catch {
            throw ScriptError("The script is not JSON: \(error)")
        }
        try self.init(value)
    }

    /// A rule of one fault for a share of all pushes: `apns:TooManyRequests=5%`.
    package static func rate(_ text: String) throws(ScriptError) -> JSONValue {
        let parts = text.split(separator: "=", maxSplits: 1)
        let names = parts.first?.split(separator: ":", maxSplits: 1) ?? []
        guard parts.count == 2, names.count == 2 else {
            throw ScriptError("A rate is written PROVIDER:FAULT=SHARE, as in apns:TooManyRequests=5%.")
        }
        let rule: JSONValue = [
            "provider": .string(String(names[0])), "fault": .string(String(names[1])),
            "share": .string(String(parts[1])),
        ]
        _ = try FaultRule(rule)
        return rule
    }

    func change(_ limits: inout SimulatorLimits) {
        for change in changes { change(&limits) }
    }

    private static func apns(_ value: JSONValue) throws(ScriptError) -> [@Sendable (inout SimulatorLimits) -> Void] {
        let members = ["streams", "readBytesPerSecond", "bundleIds", "providerTokenUpdateSeconds"]
        let reader = try ScriptReader(value, "apns", members: members)
        var changes = try wire(reader, .apns)
        if let ids = try reader.texts("bundleIds") { changes.append { $0.bundleIDs = ids } }
        if let seconds = try reader.whole("providerTokenUpdateSeconds") {
            changes.append { $0.providerTokenUpdateSeconds = seconds }
        }
        return changes
    }

    private static func fcm(_ value: JSONValue) throws(ScriptError) -> [@Sendable (inout SimulatorLimits) -> Void] {
        let members = [
            "streams", "readBytesPerSecond", "messagesPerMinute", "deviceMessagesPerMinute", "deviceMessagesPerHour",
            "accessTokenSeconds",
        ]
        let reader = try ScriptReader(value, "fcm", members: members)
        var changes = try wire(reader, .fcm)
        if let count = try reader.whole("messagesPerMinute") { changes.append { $0.fcmMessagesPerMinute = count } }
        if let count = try reader.whole("deviceMessagesPerMinute") {
            changes.append { $0.fcmDeviceMessagesPerMinute = count }
        }
        if let count = try reader.whole("deviceMessagesPerHour") {
            changes.append { $0.fcmDeviceMessagesPerHour = count }
        }
        if let seconds = try reader.whole("accessTokenSeconds") { changes.append { $0.accessTokenSeconds = seconds } }
        return changes
    }

    private static func wire(
        _ reader: ScriptReader,
        _ provider: SimulatedProvider
    ) throws(ScriptError) -> [@Sendable (inout SimulatorLimits) -> Void] {
        var changes: [@Sendable (inout SimulatorLimits) -> Void] = []
        if let streams = try reader.whole("streams") { changes.append { $0[provider].streams = streams } }
        if let bytes = reader["readBytesPerSecond"] {
            let pace = bytes == .null ? nil : try reader.whole("readBytesPerSecond")
            changes.append { $0[provider].readBytesPerSecond = pace }
        }
        return changes
    }
}

/// What may be changed while the simulator runs.
struct SimulatorLimits: Sendable {
    struct Wire: Sendable, Hashable {
        /// Streams a connection may have at once.
        var streams: Int
        /// How fast a connection is read; 0 not at all, `nil` as fast as it comes.
        var readBytesPerSecond: Int?
    }

    var apns: Wire
    var fcm: Wire
    var bundleIDs: [String]
    var providerTokenUpdateSeconds: Int
    var accessTokenSeconds: Int
    var fcmMessagesPerMinute: Int?
    var fcmDeviceMessagesPerMinute: Int?
    var fcmDeviceMessagesPerHour: Int?
    var lateSeconds: Double
    /// Where the random numbers behind shares begin.
    var seed: UInt64 = 1

    init(_ settings: SimulatorSettings) {
        apns = Wire(streams: settings.maximumStreams)
        fcm = Wire(streams: settings.maximumStreams)
        bundleIDs = settings.bundleIDs
        providerTokenUpdateSeconds = settings.providerTokenUpdateSeconds
        accessTokenSeconds = settings.accessTokenSeconds
        fcmMessagesPerMinute = settings.fcmMessagesPerMinute
        fcmDeviceMessagesPerMinute = settings.fcmDeviceMessagesPerMinute
        fcmDeviceMessagesPerHour = settings.fcmDeviceMessagesPerHour
        lateSeconds = settings.slowAnswerSeconds
    }

    subscript(provider: SimulatedProvider) -> Wire {
        get { provider == .apns ? apns : fcm }
        set { if provider == .apns { apns = newValue } else { fcm = newValue } }
    }
}
