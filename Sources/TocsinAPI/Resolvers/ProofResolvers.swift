import GraphQL
import JSON
import TocsinCore

/// Resolvers of challenges for signed registrations.
enum ProofResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.registrationChallenge") { invocation throws(ServiceError) in
            let context = invocation.context
            let challenge = try context.services.devices.registrationChallenge(caller: context.caller)
            return challenge.map { .object(.challenge($0)) } ?? .null
        }
        map.challenge("nonce") { $1.string($0.nonce) }
        map.challenge("server") { $1.string($0.server) }
        map.challenge("userId") { $1.string($0.userID.text) }
        map.challenge("issuedAt") { $1.string(wholeSeconds($0.issuedAt)) }
        map.challenge("expiresAt") { $1.string(wholeSeconds($0.expiresAt)) }
    }

    /// The argument `proof` of a registration.
    static func proof(_ value: JSONValue?) -> RegistrationProofInput? {
        guard let scheme = value?["scheme"]?.stringValue, let address = value?["address"]?.stringValue,
            let signature = value?["signature"]?.stringValue, let nonce = value?["nonce"]?.stringValue
        else { return nil }
        return RegistrationProofInput(scheme: scheme, address: address, signature: signature, nonce: nonce)
    }

    /// A time as the signed text has it: without a fraction of a second.
    private static func wholeSeconds(_ moment: Timestamp) -> String { moment.iso8601.prefix { $0 != "." } + "Z" }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func challenge(
        _ field: String,
        _ write: @escaping @Sendable (ProofChallenge, inout LeafWriter) -> Void
    ) {
        leaf("RegistrationChallenge.\(field)") { object, out in
            guard case .challenge(let challenge) = object else { return out.null() }
            write(challenge, &out)
        }
    }
}
