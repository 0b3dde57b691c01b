package import TocsinCore

/// The receivers by the kind of integration.
package enum Receivers {
    /// The receiver of a kind; nil: pings (`PingRequest`) and templates are read otherwise.
    package static func of(_ kind: Integration.Kind) -> (any Receiver)? {
        switch kind {
        case .alertmanager: AlertmanagerReceiver()
        case .grafana: GrafanaReceiver()
        case .pagerDuty: PagerDutyReceiver()
        case .ntfy: NtfyReceiver()
        case .gotify: GotifyReceiver()
        case .slack: SlackReceiver()
        case .cloudEvents: CloudEventsReceiver()
        case .event: EventReceiver()
        case .mail: MailReceiver()
        case .heartbeat, .template: nil
        }
    }

    /// The name of a kind in a path: `/in/alertmanager`, whose key stands in a header.
    package static func pathName(of kind: Integration.Kind) -> String { kind.rawValue.lowercased() }

    /// The kind that a path names.
    package static func kind(named name: String) -> Integration.Kind? {
        Integration.Kind.allCases.first { pathName(of: $0) == name }
    }
}
