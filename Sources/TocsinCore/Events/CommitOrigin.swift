/// Where a commit was made, and when.
package struct CommitOrigin: Sendable, Hashable {
    /// Whether this node made it.
    package var isHere: Bool
    /// When this node knew that it is durable; nil: the times in its records alone tell.
    package var at: ContinuousClock.Instant?

    /// An origin of these parts.
    package init(isHere: Bool, at: ContinuousClock.Instant?) {
        (self.isHere, self.at) = (isHere, at)
    }
}

/// Where each of several events was committed that are told together.
package enum CommitOrigins: Sendable, Hashable {
    /// All of them in one place.
    case one(CommitOrigin)
    /// Each in the place at its index.
    case each([CommitOrigin])

    /// Where the event at this index was committed.
    package subscript(index: Int) -> CommitOrigin {
        switch self {
        case .one(let origin): origin
        case .each(let origins): origins[index]
        }
    }
}
