import JSON
package import TocsinCore

/// Grafana Alerting's webhook: Alertmanager's shape with more in it.
package struct GrafanaReceiver: Receiver {
    /// A test of the contact point resolves itself after so long.
    package static let testSeconds = 300

    /// A receiver without state.
    package init() {}

    /// `GRAFANA`.
    package var kind: Integration.Kind { .grafana }
    /// `POST` and `PUT`.
    package var methods: [String] { ["POST", "PUT"] }

    /// One event a group, or one an alert; the user's own title and message win.
    package func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading {
        guard methods.contains(request.method) else { return .refused(.methodNotAllowed) }
        guard GrafanaSignature.holds(for: request, in: context) else { return .refused(.unauthenticated) }
        return AlertmanagerReceiver.read(request.body, in: context) { event, group in
            Self.mend(&event, group, context.integration)
        }
    }

    /// 200 with the incidents.
    package func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer {
        AlertmanagerReceiver.success(accepted)
    }

    /// As Alertmanager's.
    package func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer {
        NativeAnswers.fault(AlertmanagerReceiver.retried(fault), methods: methods, lockedOut: 503)
    }

    private static func mend(_ event: inout SenderEvent, _ group: AlertGroup, _ integration: Integration) {
        let isWhole = integration.grouping != .alert || group.alerts.count == 1
        if isWhole, let title = group.object.filled("title") { event.title = withoutBracket(title) }
        if isWhole, let message = group.object.filled("message") { event.body = message }
        let alert =
            integration.grouping == .alert
            ? group.alerts.first { $0.fingerprint == event.key } : group.firing.first ?? group.alerts.first
        guard let alert else { return }
        switch alert.name {
        case "DatasourceNoData", "DatasourceError":
            let isError = alert.name == "DatasourceError"
            event.title = "\(alert.labels["rulename"] ?? alert.name): \(isError ? "error" : "no data")"
            event.priority = max(1, (event.priority ?? integration.defaultPriority) - 1)
            event.labels["grafana_state"] = isError ? "Error" : "NoData"
        case "TestAlert" where alert.labels["instance"] == "Grafana":
            event.priority = 2
            event.resolveAfterSeconds = testSeconds
        default: break
        }
    }

    /// Grafana's default title begins with `[FIRING:1] `, which the incident says itself.
    static func withoutBracket(_ title: String) -> String {
        guard title.hasPrefix("[FIRING") || title.hasPrefix("[RESOLVED"), let end = title.firstIndex(of: "]") else {
            return title
        }
        let rest = String(title[title.index(after: end)...]).trimmed
        return rest.isEmpty ? title : rest
    }
}
