import Foundation
import JSON
import TocsinAuth
import TocsinCore
import TocsinServer

/// One provider of `scripts/oidc.sh`, and the person who signs in with it.
struct ProviderDesk {
    private static let variable = "TOCSIN_TEST_OIDC"
    private static let address = ProcessInfo.processInfo.environment[variable]

    static var isOpen: Bool { address != nil }

    let http = CurlClient()
    let provider: OIDCSignIn
    let signIns: OIDCSignIns
    private let name: String
    private let control: String

    init(
        _ name: String,
        client: String = "app-secret",
        secret: String = "s3 cret+/%",
        secondsAhead: Double = 0
    ) async throws {
        guard let control = Self.address, let home = EndpointAddress("https://push.example") else { throw Closed() }
        (self.name, self.control) = (name, control)
        let known = try Self.json(await http.send(OutgoingRequest(url: control)))
        guard let issuer = known.arrayValue?.first(where: { $0["id"] == .string(name) })?["issuer"]?.stringValue else {
            throw Closed()
        }
        var settings = OIDCProvider(issuer: issuer, clientID: client)
        settings.id = name
        settings.secret = client == "app-secret" ? ClientSecret(secret) : nil
        settings.groupsClaim = ClaimPath("realm_access.roles")
        settings.allowedGroups = ["staff"]
        settings.adminGroups = ["ops"]
        signIns = OIDCSignIns(
            [settings],
            publicAddress: home,
            sealer: KeySealer(try ServerKey(secret: [UInt8](repeating: 7, count: 32))),
            http: http,
            time: Clock(secondsAhead: secondsAhead)
        )
        provider = signIns.all[0]
    }

    /// The whole flow.
    func signIn(returnTo path: String? = nil, elevating user: UserID? = nil) async throws -> SignedIn {
        let beginning = try await provider.begin(returnTo: path, elevating: user)
        return try await signIns.finish(walk(beginning.location), cookie: beginning.cookie)
    }

    /// Sends the person to an address; what they come back with.
    func walk(_ location: String) async throws -> CallbackParameters {
        try CallbackParameters(await query(location))
    }

    /// Sends the person to an address, to agree or to refuse; the callback's query.
    func query(_ location: String, act: String = "walk") async throws -> [(name: String, value: String)] {
        try await ask(act, location).arrayValue?.map { pair in
            (name: pair[0]?.stringValue ?? "", value: pair[1]?.stringValue ?? "")
        } ?? []
    }

    func ask(_ act: String, _ body: String = "") async throws -> JSONValue {
        let request = OutgoingRequest(
            method: "POST",
            url: "\(control)/\(act)/\(name)",
            body: Array(body.utf8),
            timeoutSeconds: 120
        )
        return try Self.json(await http.send(request))
    }

    private static func json(_ answer: OutgoingAnswer) throws -> JSONValue {
        guard case .response(200, _, let body) = answer else { throw Unexpected(description: "\(answer)") }
        return try JSONParser.parse(body)
    }

    private struct Closed: Error {}

    private struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }

    private struct Clock: TimeSource {
        let secondsAhead: Double

        func now() -> Timestamp { SystemTime().now().adding(seconds: secondsAhead) }

        func sleep(until moment: Timestamp) async throws { throw CancellationError() }
    }
}
