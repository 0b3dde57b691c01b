/// A way in for one sender: into one topic, in one shape.
package struct Integration: Sendable, Equatable {
    /// The shape of what a sender posts.
    package enum Kind: String, Sendable, CaseIterable {
        case alertmanager = "ALERTMANAGER"
        case grafana = "GRAFANA"
        case pagerDuty = "PAGERDUTY"
        case ntfy = "NTFY"
        case gotify = "GOTIFY"
        case slack = "SLACK"
        case cloudEvents = "CLOUDEVENTS"
        case heartbeat = "HEARTBEAT"
        case event = "EVENT"
        case mail = "MAIL"
        case template = "TEMPLATE"
    }

    /// What becomes one incident.
    package enum Grouping: String, Sendable, CaseIterable {
        /// What the sender groups.
        case group = "GROUP"
        /// Each alert.
        case alert = "ALERT"
        /// Nothing: plain messages.
        case none = "NONE"
    }

    /// How a change is told.
    package enum Loudness: String, Sendable, CaseIterable {
        /// With sound.
        case loud = "LOUD"
        /// On the screen alone.
        case quiet = "QUIET"
        /// Not at all.
        case none = "NONE"
    }

    /// Names it.
    package var id: String
    /// Whose it is: its messages are made as this user.
    package var owner: String
    /// What people call it.
    package var name: String
    /// The shape.
    package var kind: Kind
    /// Where its messages go.
    package var topicID: TopicID
    /// What becomes one incident.
    package var grouping: Grouping
    /// Of events that say none, 1 to 5.
    package var defaultPriority: Int
    /// The label whose word says how bad an alert is.
    package var severityLabel: String
    /// Priorities of words of the owner's own, in small letters; they go before the common ones.
    package var severityWords: [String: Int]
    /// Whether the server may call an address when a button of ntfy is pressed.
    package var allowsHTTPActions: Bool
    /// An incident that was resolved less long ago is opened again by its key.
    package var reopenSeconds: Int
    /// An incident without an event for so long is resolved; 0: never.
    package var resolveAfterSeconds: Int
    /// How the end is told.
    package var notifyResolved: Loudness
    /// Whether a sender's resolve is only noted.
    package var isResolvedByHand: Bool
    /// Whether it stands for a monitor: its incidents name no integration.
    package var isOfMonitor = false
    /// Alerts that are pings of a monitor.
    package var watchdogs: [Watchdog] = []
    /// Where events go by their labels; the first that matches counts.
    package var routes: [IntegrationRoute] = []

    /// What keys of incidents are unique within: the integration and its topic, under whose lock
    /// they are opened.
    package var incidentSource: String { id + "@" + topicID.text }

    /// The sources of its incidents in all topics; ids have no `@`.
    var incidentSources: Range<String> { id + "@"..<id + "A" }

    /// The topic of one of its sources.
    func topic(ofSource source: String) -> TopicID { TopicID(String(source.dropFirst(id.count + 1))) }

    /// What ids begin with of integrations that tokens made for their own posts.
    ///
    /// Whoever chooses such an id for another keeps it from who is OWNER by a grant, and no more.
    package static let idPrefixOfTokens = "own-"

    /// An integration with the usual values.
    package init(id: String, owner: String, name: String, kind: Kind, topicID: TopicID) {
        (self.id, self.owner, self.name, self.kind, self.topicID) = (id, owner, name, kind, topicID)
        grouping = [.ntfy, .gotify, .slack].contains(kind) ? .none : .group
        (defaultPriority, reopenSeconds, resolveAfterSeconds) = (4, 300, 0)
        (notifyResolved, isResolvedByHand) = (.quiet, false)
        (severityLabel, severityWords, allowsHTTPActions) = ("severity", [:], false)
    }
}
