import JSON

/// One rule of a script: which pushes meet which fault, how many of them, and how long.
struct FaultRule: Sendable {
    let provider: SimulatedProvider
    let name: String
    let effect: ScriptEffect
    /// How a device token must begin.
    var tokenPrefix = ""
    /// The share of its pushes that meet the fault, 0 to 1.
    var share = 1.0
    /// Matching pushes that are let through first.
    var skip = 0
    /// Matching pushes that meet the fault then; `nil` is all.
    var times: Int?
    /// How often one device meets it; `nil` is always.
    var timesPerToken: Int?
    /// Only the push that is the n-th on its connection.
    var request: Int?
    /// How long the rule is in force, from when it is given.
    var forSeconds: Double?

    init(provider: SimulatedProvider, name: String, effect: ScriptEffect) {
        self.provider = provider
        self.name = name
        self.effect = effect
    }

    /// Whether the rule is for a push, its counts and share left aside.
    func isFor(_ token: String, request number: Int) -> Bool {
        token.hasPrefix(tokenPrefix) && (request == nil || request == number)
    }
}

extension FaultRule {
    private static let members = [
        "provider", "fault", "token", "share", "skip", "times", "timesPerToken", "request", "forSeconds", "retryAfter",
        "agoSeconds", "lateSeconds", "lastStream", "reason",
    ]

    init(_ value: JSONValue) throws(ScriptError) {
        let reader = try ScriptReader(value, "a rule", members: Self.members)
        let provider = try reader.choice("provider", [SimulatedProvider.apns, .fcm], \.rawValue)
        let name = try reader.text("fault") ?? ""
        var options = FaultNames.Options()
        options.retryAfter = try Self.retryAfter(reader)
        options.agoSeconds = Int64(try reader.whole("agoSeconds") ?? 0)
        options.lateSeconds = try reader.number("lateSeconds")
        options.lastStream = try reader.whole("lastStream").map { Int32(clamping: $0) }
        options.reason = try reader.text("reason")
        guard let effect = FaultNames.effect(name, of: provider, options) else {
            let names = FaultNames.all(of: provider).joined(separator: ", ")
            throw ScriptError("\"\(name)\" is no fault of \(provider.rawValue). Known are: \(names).")
        }
        self.init(provider: provider, name: name, effect: effect)
        tokenPrefix = try reader.text("token") ?? ""
        share = try Self.share(value["share"]) ?? 1
        skip = try reader.whole("skip") ?? 0
        times = try reader.whole("times")
        timesPerToken = try reader.whole("timesPerToken")
        request = try reader.whole("request")
        forSeconds = try reader.number("forSeconds")
    }

    /// A share as a number from 0 to 1, or in percent: `"5 %"`.
    static func share(_ value: JSONValue?) throws(ScriptError) -> Double? {
        guard let value, value != .null else { return nil }
        var share = value.doubleValue ?? value.intValue.map(Double.init)
        if let text = value.stringValue {
            let digits = text.prefix { $0.isNumber || $0 == "." }
            let unit = text.dropFirst(digits.count).drop { $0 == " " }
            share = Double(digits).flatMap { number in unit == "%" ? number / 100 : unit.isEmpty ? number : nil }
        }
        guard let share, (0...1).contains(share) else {
            throw ScriptError("share is a number from 0 to 1, or a text such as \"5 %\".")
        }
        return share
    }

    private static func retryAfter(_ reader: ScriptReader) throws(ScriptError) -> FCMFailure.RetryAfter? {
        switch reader["retryAfter"] {
        case .none, .null: return nil
        case "date": return .date
        default: return .seconds(try reader.whole("retryAfter") ?? 0)
        }
    }
}

/// Why a script cannot be used.
package struct ScriptError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, and what would be right.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Reads an object's members and refuses those nobody knows.
struct ScriptReader {
    private let object: JSONObject
    private let what: String
    /// What may still be counted in nanoseconds.
    private static let maximumWhole: Int64 = 1_000_000_000
    private static let maximum = Double(maximumWhole)

    init(_ value: JSONValue, _ what: String, members: [String]) throws(ScriptError) {
        guard let object = value.objectValue else { throw ScriptError("\(what) must be an object.") }
        if let stranger = object.keys.first(where: { !members.contains($0) }) {
            let known = members.joined(separator: ", ")
            throw ScriptError("\(what) has no member \"\(stranger)\". Known are: \(known).")
        }
        self.object = object
        self.what = what
    }

    subscript(name: String) -> JSONValue? { object[name] }

    func text(_ name: String) throws(ScriptError) -> String? {
        try value(name, "a text") { $0.stringValue }
    }

    func whole(_ name: String) throws(ScriptError) -> Int? {
        try value(name, "a whole number from 0 to \(Self.maximumWhole)") { value in
            value.intValue.flatMap { (0...Self.maximumWhole).contains($0) ? Int($0) : nil }
        }
    }

    func number(_ name: String) throws(ScriptError) -> Double? {
        try value(name, "a number from 0 to \(Self.maximumWhole)") { value in
            let number = value.doubleValue ?? value.intValue.map(Double.init)
            return number.flatMap { (0...Self.maximum).contains($0) ? $0 : nil }
        }
    }

    func flag(_ name: String) throws(ScriptError) -> Bool? {
        try value(name, "true or false") { $0.boolValue }
    }

    func texts(_ name: String) throws(ScriptError) -> [String]? {
        try value(name, "a list of texts") { value in
            let texts = value.arrayValue?.map(\.stringValue)
            guard let texts, !texts.contains(nil) else { return nil }
            return texts.compactMap(\.self)
        }
    }

    func choice<Choice>(
        _ name: String,
        _ choices: [Choice],
        _ text: (Choice) -> String
    ) throws(ScriptError) -> Choice {
        let given = object[name]?.stringValue
        guard let choice = choices.first(where: { text($0) == given }) else {
            throw ScriptError("\(name) of \(what) is one of \(choices.map(text).joined(separator: ", ")).")
        }
        return choice
    }

    private func value<Value>(
        _ name: String,
        _ shape: String,
        _ read: (JSONValue) -> Value?
    ) throws(ScriptError) -> Value? {
        guard let given = object[name], given != .null else { return nil }
        guard let value = read(given) else { throw ScriptError("\(name) of \(what) must be \(shape).") }
        return value
    }
}
