import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("People of a provider's groups")
struct ClaimedGroupTests {
    private static let dora = Identity(
        userID: UserID("sub-dora"),
        username: "dora",
        claims: ["cognito:groups": ["dev"]],
        claimedGroups: ["oidc:dev"]
    )

    @Test("who is known comes into a topic that is shared with their group within a minute of being here")
    func welcomed() async throws {
        let scene = try await SharingScene()
        let api = scene.api
        let keeper = UserFactsKeeper(store: api.store, time: api.time, sharing: api.services.sharing)
        let work = Task { await keeper.run() }
        defer { work.cancel() }
        let memberships = "{ memberships { push } }"
        func isMember() async throws -> Bool {
            try await api.run(memberships, as: Self.dora)["data"]?["memberships"] == [["push": true]]
        }
        // A person without a device is not known, and joins nothing.
        try await scene.granted(["READER"], to: ["group": "oidc:dev"], ["push": true])
        keeper.note(Self.dora)
        let register = #"mutation { registerPushToken(token: "aa11bb22cc33dd44", platform: "ios") { userId } }"#
        #expect(try await !isMember())
        _ = try await api.run(register, as: Self.dora)
        #expect(try await isMember(), "registering is enough")
        // Another topic, while she is here.
        let other = try await api.makeTopic("second")
        let grant = """
            mutation($t: ID!) {
              grantTopic(input: { topicId: $t, group: "oidc:dev", roles: [READER], push: true }) { id }
            }
            """
        _ = try await api.run(grant, ["t": .string(other)])
        // Her first request since then renews what is known of her, the next one looks for topics.
        api.time.advance(seconds: 3601)
        keeper.note(Self.dora)
        try await until { try await memberCount(api) == 2 }
        let third = try await api.makeTopic("third")
        _ = try await api.run(grant, ["t": .string(third)])
        keeper.note(Self.dora)
        #expect(try await memberCount(api) == 2, "at most once a minute")
        api.time.advance(seconds: 61)
        keeper.note(Self.dora)
        try await until { try await memberCount(api) == 3 }
    }

    private func memberCount(_ api: APIHarness) async throws -> Int {
        try await api.run("{ memberships { push } }", as: Self.dora)["data"]?["memberships"]?.arrayValue?.count ?? 0
    }

    /// Waits for what is written behind a request.
    private func until(_ condition: () async throws -> Bool) async throws {
        for _ in 0..<100_000 {
            if try await condition() { return }
            await Task.yield()
        }
        Issue.record("it never came")
    }
}
