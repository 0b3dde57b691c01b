import JSON
package import TocsinCore

/// Alertmanager's webhook, version 4.
package struct AlertmanagerReceiver: Receiver {
    /// A receiver without state.
    package init() {}

    /// `ALERTMANAGER`.
    package var kind: Integration.Kind { .alertmanager }
    /// `POST`.
    package var methods: [String] { ["POST"] }

    /// One event a group, or one an alert.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        return Self.read(request.body, in: context) { _, _ in }
    }

    /// 200 with the incidents.
    package func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer {
        Self.success(accepted)
    }

    /// As the native paths, but never 429, which Alertmanager does not send again.
    package func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        NativeAnswers.fault(Self.retried(fault), methods: methods, lockedOut: 503)
    }

    /// A fault after which the sender tries again, where it does so only after 5xx.
    static func retried(_ fault: ReceiverFault) -> ReceiverFault {
        guard case .rateLimited(let seconds) = fault else { return fault }
        return .unavailable(retryAfterSeconds: seconds)
    }

    static func success(_ accepted: AcceptedEvents) -> ReceiverAnswer {
        let incidents: [JSONValue] = accepted.outcomes.compactMap { outcome in
            guard let id = outcome.incidentID else { return nil }
            return [
                "id": .string(id), "number": outcome.incidentNumber.map(JSONValue.int) ?? .null,
                "state": outcome.state.map { .string($0.rawValue) } ?? .null,
                "change": .string(outcome.change?.rawValue ?? "NONE"),
            ]
        }
        return ReceiverAnswer(200, json: ["status": "success", "incidents": .array(incidents)])
    }

    /// The events of a group; `mend` may change each before it is bounded.
    static func read(
        _ body: [UInt8],
        in context: ReceiverContext,
        mend: (inout SenderEvent, AlertGroup) -> Void
    ) -> Reading {
        let group: AlertGroup
        switch AlertGroup.read(body, context) {
        case .success(let read): group = read
        case .failure(let error): return .refused(.badInput([error.reason]))
        }
        var severity = SeverityReader(context.integration)
        var events: [SenderEvent]
        switch context.integration.grouping {
        case .group: events = [group.groupEvent(&severity)]
        case .alert: events = group.alerts.prefix(SenderEvent.maximumAlerts).map { group.event(of: $0, &severity) }
        case .none:
            events = [group.groupEvent(&severity)]
            (events[0].action, events[0].key, events[0].alerts) = (.log, nil, [])
        }
        for index in events.indices { mend(&events[index], group) }
        var notes = severity.notes
        if events.count > 1 || context.integration.grouping == .alert, group.alerts.count > events.count {
            notes.append("Only \(events.count) of \(group.alerts.count) alerts were taken: set max_alerts to 1000.")
        }
        return .events(events.map { $0.bounded(in: context) }, notes: notes)
    }
}
