/// What a read may ask about incidents, beside their records.
package protocol IncidentReading {
    /// The incident with this key that is not resolved.
    func openIncident(of source: String, key: String) throws(StoreError) -> String?
    /// The incident with this key that was resolved last.
    func lastResolvedIncident(of source: String, key: String) throws(StoreError) -> String?
    /// The sources of this range with an incident that is not resolved, in their order; at most so
    /// many.
    func openSources(in range: Range<String>, limit: Int) throws(StoreError) -> [String]
    /// Of these sources the one with the newest incident of this key: that is open, or that was
    /// resolved last.
    func newestSource(of key: String, among sources: [String], isOpen: Bool) throws(StoreError) -> String?
    /// Of these sources the first with an incident that is not resolved in which one of these
    /// alerts fires.
    func firstSource(among sources: [String], firing fingerprints: [String]) throws(StoreError) -> String?
    /// The incidents that are not resolved in which these alerts fire, by fingerprint.
    func openIncidents(of source: String, alerts fingerprints: [String]) throws(StoreError) -> [String: String]
    /// Whether a topic has so many incidents that are not resolved.
    func hasOpenIncidents(_ count: Int, in topic: TopicID) throws(StoreError) -> Bool
    /// How many other incidents of a topic are not resolved, at most so many.
    func openIncidents(in topic: TopicID, besides id: String, atMost count: Int) throws(StoreError) -> Int
    /// What the server knows of an incident.
    func incidentFacts(_ id: String) throws(StoreError) -> IncidentFacts?
    /// Those of these alerts that an incident has.
    func incidentAlerts(of id: String, fingerprints: [String]) throws(StoreError) -> [StoredAlert]
    /// Alerts of an incident after a fingerprint, by fingerprint; nil: those that fire and others.
    func incidentAlerts(
        of id: String,
        firing: Bool?,
        after fingerprint: String,
        limit: Int
    ) throws(StoreError) -> [StoredAlert]
    /// How many alerts an incident has, and how many of them fire.
    func alertCounts(of id: String) throws(StoreError) -> (all: Int64, firing: Int64)
    /// Entries of a timeline after a number, by number.
    func incidentEntries(of id: String, after number: Int64, limit: Int) throws(StoreError) -> [IncidentEntry]
    /// Messages of an incident after a number, by number.
    func incidentMessages(
        _ model: ModelType,
        of id: String,
        after number: MessageNumber,
        limit: Int
    ) throws(StoreError) -> [String]
    /// Before which number in their topic the pushes of these incidents are overtaken.
    func answeredNumbers(of incidents: Set<String>) throws(StoreError) -> [String: MessageNumber]
    /// Those of these devices that got a push of the incident, or may have one on its way.
    ///
    /// That may be whatever asks for somebody, and quiet changes before this number that another
    /// node than `node` has in hand.
    func devicesReached(
        byIncident id: String,
        before number: MessageNumber,
        among devices: [DeviceID],
        node: String
    ) throws(StoreError) -> Set<DeviceID>
    /// Pushes of these incidents to these devices that providers have accepted or are to get, in no
    /// order: of messages after this number, and what has changed since a moment.
    ///
    /// What came in a summary is not among them.
    func livePushes(
        ofIncidents ids: Set<String>,
        to devices: Set<DeviceID>,
        after number: MessageNumber,
        orSince moment: Timestamp
    ) throws(StoreError) -> [IncidentPush]
}

/// A push of an incident's message.
package struct IncidentPush: Sendable {
    /// The incident's id.
    package var incident: String
    /// The message's.
    package var number: MessageNumber
    /// What became of it.
    package var delivery: Delivery

    /// A push as the store has it.
    package init(incident: String, number: MessageNumber, delivery: Delivery) {
        (self.incident, self.number, self.delivery) = (incident, number, delivery)
    }
}

/// How incidents are written, beside their records.
package protocol IncidentWriting {
    /// The next number of an incident in a topic, whose row is held.
    func nextIncidentNumber(in topic: TopicID) throws(StoreError) -> Int64
    /// Replaces what the server knows of an incident; its end counts for keys.
    func save(_ facts: IncidentFacts, of id: String, resolvedAt: Timestamp?) throws(StoreError)
    /// Inserts alerts of an incident or replaces those of their fingerprints.
    func save(_ alerts: [StoredAlert], of id: String, source: String) throws(StoreError)
    /// Ends all alerts of an incident that fire.
    func endAlerts(of id: String, at now: Timestamp) throws(StoreError)
    /// Adds an entry to a timeline.
    func add(_ entry: IncidentEntry, to id: String) throws(StoreError)
    /// Ends the waiting deliveries of an incident's loud messages, and notes each.
    func withdrawPushes(ofIncident id: String, now: Timestamp) throws(StoreError)
    /// Makes an accepted delivery due again, and notes it.
    func sendAgain(_ delivery: Delivery, now: Timestamp) throws(StoreError)
    /// Removes incidents that were resolved before a moment, with all that is theirs, the oldest
    /// first; at most `limit`. Answers how many.
    func removeIncidents(resolvedBefore moment: Timestamp, limit: Int) throws(StoreError) -> Int
}
