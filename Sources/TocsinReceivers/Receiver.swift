package import TocsinCore

/// The shape of one product: its requests become events, what became of them its answer.
///
/// A receiver knows neither sockets nor stores. Who calls it has found the integration by its key,
/// and has checked the body's size, the rate and the sender's address.
package protocol Receiver: Sendable {
    /// The kind of integrations that speak it.
    var kind: Integration.Kind { get }
    /// The methods it takes; any other is a fault `methodNotAllowed`.
    var methods: [String] { get }
    /// What the request says.
    func read(_ request: ReceiverRequest, in context: ReceiverContext) -> Reading
    /// The answer once everything that the events caused is durable.
    func answer(_ accepted: AcceptedEvents, to request: ReceiverRequest) -> ReceiverAnswer
    /// The answer to a request of which nothing was taken.
    func answer(_ fault: ReceiverFault, to request: ReceiverRequest) -> ReceiverAnswer
}

/// What a receiver has made of a request.
package enum Reading: Sendable, Equatable {
    /// Events in order, with notes for the owner: what was taken though it was not as it should be.
    case events([SenderEvent], notes: [String] = [])
    /// Nothing is taken.
    case refused(ReceiverFault)
    /// The sender only asked something; nothing is to be stored.
    case answered(ReceiverAnswer)
}

/// What a receiver knows of the integration that was posted to.
package struct ReceiverContext: Sendable {
    /// The integration.
    package var integration: Integration
    /// The name of its topic.
    package var topicName: String
    /// How many events a minute it takes, for senders that ask.
    package var ratePerMinute = 600
    /// What the sender signs with; nil: it does not sign.
    package var signatureSecret: [UInt8]?
    /// The SHA-256 of bytes.
    package var sha256: @Sendable ([UInt8]) -> [UInt8]
    /// The HMAC-SHA256 of a message under a key.
    package var hmacSHA256: @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]

    /// What is known of an integration whose sender does not sign.
    package init(
        integration: Integration,
        topicName: String,
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8],
        hmacSHA256: @escaping @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]
    ) {
        (self.integration, self.topicName) = (integration, topicName)
        (self.sha256, self.hmacSHA256) = (sha256, hmacSHA256)
    }
}

/// Events that were taken, with what became of each.
package struct AcceptedEvents: Sendable, Equatable {
    /// The events in their order.
    package var events: [SenderEvent]
    /// What became of them, in the same order.
    package var outcomes: [EventOutcome]
    /// Where they came in.
    package var integration: Integration
    /// The name of its topic.
    package var topicName: String

    /// Events and outcomes of one request.
    package init(events: [SenderEvent], outcomes: [EventOutcome], integration: Integration, topicName: String) {
        (self.events, self.outcomes) = (events, outcomes)
        (self.integration, self.topicName) = (integration, topicName)
    }
}
