import JSON
import Testing

@Suite("The audits of GraphQL over HTTP", .timeLimit(.minutes(5)))
struct HTTPAuditTests {
    @Test("all 61 pass, whatever their level")
    func audits() async throws {
        #expect(Set(HTTPAudit.all.map(\.id)).count == 61)
        try await Installation.run { installation in
            let token = try await installation.addUser("ada")
            for audit in HTTPAudit.all {
                let answer = try await installation.http(
                    "/graphql",
                    token: audit.isSignedIn ? token : nil,
                    audit.arguments
                )
                let context = "\(audit.testDescription): \(answer.status) \(answer.body)"
                #expect(audit.status.contains(answer.status), "\(context)")
                if let type = audit.answerType {
                    #expect(answer.header("content-type")?.contains(type) == true, "\(context)")
                }
                let body = try answer.json
                if let hasErrors = audit.hasErrors { #expect((body["errors"] != nil) == hasErrors, "\(context)") }
                if let hasData = audit.hasData { #expect((body["data"] != nil) == hasData, "\(context)") }
                // Beyond the audits: whatever is wrong is said in the shape of a response.
                if answer.status >= 400 {
                    #expect(body["errors"]?.arrayValue?.first?["message"]?.stringValue?.isEmpty == false, "\(context)")
                }
            }
        }
    }
}
