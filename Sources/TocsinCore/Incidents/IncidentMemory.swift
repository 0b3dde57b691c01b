/// What of an incident's standing its record does not say, as a text: a line each.
struct IncidentMemory: Sendable, Hashable {
    var resolution: IncidentStanding.Resolution?
    var reopenings: [Timestamp] = []
    var joined: [String] = []
    /// The accounts of those who took it on or came to it: a raised priority rings for them alone.
    var responders: [UserID] = []
    var isLate = false
    var changedAt: Timestamp?
    var loudAt: Timestamp?
    /// When a message told of its newest title.
    var toldAt: Timestamp?
    /// The message that opened it again last; 0: none did.
    var round: MessageNumber = 0
    /// How its end is told.
    var notifyResolved = Integration.Loudness.quiet

    init() {}

    init(_ text: String) {
        // By bytes: a value may begin with a mark that makes one character with the sign before it.
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let split = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            read(String(Substring(line[..<split])), String(Substring(line[line.index(after: split)...])))
        }
    }

    private mutating func read(_ name: String, _ value: String) {
        let moment = Int64(value).map { Timestamp(milliseconds: $0) }
        switch name {
        case "resolution": resolution = IncidentStanding.Resolution(rawValue: value)
        case "reopening": if let moment { reopenings.append(moment) }
        case "joined": joined.append(value)
        case "responder": responders.append(UserID(value))
        case "late": isLate = true
        case "changed": changedAt = moment
        case "loud": loudAt = moment
        case "told": toldAt = moment
        case "round": round = Int64(value) ?? 0
        case "notify": notifyResolved = Integration.Loudness(rawValue: value) ?? .quiet
        default: break
        }
    }

    var text: String {
        var lines: [String] = []
        func add(_ name: String, _ value: String?) { if let value { lines.append(name + "=" + value) } }
        func moment(_ moment: Timestamp?) -> String? { moment.map { String($0.milliseconds) } }
        add("resolution", resolution?.rawValue)
        for reopening in reopenings { add("reopening", moment(reopening)) }
        for name in joined { add("joined", name.filter { !$0.isNewline }) }
        for user in responders where !user.text.contains(where: \.isNewline) { add("responder", user.text) }
        if isLate { add("late", "") }
        add("changed", moment(changedAt))
        add("loud", moment(loudAt))
        add("told", moment(toldAt))
        if round > 0 { add("round", String(round)) }
        add("notify", notifyResolved.rawValue)
        return lines.joined(separator: "\n")
    }
}

extension IncidentMemory {
    /// So many of those who answer are remembered.
    private static let responderCount = 50

    /// Notes who answers, as far as that is a person with an account.
    mutating func note(_ change: IncidentChange, by responder: UserID?, in state: IncidentState) {
        switch change {
        case .acknowledged: responders = responder.map { [$0] } ?? []
        case .joined:
            guard let responder, !responders.contains(responder) else { return }
            responders = (responders + [responder]).suffix(Self.responderCount)
        default: if state != .acknowledged { responders = [] }
        }
    }
}

extension IncidentFacts {
    /// The accounts of those who took the incident on or came to it, while it is acknowledged.
    ///
    /// Nobody, where its sender did it, or somebody behind a webhook's link.
    package var responders: [UserID] { IncidentMemory(memory).responders }
}
