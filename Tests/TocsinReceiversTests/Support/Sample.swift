import JSON
import TocsinContent
import TocsinCore
import TocsinReceivers

/// Requests, contexts and outcomes for the tests of receivers.
enum Sample {
    static let key = "abcdefghijklmnopqrstuvwxyz234567"
    /// 2026-11-28T03:00:00Z.
    static let now = Timestamp(milliseconds: 1_795_834_800_000)

    static func integration(_ kind: Integration.Kind, grouping: Integration.Grouping? = nil) -> Integration {
        var integration = Integration(id: "i1", owner: "alice", name: "Monitoring", kind: kind, topicID: TopicID("t1"))
        if let grouping { integration.grouping = grouping }
        return integration
    }

    static func context(
        _ kind: Integration.Kind,
        grouping: Integration.Grouping? = nil,
        change: (inout Integration) -> Void = { _ in }
    ) -> ReceiverContext {
        var integration = integration(kind, grouping: grouping)
        change(&integration)
        return ReceiverContext(
            integration: integration,
            topicName: "alerts",
            sha256: { SHA256.digest($0) },
            hmacSHA256: { hmac($0, $1) }
        )
    }

    static func request(
        _ method: String = "POST",
        _ target: String = "/in/\(key)",
        headers: [(String, String)] = [],
        body: String = ""
    ) -> ReceiverRequest {
        request(method, target, headers: headers, bytes: Array(body.utf8))
    }

    static func request(
        _ method: String = "POST",
        _ target: String = "/in/\(key)",
        headers: [(String, String)] = [],
        bytes: [UInt8]
    ) -> ReceiverRequest {
        ReceiverRequest(
            method: method,
            target: target,
            headers: headers.map { ReceiverRequest.Item($0.0, $0.1) },
            body: bytes,
            receivedAt: now
        )
    }

    /// What a receiver makes of a request to an integration of its kind.
    static func read(
        _ kind: Integration.Kind,
        _ request: ReceiverRequest,
        grouping: Integration.Grouping? = nil,
        change: (inout Integration) -> Void = { _ in }
    ) -> Reading {
        Receivers.of(kind)?.read(request, in: context(kind, grouping: grouping, change: change)) ?? .refused(.notFound)
    }

    /// An outcome for each event, as a store would answer them.
    static func accepted(_ events: [SenderEvent], _ integration: Integration) -> AcceptedEvents {
        let outcomes = events.enumerated().map { index, event -> EventOutcome in
            var outcome = EventOutcome(key: event.key)
            (outcome.messageID, outcome.messageNumber) = ("m\(index + 1)", Int64(index + 17))
            if [.trigger, .acknowledge, .resolve].contains(event.action) {
                (outcome.incidentID, outcome.incidentNumber, outcome.state) = ("n\(index + 1)", 42, .open)
                outcome.change = event.action == .trigger ? .opened : nil
            }
            return outcome
        }
        return AcceptedEvents(events: events, outcomes: outcomes, integration: integration, topicName: "alerts")
    }

    /// RFC 2104.
    private static func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        let short = key.count > 64 ? SHA256.digest(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        return SHA256.digest(block.map { $0 ^ 0x5C } + SHA256.digest(block.map { $0 ^ 0x36 } + message))
    }
}

extension Reading {
    /// The events, when there are any.
    var events: [SenderEvent]? {
        if case .events(let events, _) = self { events } else { nil }
    }

    /// The first event.
    var first: SenderEvent? { events?.first }

    /// What the owner is told.
    var notes: [String] {
        if case .events(_, let notes) = self { notes } else { [] }
    }

    /// Why nothing was taken.
    var fault: ReceiverFault? {
        if case .refused(let fault) = self { fault } else { nil }
    }
}

extension ReceiverAnswer {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
    /// A header of the answer.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
