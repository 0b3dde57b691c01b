import GraphQLTransport
import Testing
import TocsinAPI

@Suite("Clients that have gone")
struct GoneClientTests {
    @Test("a token that cannot be looked up is a failure for the log, unless its client has gone meanwhile")
    func gone() async throws {
        let api = try await APIHarness()
        let service = api.service
        for (token, isFailure) in [(NameAuthenticator.away, true), (NameAuthenticator.leaving, false)] {
            // A task of its own, for it is cancelled on the way.
            let outcome = await Task { await service.authenticate(Credentials(authorization: token)) }.value
            guard case .unavailable(let message) = outcome else {
                Issue.record("\(token): \(outcome)")
                continue
            }
            // What is reported has an id.
            #expect(message.contains("ref ") == isFailure, "\(token): \(message)")
        }
    }
}
