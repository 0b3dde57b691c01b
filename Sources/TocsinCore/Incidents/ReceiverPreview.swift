/// A request that somebody wants to see read, and what is to read it.
package struct PreviewedRequest: Sendable {
    /// The kind of the integration.
    package var kind: Integration.Kind
    /// The name of a receiver that is data.
    package var receiver: String?
    /// A template as JSON, in place of a named receiver.
    package var template: String?
    /// The request's headers.
    package var headers: [String: String] = [:]
    /// The parameters of its query.
    package var query: [String: String] = [:]
    /// Its body.
    package var body: String
    /// The integration whose topic, routes and words count; nil: the usual ones.
    package var integration: Record?
    /// Bodies that are longer are refused.
    package static let maximumBodyBytes = 256 << 10
    /// The longest text of all headers, or of all parameters.
    package static let maximumTextBytes = 16 << 10

    /// A request without headers and parameters.
    package init(kind: Integration.Kind, receiver: String?, template: String?, body: String) {
        (self.kind, self.receiver, self.template, self.body) = (kind, receiver, template, body)
    }
}

/// What a request would become.
package struct ReceiverPreview: Sendable, Equatable {
    /// The HTTP status that its sender would get.
    package var status: Int
    /// The answer's body.
    package var answer: String
    /// In their order.
    package var events: [SenderEvent]
    /// The topic of each event where nothing is open yet; empty where no integration was named.
    package var topics: [TopicID] = []
    /// What does not fit, each in a sentence.
    package var problems: [String]

    /// A preview of these parts.
    package init(status: Int, answer: String, events: [SenderEvent] = [], problems: [String] = []) {
        (self.status, self.answer, self.events, self.problems) = (status, answer, events, problems)
    }
}
