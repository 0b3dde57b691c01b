import JSON
import Testing

/// `onAuditEvent` on the built server (docs/audit.md).
@Suite("The audit that is followed, over every live transport", .timeLimit(.minutes(5)))
struct FollowedAuditTests {
    private static let document = "subscription { onAuditEvent { action actorKind subject } }"

    private static func row(_ event: JSONValue) -> String {
        let row = event["onAuditEvent"]
        return [row?["action"], row?["actorKind"]].map { $0?.stringValue ?? "" }.joined(separator: " ")
    }

    @Test("administrators and tokens for it hear what callers and commands do, each once; others are refused")
    func follows() async throws {
        try await Installation.run { installation in
            let ada = try await installation.addUser("ada")
            let bob = try await installation.addUser("bob")
            try await installation.administer(["user", "admin", "ada"])
            let keeper = try await installation.makeToken(user: "bob", ["--scope", "audit"])
            var listening: [LiveStreams] = []
            for transport in LiveTransport.allCases {
                for (name, token) in [("ada", ada), ("keeper", keeper), ("bob", bob)] {
                    let streams = try await LiveStreams(transport, installation, token: token)
                    try streams.subscribe("audit", Self.document)
                    try await streams.untilSettled()
                    let refusal = streams.refusal(of: "audit")?.serializedString()
                    guard name == "bob" else {
                        #expect(refusal == nil, "\(transport), \(name)")
                        listening.append(streams)
                        continue
                    }
                    #expect(refusal?.contains("Unauthorized") == true, "\(transport): \(refusal ?? "let in")")
                }
            }
            for name in ["one", "two"] { _ = try await installation.makeTopic(name, token: bob) }
            try await installation.administer(["user", "add", "dora"])
            try await installation.administer(["user", "disable", "dora"])
            for streams in listening {
                _ = try await streams.events(of: "audit") { Self.row($0) == "user.disable OPERATOR" }
                let rows = try streams.events(of: "audit").map(Self.row).filter { !$0.hasPrefix("s") }
                let expected = [
                    "topic.create USER", "topic.create USER", "user.create OPERATOR", "user.disable OPERATOR",
                ]
                #expect(rows == expected, "\(streams.transport)")
            }
        }
    }

    @Test("it ends for who is an administrator no more, and with its token, by a command beside the server too")
    func ends() async throws {
        try await Installation.run { installation in
            let ada = try await installation.addUser("ada")
            _ = try await installation.addUser("bob")
            try await installation.administer(["user", "admin", "ada"])
            let keeper = try await installation.makeToken(user: "bob", ["--scope", "audit"])
            let (adas, keepers) = (
                try await RawSocket(installation, token: ada), try await RawSocket(installation, token: keeper)
            )
            for socket in [adas, keepers] { try await socket.subscribe(Self.document) }
            try await installation.administer(["user", "admin", "ada", "--off"])
            #expect(try await adas.untilClosed() == 1001)
            let again = try await LiveStreams(.transportWS, installation, token: ada)
            try again.subscribe("audit", Self.document)
            let refusal = try await again.untilRefused("audit")
            #expect(refusal.serializedString().contains("Unauthorized"), "\(refusal)")
            guard case .message(let message) = try await keepers.next() else {
                throw HarnessFailure("The other socket has ended, too.")
            }
            #expect(message["payload"]?["data"]?["onAuditEvent"]?["action"] == "user.admin")
            try await installation.administer(["user", "disable", "bob"])
            #expect(try await keepers.untilClosed() == 4403)
        }
    }
}
