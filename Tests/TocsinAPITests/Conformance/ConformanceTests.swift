import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore
import TocsinStore

@Suite("Conformance to AppSync", .timeLimit(.minutes(5)))
struct ConformanceTests {
    @Test("every case", arguments: try ConformanceCase.all(), APIDatabase.available)
    func each(item: ConformanceCase, database: APIDatabase) async throws {
        var settings = item.settings
        // As on AWS, which the cases compare with.
        settings.topicNamesAreUnique = false
        let api = try await APIHarness(model: item.model, settings: settings, database: try database.make())
        var expectation = Expectation()
        var listeners: [String: CollectingSink] = [:]
        for (number, step) in item.steps.enumerated() {
            let location = "step \(number + 1)"
            let answer = try await take(step, of: item, api, expectation, &listeners)
            check(step, answer, &expectation, at: location)
            #expect(
                expectation.differences.isEmpty,
                "\(location): \(expectation.differences.joined(separator: "; ")) in \(answer.serializedString())"
            )
            guard expectation.differences.isEmpty else { return }
        }
        await api.store.close()
    }

    /// What a step may say; a word that is misspelt would ask for nothing.
    private static let words: Set<String> = [
        "as", "query", "document", "variables", "reap", "advance", "standard", "subscribe", "events", "data", "error",
        "errors",
    ]

    @Test("there are enough cases, each with its own name and at least one step, in known words")
    func complete() throws {
        let cases = try ConformanceCase.all()
        #expect(cases.count >= 150)
        #expect(Set(cases.map(\.testDescription)).count == cases.count)
        #expect(cases.allSatisfy { !$0.steps.isEmpty })
        for item in cases {
            let words = item.steps.flatMap { $0.objectValue?.keys ?? ["no object"] }
            #expect(Self.words.isSuperset(of: words), "\(item.testDescription)")
        }
    }

    private func take(
        _ step: JSONValue,
        of item: ConformanceCase,
        _ api: APIHarness,
        _ expectation: Expectation,
        _ listeners: inout [String: CollectingSink]
    ) async throws -> JSONValue {
        if let seconds = step["advance"]?.doubleValue { api.time.advance(seconds: seconds) }
        if step["reap"] != nil {
            let reaper = TombstoneReaper(environment: api.environment, models: api.schema.models)
            return ["data": ["reaped": .int(Int64(try await reaper.runOnce()))]]
        }
        if let name = step["events"]?.stringValue {
            let listener = try #require(listeners[name], "\(item.testDescription) has no subscription \(name)")
            let responses = try await listener.take(step["data"]?.arrayValue?.count ?? 0)
            return ["data": .array(responses.map { $0["errors"] == nil ? $0["data"] ?? .null : $0 })]
        }
        let name = step["document"]?.stringValue ?? ""
        let query = try #require(
            (step["query"] ?? item.documents[name])?.stringValue,
            "\(item.testDescription) has no document \(name)"
        )
        let request = GraphQLRequest(
            query: expectation.filled(query),
            variables: expectation.filled(step["variables"] ?? [:]).objectValue ?? [:]
        )
        let caller = Self.caller(step["as"]?.stringValue ?? "alice")
        let style = step["standard"] == nil ? ResponseStyle.appSync : .standard
        guard let listener = step["subscribe"]?.stringValue else {
            return try await api.run(request.query, request.variables, as: caller, style: style)
        }
        let sink = CollectingSink()
        listeners[listener] = sink
        switch await api.service.subscribe(request, caller: caller, options: SubscribeOptions(style: style), sink: sink)
        {
        case .stream: return [:]
        case .refused(let errors): return ["errors": try JSONParser.parse(errors)]
        }
    }

    /// Without `error` and `errors` there must be none; `data` is compared as
    /// far as the step gives it.
    private func check(
        _ step: JSONValue,
        _ answer: JSONValue,
        _ expectation: inout Expectation,
        at location: String
    ) {
        let errors = (answer["errors"]?.arrayValue ?? []).map { error in
            // Ours, beside AppSync's.
            var members = error.objectValue ?? [:]
            if step["subscribe"] != nil { members["code"] = error["extensions"]?["code"] }
            if step["standard"] == nil { members["extensions"] = nil }
            return JSONValue.object(members)
        }
        if let expected = step["error"] {
            expectation.compare(errors.count == 1 ? errors[0] : .array(errors), with: expected, at: "error")
        } else if let expected = step["errors"] {
            expectation.compare(.array(errors), with: expected, at: "errors")
        } else {
            expectation.compare(.array(errors), with: [], at: "errors")
        }
        if let expected = step["data"] { expectation.compare(answer["data"], with: expected, at: "data") }
    }

    /// `alice`, `alice in admins,staff`, `alice by oidc`, `alice without username`,
    /// `alice without sub`, `key`.
    private static func caller(_ text: String) -> Identity {
        let words = text.split(separator: " ").map(String.init)
        var caller = APIHarness.identity(words[0])
        if words[0] == "key" { caller.provider = .apiKey }
        if words.count == 3, words[1] == "in" {
            caller.claims[AccessRule.groupClaim] = words[2].split(separator: ",").map(String.init)
        }
        if words.count == 3, words[1] == "without" {
            if words[2] == "sub" { caller.userID = UserID("") } else { caller.username = "" }
        }
        if words.count == 3, words[1] == "by" { caller.provider = .oidc }
        if words.count == 3, words[1] == "has" {
            let claim = words[2].split(separator: "=").map(String.init)
            caller.claims[claim[0]] = [claim[1]]
        }
        return caller
    }
}
