import Foundation
import JSON
import Testing

@Suite("Limits of documents, as set", .timeLimit(.minutes(5)))
struct DocumentLimitTests {
    /// A setting, the value it gets, and a request that the value refuses,
    /// with words of the refusal.
    private struct Case {
        let key: String
        let value: Int
        let document: String
        var variables: JSONObject = [:]
        let words: String

        var variable: String { "TOCSIN_" + key.uppercased().replacing("-", with: "_") }
    }

    private static let cases = [
        Case(
            key: "document-bytes",
            value: 600,
            document: "{ me { username } } #" + String(repeating: "x", count: 600),
            words: "more than the 600 accepted"
        ),
        Case(
            key: "document-tokens",
            value: 90,
            document: "{ " + String(repeating: "a ", count: 100) + "}",
            words: "more than 90 tokens"
        ),
        Case(
            key: "document-nesting",
            value: 8,
            document: String(repeating: "{ a ", count: 9) + String(repeating: "}", count: 9),
            words: "nested more than 8 levels"
        ),
        Case(
            key: "document-depth",
            value: 3,
            document: #"{ getMessage(id: "x") { deliveries { items { status } } } }"#,
            words: "nest 4 levels deep; at most 3"
        ),
        Case(
            key: "introspection-depth",
            value: 3,
            document: "{ __schema { queryType { fields { name } } } }",
            words: "introspection nest 4 levels deep; at most 3"
        ),
        Case(
            key: "introspection-lists",
            value: 1,
            document: #"{ __type(name: "Topic") { fields { name } } }"#,
            words: "Maximum introspection depth exceeded"
        ),
        Case(
            key: "document-fields",
            value: 10,
            document: "{ me { " + String(repeating: "username ", count: 10) + "} }",
            words: "more than 10 fields"
        ),
        Case(
            key: "document-aliases",
            value: 2,
            document: "{ a: __typename b: __typename c: __typename }",
            words: "3 aliases; at most 2"
        ),
        Case(
            key: "document-root-fields",
            value: 3,
            document: "{ __typename me { username } listTopics { nextToken } listMessages { nextToken } }",
            words: "4 fields of the root; at most 3"
        ),
        Case(
            key: "document-directives",
            value: 1,
            document: "{ me @include(if: true) { username @include(if: true) } }",
            words: "2 directives; at most 1"
        ),
        Case(
            key: "document-fragments",
            value: 1,
            document: "{ ...A ...B } fragment A on Query { __typename } fragment B on Query { __typename }",
            words: "2 fragments; at most 1"
        ),
        Case(
            key: "document-operations",
            value: 1,
            document: "query A { __typename } query B { __typename }",
            words: "2 operations; at most 1"
        ),
        Case(
            key: "document-cost",
            value: 100,
            document: "{ listTopics(limit: 300) { items { id } } }",
            words: "costs 302; at most 100"
        ),
        Case(
            key: "page-rows",
            value: 20,
            document: "query ($n: Int) { listTopics(limit: $n) { items { id } } }",
            variables: ["n": 250],
            words: "costs 252; at most 100"
        ),
        Case(
            key: "json-values",
            value: 10,
            document: "{ __typename }",
            variables: ["x": .array(Array(repeating: 1, count: 11))],
            words: "more than 10 values"
        ),
    ]

    @Test("each limit reaches the engine from a flag, a variable or the file, and says itself what was too much")
    func limits() async throws {
        try await Installation.run { installation in
            var lines: [String] = []
            for (index, limit) in Self.cases.enumerated() {
                switch index % 3 {
                case 0: installation.options += ["--" + limit.key, "\(limit.value)"]
                case 1: installation.environment[limit.variable] = "\(limit.value)"
                default: lines.append("\(limit.key) = \(limit.value)")
                }
            }
            let path = installation.folder + "/limits.toml"
            try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
            installation.options += ["--config", path]
        } _: { installation in
            let token = try await installation.addUser("ada")
            for limit in Self.cases {
                let answer = try await installation.curl(limit.document, limit.variables, token: token)
                let messages = answer["errors"]?.arrayValue?.compactMap { $0["message"]?.stringValue } ?? []
                #expect(messages.contains { $0.contains(limit.words) }, "\(limit.key): \(answer)")
                #expect(answer["data"] == nil, "\(limit.key)")
            }
            // Within all of them things run.
            let answer = try await installation.curl(
                "query ($n: Int) { me { username } listTopics(limit: $n) { items { id } } }",
                ["n": 30],
                token: token
            )
            #expect(answer == ["data": ["me": ["username": "ada"], "listTopics": ["items": []]]])
        }
    }
}
