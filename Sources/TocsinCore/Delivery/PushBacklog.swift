/// What waits for the outbox of all nodes, and the devices there are; found by looking at no more
/// than so many rows of each.
package struct PushBacklog: Sendable, Hashable {
    /// Devices that one provider reaches.
    package struct Kind: Sendable, Hashable {
        /// Which kind of provider reaches them.
        package var platform: PushPlatform
        /// Whether Firebase has given them their names.
        package var isNamedByFirebase: Bool
        /// Whether their tokens are subscriptions of browsers.
        package var isSubscription: Bool

        /// Devices of which this holds.
        package init(platform: PushPlatform, isNamedByFirebase: Bool, isSubscription: Bool) {
            (self.platform, self.isNamedByFirebase) = (platform, isNamedByFirebase)
            self.isSubscription = isSubscription
        }
    }

    /// How much waits, and since when.
    package struct Waiting: Sendable, Hashable {
        /// How many there are.
        package var count: Int
        /// When the oldest of them was due, or made.
        package var oldest: Timestamp

        /// So many, the oldest of this time.
        package init(count: Int, oldest: Timestamp) {
            (self.count, self.oldest) = (count, oldest)
        }
    }

    /// Deliveries that are due.
    package var due: [Kind: Waiting] = [:]
    /// Fan-outs that nobody holds, by whether they are urgent.
    package var fanouts: [Bool: Waiting] = [:]

    /// Nothing waits.
    package init() {}
}
