/// What an action link says: one act on one incident, by one person, for a while.
package struct IncidentLink: Sendable, Hashable {
    /// What it does; the words are those of buttons.
    package enum Action: String, Sendable, Hashable, CaseIterable {
        case acknowledge = "ACKNOWLEDGE"
        case snooze = "SNOOZE_1H"
        case resolve = "RESOLVE"
    }

    /// By whom it acts.
    package enum Bearer: Sendable, Hashable {
        case user(UserID)
        /// Whoever a webhook passes it on to: with the rights of the topic's owner, by this name.
        case webhook(String)
    }

    /// What it does.
    package var action: Action
    /// The incident that it is about.
    package var incidentID: String
    /// By whom it acts.
    package var bearer: Bearer
    /// The message of the topic that it came with: once a later one has reopened the incident, the
    /// link is over.
    package var number: MessageNumber
    /// Until when it acts.
    package var endsAt: Timestamp

    /// A link of these parts.
    package init(
        _ action: Action,
        incident: String,
        bearer: Bearer,
        number: MessageNumber,
        endsAt: Timestamp
    ) {
        (self.action, incidentID, self.bearer) = (action, incident, bearer)
        (self.number, self.endsAt) = (number, endsAt)
    }
}

// As text: five lines, the bearer last, for it alone may hold anything.
extension IncidentLink {
    private static let scope = "incident-link"
    /// No token is longer.
    package static let maximumTokenBytes = 512

    /// The sealed text; nil where it would be too long.
    package func token(_ sealer: any Sealer) -> String? {
        let bearerText =
            switch bearer {
            case .user(let id): "u" + id.text
            case .webhook(let name): "w" + name
            }
        let lines = [action.rawValue, incidentID, String(number), String(endsAt.milliseconds), bearerText]
        let token = sealer.seal(Array(lines.joined(separator: "\n").utf8), scope: Self.scope)
        return token.utf8.count <= Self.maximumTokenBytes ? token : nil
    }

    /// The link that a token was sealed from; nil for any other text.
    package init?(token: String, _ sealer: any Sealer) {
        guard token.utf8.count <= Self.maximumTokenBytes, let bytes = sealer.open(token, scope: Self.scope)
        else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", maxSplits: 4, omittingEmptySubsequences: false)
        guard lines.count == 5, let action = Action(rawValue: String(lines[0])), let number = Int64(lines[2]),
            let end = Int64(lines[3]), let kind = lines[4].first
        else { return nil }
        let bearer = String(lines[4].dropFirst())
        self.init(
            action,
            incident: String(lines[1]),
            bearer: kind == "u" ? .user(UserID(bearer)) : .webhook(bearer),
            number: number,
            endsAt: Timestamp(milliseconds: end)
        )
    }
}
