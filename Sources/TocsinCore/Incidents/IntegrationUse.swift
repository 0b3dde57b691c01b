/// What came in through an integration so far.
package struct IntegrationCounts: Sendable, Hashable {
    /// The integration.
    package var integrationID: String
    /// Events that were taken.
    package var events = 0
    /// Requests of which nothing was taken.
    package var refused = 0
    /// Ends and acknowledgements of what was not open.
    package var unmatchedResolves = 0
    /// When the last event came.
    package var lastEventAt: Timestamp?
    /// What was wrong with the last request that was not as it should be; nil: nothing.
    package var trouble: String?

    /// Nothing has come in.
    package init(integrationID: String) { self.integrationID = integrationID }

    /// Adds what came later.
    package mutating func add(_ later: IntegrationCounts) {
        events += later.events
        refused += later.refused
        unmatchedResolves += later.unmatchedResolves
        lastEventAt = later.lastEventAt ?? lastEventAt
        trouble = later.trouble ?? trouble
    }
}

/// A request as the owner of its integration may see it, for a day.
package struct ReceivedRequest: Sendable, Hashable {
    /// Names it.
    package var id: String
    /// The integration that it was sent to.
    package var integrationID: String
    /// When it came.
    package var at: Timestamp
    /// The HTTP status that was answered.
    package var status: Int
    /// What became of it, in words.
    package var outcome: String
    /// The first incident that it was about.
    package var incidentID: String?
    /// The first message that it made.
    package var messageID: String?
    /// The body's beginning; nil where none is kept.
    package var body: String?

    /// Bytes of a body that are kept.
    package static let maximumBodyBytes = 64 * 1024
    /// How long a request is kept.
    package static let keptSeconds = 86_400.0

    /// A request of these parts, without a body and what it made.
    package init(id: String, integrationID: String, at moment: Timestamp, status: Int, outcome: String) {
        (self.id, self.integrationID, at) = (id, integrationID, moment)
        (self.status, self.outcome) = (status, outcome)
    }
}

/// What an integration and its sender share beside the key.
package enum IntegrationSecret: String, Sendable, CaseIterable {
    /// The sender signs its bodies with it.
    case signature = "SIGNATURE"
    /// Our token at the source.
    case sourceToken = "SOURCE_TOKEN"
}
