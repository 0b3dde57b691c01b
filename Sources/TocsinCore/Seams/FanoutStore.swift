/// What a read may ask about fan-outs: messages that are still to go to their topics' devices.
package protocol FanoutReading {
    /// Whether a message is still on its way to its topic's devices.
    func isFanningOut(_ message: MessageID) throws(StoreError) -> Bool
    /// The next devices of a fan-out, by id; at most `limit`.
    ///
    /// These are the devices that were active, of members, at its `createdAt`, in its range, after
    /// `nextDevice`, without a delivery row yet. What has ended since (retired, removed, or its
    /// owner left the topic) comes inactive, with the reason and without a token. Those of members
    /// who muted the topic come marked so. Registering again does not count as an end, and joining
    /// later does not bring old messages.
    func nextDevices(of fanout: Fanout, limit: Int) throws(StoreError) -> [Device]
    /// Active devices of these users as far as they are members of a topic, by id, at most 500;
    /// with what each wants of the topic.
    func devices(of users: [UserID], hearing topic: TopicID) throws(StoreError) -> [Device]
    /// Members at a fan-out's `createdAt` who had no active device then; none where the topic has
    /// thousands of members.
    func membersWithoutDevice(of fanout: Fanout) throws(StoreError) -> [UserID]
    /// Device ids, rising, that cut a large topic's devices into parts of about so many; none for a
    /// topic of few members.
    func deviceCuts(of topic: TopicID, partSize: Int, maximumParts: Int) throws(StoreError) -> [String]
}

/// How fan-outs are made, claimed and served.
package protocol FanoutWriting {
    /// Inserts fan-outs that nobody holds.
    func addFanouts(_ fanouts: [Fanout]) throws(StoreError)
    /// Takes fan-outs that nobody holds (no lease, or one that has run out), oldest first, and
    /// leases them to the node.
    func claimFanouts(
        node: String,
        now: Timestamp,
        leaseUntil: Timestamp,
        limit: Int,
        urgentOnly: Bool
    ) throws(StoreError) -> [Fanout]
    /// Divides a held fan-out of which nothing has been served into ranges that begin at these
    /// rising ids, under the same lease.
    ///
    /// Answers all of them, or none when it is no longer held as it says.
    func split(_ fanout: Fanout, at cuts: [String]) throws(StoreError) -> [Fanout]
    /// Moves a held fan-out on to `nextDevice` and renews its lease; false when it is no longer
    /// held as it says (node and `leaseUntil`).
    ///
    /// Then another holder has it, and this one must stop. The holder keeps both new values in its
    /// copy.
    func advance(_ fanout: Fanout, nextDevice: String, leaseUntil: Timestamp) throws(StoreError) -> Bool
    /// Removes a held fan-out that has been served; false when it is no longer held as it says.
    func conclude(_ fanout: Fanout) throws(StoreError) -> Bool
}
