/// Where senders of an integration post, and what to paste there.
package struct IntegrationAddresses: Sendable {
    /// The server's address as senders know it, without a slash at its end.
    package let base: String

    /// Addresses below this one.
    package init(base: String) { self.base = base }

    /// The address of an integration, with the key where it has to stand in it; nil where it has to
    /// and is not known.
    package func url(_ kind: Integration.Kind, topicName: String, key: String?) -> String? {
        switch kind {
        case .pagerDuty: base + "/v2/enqueue"
        case .ntfy: base + "/" + Self.escaped(topicName)
        case .gotify: base
        case .slack: key.map { base + "/hooks/" + $0 }
        case .heartbeat: key.map { base + "/ping/" + $0 }
        case .alertmanager, .grafana, .cloudEvents, .event, .mail, .template:
            base + "/in/" + (key ?? kind.rawValue.lowercased())
        }
    }

    /// What to paste where, by product; a monitor's own key pings without its slug.
    package func snippets(
        _ kind: Integration.Kind,
        topicName: String,
        key: String,
        ofMonitor: Bool = false
    ) -> [(product: String, text: String)] {
        let topic = Self.escaped(topicName)
        let curl = "curl -H 'Authorization: Bearer \(key)'"
        switch kind {
        case .alertmanager:
            return [
                (
                    "alertmanager.yml",
                    """
                    receivers:
                    - name: tocsin
                      webhook_configs:
                      - url: \(base)/in/alertmanager
                        max_alerts: 1000
                        http_config: { authorization: { credentials: \(key) } }
                    """
                )
            ]
        case .grafana:
            return [
                (
                    "Grafana, contact point of type Webhook",
                    """
                    URL: \(base)/in/grafana
                    Authorization Header - Scheme: Bearer
                    Authorization Header - Credentials: \(key)
                    """
                )
            ]
        case .pagerDuty:
            return [
                (
                    "alertmanager.yml",
                    """
                    receivers:
                    - name: tocsin
                      pagerduty_configs:
                      - url: \(base)/v2/enqueue
                        routing_key: \(key)
                    """
                ), ("Uptime Kuma, PagerDuty", "Integration Key: \(key)\nIntegration URL: \(base)/v2/enqueue"),
                (
                    "curl",
                    "curl \(base)/v2/enqueue -d '{\"routing_key\": \"\(key)\", \"event_action\": \"trigger\", \"dedup_key\": "
                        + "\"db-3/disk\", \"payload\": {\"summary\": \"Disk full\", \"source\": \"db-3\", \"severity\": "
                        + "\"critical\"}}'"
                ),
            ]
        case .ntfy:
            return [
                ("curl", "\(curl) -H 'Title: Disk full' -d 'db-3 is at 91 %' \(base)/\(topic)"),
                ("Apprise", "ntfy://\(key)@\(host)/\(topic)?auth=token"),
                ("Uptime Kuma, Ntfy", "Server URL: \(base)\nTopic: \(topicName)\nAccess token: \(key)"),
            ]
        case .gotify:
            return [
                ("curl", "curl '\(base)/message?token=\(key)' -F title='Disk full' -F message='db-3 is at 91 %'"),
                ("Apprise", "gotify://\(host)/\(key)"),
            ]
        case .slack: return [("Incoming webhook", "\(base)/hooks/\(key)")]
        case .cloudEvents: return [("Webhook", "\(base)/in/\(key)")]
        case .heartbeat:
            let slug = ofMonitor ? "" : "SLUG/"
            return [("curl", "curl -fsS -m 10 --retry 5 \(base)/ping/\(key)/\(slug)$?")]
        case .event:
            return [
                (
                    "curl",
                    "\(curl) \(base)/in/event -d '{\"action\": \"trigger\", \"key\": \"db-3/disk\", \"title\": \"Disk full\", "
                        + "\"severity\": \"critical\"}'"
                )
            ]
        case .mail:
            return [("curl", "\(curl) -H 'Content-Type: message/rfc822' --data-binary @mail.eml \(base)/in/mail")]
        case .template: return [("Webhook", "\(base)/in/\(key)")]
        }
    }

    private var host: Substring { base.firstRange(of: "://").map { base[$0.upperBound...] } ?? base[...] }

    /// A name as one segment of a path (RFC 3986 §3.3).
    private static func escaped(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
