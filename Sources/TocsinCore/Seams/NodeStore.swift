/// What a read may ask about the nodes of the database.
package protocol NodeReading {
    /// Nodes that were heard of since the moment.
    func nodes(seenSince moment: Timestamp) throws(StoreError) -> [NodeEntry]
    /// The jobs whose lease a node has, by name.
    func duties(of node: String, at now: Timestamp) throws(StoreError) -> [String]
}

/// How nodes, their leases and the journal are written.
package protocol NodeWriting {
    /// Inserts the node or replaces the one of its instance.
    func save(_ node: NodeEntry) throws(StoreError)
    /// Forgets a node that has stopped, and gives its leases back.
    func removeNode(instance: String) throws(StoreError)
    /// Forgets nodes that have not been heard of since the moment.
    func removeNodes(seenBefore moment: Timestamp) throws(StoreError)
    /// Takes the lease of a job that one node at a time does, or keeps it.
    ///
    /// False while another has it. A lease ends by itself: a node that lives takes it again before.
    func takeLease(_ name: String, node: String, now: Timestamp, until lease: Timestamp) throws(StoreError) -> Bool
    /// Removes entries of the journal of before the moment, oldest first, at most `limit`; answers
    /// how many.
    func removeJournal(before moment: Timestamp, limit: Int) throws(StoreError) -> Int
}

/// One run of the server, as the others know it.
package struct NodeEntry: Sendable, Hashable {
    /// Unlike any other run's, of this node or another.
    package var instance: String
    /// What the operator calls it.
    package var name: String
    /// Tells whether nodes have the same server key, without telling the key.
    package var keyMark: String
    /// Whether somebody there listens to deliveries.
    package var wantsDeliveries: Bool
    /// When this run began.
    package var startedAt: Timestamp
    /// When it last wrote its entry.
    package var seenAt: Timestamp
    /// A node that was not heard of for longer is taken to be gone.
    package static let lifeSeconds = 20.0

    /// An entry of a run that begins now and listens to nothing.
    package init(instance: String, name: String, keyMark: String, startedAt: Timestamp) {
        self.instance = instance
        self.name = name
        self.keyMark = keyMark
        self.startedAt = startedAt
        wantsDeliveries = false
        seenAt = startedAt
    }
}
