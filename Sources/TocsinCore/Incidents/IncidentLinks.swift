/// Makes action links: addresses of this server, each of which does one thing to one incident, or
/// presses one button of a message.
package struct IncidentLinks: Sendable {
    let sealer: any Sealer
    /// Up to the token.
    private let base: String

    /// How long a link acts.
    package static let lifetimeSeconds = 86_400.0
    /// The path that tokens are appended to.
    package static let path = "/act/"

    /// - Parameter publicURL: The address by which people reach the server, base path included.
    package init(sealer: any Sealer, publicURL: String) {
        self.sealer = sealer
        base = publicURL + Self.path
    }

    /// No link is longer.
    package var maximumBytes: Int { base.utf8.count + IncidentLink.maximumTokenBytes }

    /// A link that begins now; nil where it would be too long.
    package func url(
        _ action: IncidentLink.Action,
        incident: String,
        bearer: IncidentLink.Bearer,
        number: MessageNumber,
        at now: Timestamp
    ) -> String? {
        let end = now.adding(seconds: Self.lifetimeSeconds)
        let link = IncidentLink(action, incident: incident, bearer: bearer, number: number, endsAt: end)
        return url(ofToken: link.token(sealer))
    }

    /// The address of a token.
    func url(ofToken token: String?) -> String? { token.map { base + $0 } }

    /// What buttons do while an incident stands so.
    package static func actions(in state: IncidentState) -> [IncidentLink.Action] {
        switch state {
        case .open: [.acknowledge, .snooze, .resolve]
        case .acknowledged, .snoozed: [.resolve]
        case .resolved: []
        }
    }
}
