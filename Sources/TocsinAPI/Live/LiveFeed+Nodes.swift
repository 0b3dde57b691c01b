import GraphQL
import GraphQLTransport
import Synchronization
import TocsinCore

// What the reader of the nodes' journal needs to know, and to say.
extension LiveFeed {
    /// Whether anybody here listens to changes of this model's records of this owner.
    ///
    /// Topics are always wanted: whoever may no longer read one is to lose its feed.
    package func wants(model: String, owner: String?) -> Bool {
        if model == "Topic" { return true }
        if model == ShippedModels.incident, entries.isAnybodyHere { return true }
        // Those with whom a topic of this owner's is shared may want it.
        if ["Message", "Incident"].contains(model), let owner, book.hasTopics(of: owner) { return true }
        return state.withLock { state in
            RecordChange.allCases.contains { change in
                state.index.hasListeners(InterestKey(model: model, change: change, owner: owner))
                    || state.index.hasListeners(InterestKey(model: model, change: change, owner: nil))
            }
        }
    }

    /// Ends all subscriptions, to resume by their cursors: what other nodes
    /// committed may have been missed.
    package func loseTrack() {
        book.loseTrack()
        failAll(Self.lostTrack)
    }

    static let lostTrack = GraphQLError(
        .unavailable,
        "This node was cut off for a while from what others wrote. Subscribe again with extensions.cursor."
    )
}
