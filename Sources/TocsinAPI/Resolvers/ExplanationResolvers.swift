import GraphQL
import JSON
import TocsinCore

/// Resolvers of `explainDelivery`: why a message reaches a user or not.
enum ExplanationResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.explainDelivery") { invocation throws(ServiceError) in
            let context = invocation.context
            let explanation = try await context.services.deliveries.explain(
                MessageID(invocation.text("messageId")),
                to: invocation.text("userId"),
                caller: context.caller
            )
            return .object(.explanation(explanation))
        }
        map.explanation("messageId") { .leaf(.string($0.messageID.text)) }
        map.explanation("userId") { .leaf(.string($0.userID.text)) }
        map.explanation("accepted") { .leaf(.bool($0.isAccepted)) }
        map.explanation("summary") { .leaf(.string($0.summary)) }
        map.explanation("gates") { .objects($0.gates.map { .gate($0) }) }
        map.explanation("deliveries") { .objects($0.deliveries.map { .delivery($0) }) }
        map.gate("name") { .leaf(.string($0.name.graphQLName)) }
        map.gate("passed") { .leaf($0.passed.map { .bool($0) } ?? .null) }
        map.gate("sentence") { .leaf(.string($0.sentence)) }
        map.gate("advice") { .leaf($0.advice.map { .string($0) } ?? .null) }
        map.gate("device") { $0.device.map { .object(.device($0)) } ?? .null }
    }
}

extension DeliveryExplanation.GateName {
    /// `topicPush` is `TOPIC_PUSH`.
    fileprivate var graphQLName: String {
        rawValue.reduce(into: "") { name, character in
            if character.isUppercase { name.append("_") }
            name.append(character.uppercased())
        }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func explanation(
        _ field: String,
        _ value: @escaping @Sendable (DeliveryExplanation) -> ResolvedValue<APIObject>
    ) {
        self.value("DeliveryExplanation.\(field)") { object, _ in
            guard case .explanation(let explanation) = object else { return .null }
            return value(explanation)
        }
    }

    fileprivate mutating func gate(
        _ field: String,
        _ value: @escaping @Sendable (DeliveryExplanation.Gate) -> ResolvedValue<APIObject>
    ) {
        self.value("DeliveryGate.\(field)") { object, _ in
            guard case .gate(let gate) = object else { return .null }
            return value(gate)
        }
    }
}
