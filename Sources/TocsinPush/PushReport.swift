package import TocsinCore

/// What the outbox tells the people who run the server.
///
/// Never carries tokens or texts of messages.
package enum PushReport: Sendable, Hashable {
    /// Said once at start for each provider without credentials; its deliveries are skipped.
    case providerNotConfigured(PushService)
    /// A lane is tried with one delivery at a time until one is answered; said at most
    /// once a minute for a lane.
    case providerPaused(PushLane, reason: String)
    case providerResumed(PushLane)
    /// A quota is used up: the lane's project gets so many pushes a second for a minute.
    case providerSlowed(PushLane, perSecond: Int)
    /// A delivery failed for good: the provider refused what we built (our bug), or
    /// its last attempt was used.
    case payloadRefused(PushService, Delivery)
    /// The provider's own credentials towards somebody else need attention
    /// (`THIRD_PARTY_AUTH_ERROR`).
    case credentialTrouble(PushService, reason: DeliveryReason, Delivery)
    /// The provider has said, in answer to this delivery, that its device's token is dead.
    case deviceRetired(Delivery, reason: DeliveryReason)
    /// A page's outcomes, for the counters.
    case settled(PushService, DeliveryStatus, count: Int)
    /// What became of one delivery, told only where an operator asks for that; `tokenHash` is the
    /// keyed hash of the device's token.
    case delivery(Delivery, PushService, tokenHash: String)
    /// The outbox goes on by itself once the store does.
    case storeFailed(StoreError)
    /// Pushes that had no answer when the server stopped; they wait for the next start.
    case stoppedUnanswered(count: Int)
}

/// Receives reports, on any thread; must return at once.
package typealias PushReporting = @Sendable (PushReport) -> Void
