import JSON
import Synchronization

/// What is in force: outages, rules, limits, quotas, and how often scripted
/// tokens have met their scripts.
final class Conditions: Sendable {
    private struct Rule {
        var rule: FaultRule
        var untilMilliseconds: Int64?
        var met = 0
        var hit = 0
        var hitsByToken: [String: Int] = [:]
    }

    private struct State {
        var outages: [SimulatedProvider: (outage: Outage, untilMilliseconds: Int64?)] = [:]
        var rules: [Rule] = []
        var limits: SimulatorLimits
        var quota = FCMQuota()
        var random = SeededNumbers(seed: 1)
        /// How often each scripted token has met its script.
        var scriptUses: [String: Int] = [:]
    }

    private let state: Mutex<State>
    private let initialLimits: SimulatorLimits
    private let nowMilliseconds: @Sendable () -> Int64

    /// Scripted tokens remembered.
    private static let maximumScriptUses = 1_000_000

    init(settings: SimulatorSettings) {
        initialLimits = SimulatorLimits(settings)
        state = Mutex(State(limits: initialLimits))
        nowMilliseconds = settings.nowMilliseconds
    }

    var limits: SimulatorLimits { state.withLock { $0.limits } }

    /// What a push meets this time, if anything: an outage before a rule, a rule
    /// before its token's prefix.
    func effect(for token: String, of provider: SimulatedProvider, request: Int) -> ScriptEffect? {
        state.withLock { state in
            if let outage = Self.outage(of: provider, &state, nowMilliseconds) { return outage.effect(provider) }
            for index in state.rules.indices where state.rules[index].rule.provider == provider {
                if let effect = meet(index, token, request, &state) { return effect }
            }
            guard let rule = ScriptRule.rule(for: token, of: provider) else { return nil }
            guard let times = rule.times(for: token) else { return rule.effect }
            if state.scriptUses.count >= Self.maximumScriptUses { state.scriptUses.removeAll() }
            let uses = state.scriptUses[token, default: 0]
            state.scriptUses[token] = uses + 1
            return uses < times ? rule.effect : nil
        }
    }

    private func meet(_ index: Int, _ token: String, _ request: Int, _ state: inout State) -> ScriptEffect? {
        let rule = state.rules[index].rule
        guard rule.isFor(token, request: request) else { return nil }
        if let until = state.rules[index].untilMilliseconds, nowMilliseconds() >= until { return nil }
        state.rules[index].met += 1
        guard state.rules[index].met > rule.skip else { return nil }
        if let times = rule.times, state.rules[index].hit >= times { return nil }
        if rule.share < 1, Double.random(in: 0..<1, using: &state.random) >= rule.share { return nil }
        if let times = rule.timesPerToken {
            if state.rules[index].hitsByToken.count >= Self.maximumScriptUses { state.rules[index].hitsByToken = [:] }
            guard state.rules[index].hitsByToken[token, default: 0] < times else { return nil }
            state.rules[index].hitsByToken[token, default: 0] += 1
        }
        state.rules[index].hit += 1
        return rule.effect
    }

    /// Takes a message out of the project's quota; the refusal when it is used up.
    func takeProjectQuota() -> FCMFailure? {
        state.withLock { $0.quota.takeOfProject($0.limits, now: nowMilliseconds()) }
    }

    /// Takes a message out of a device's quotas; the refusal when one is used up.
    func takeDeviceQuota(_ token: String) -> FCMFailure? {
        state.withLock { $0.quota.takeOfDevice(token, $0.limits, now: nowMilliseconds()) }
    }

    func outage(of provider: SimulatedProvider) -> Outage? {
        state.withLock { Self.outage(of: provider, &$0, nowMilliseconds) }
    }

    /// Begins an outage, which ends by itself after `seconds` if they are
    /// given, or ends it with `nil`.
    func setOutage(_ outage: Outage?, of provider: SimulatedProvider, seconds: Double? = nil) {
        let until = seconds.map { nowMilliseconds() + Int64($0 * 1000) }
        state.withLock { $0.outages[provider] = outage.map { ($0, until) } }
    }

    /// Puts a script in force; its rules take the place of those before, its
    /// limits only of those it names.
    func apply(_ script: SimulatorScript) {
        let now = nowMilliseconds()
        state.withLock { state in
            script.change(&state.limits)
            guard let rules = script.rules else { return }
            state.random = SeededNumbers(seed: state.limits.seed)
            state.rules = rules.map { rule in
                Rule(rule: rule, untilMilliseconds: rule.forSeconds.map { now + Int64($0 * 1000) })
            }
        }
    }

    /// Ends outages and rules, and takes back all limits and quotas.
    func reset() {
        let fresh = State(limits: initialLimits)
        state.withLock { $0 = fresh }
    }

    /// The rules in force, each with how many pushes it was for and how many met it.
    var json: JSONValue {
        state.withLock { state in
            let rules = state.rules.map { rule -> JSONValue in
                [
                    "provider": .string(rule.rule.provider.rawValue), "fault": .string(rule.rule.name),
                    "token": .string(rule.rule.tokenPrefix), "share": .double(rule.rule.share),
                    "pushes": .int(Int64(rule.met)), "met": .int(Int64(rule.hit)),
                ]
            }
            var outages = JSONObject()
            for provider in SimulatedProvider.allCases {
                let outage = Self.outage(of: provider, &state, nowMilliseconds)
                if let outage { outages[provider.rawValue] = .string(outage.rawValue) }
            }
            return ["rules": .array(rules), "outages": .object(outages)]
        }
    }

    private static func outage(
        of provider: SimulatedProvider,
        _ state: inout State,
        _ nowMilliseconds: () -> Int64
    ) -> Outage? {
        guard let entry = state.outages[provider] else { return nil }
        if let until = entry.untilMilliseconds, nowMilliseconds() >= until {
            state.outages[provider] = nil
            return nil
        }
        return entry.outage
    }
}

/// Random numbers that are the same for the same seed (SplitMix64), so that a share
/// meets the same pushes again.
struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
