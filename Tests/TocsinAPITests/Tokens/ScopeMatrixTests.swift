import Foundation
import GraphQLTransport
import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("Scopes by operations")
struct ScopeMatrixTests {
    private static func scopes(_ scene: TokenScene) -> [(name: String, words: [String])] {
        [
            ("full", ["full"]), ("read", ["read"]), ("read:T", ["read:" + scene.own.topic]),
            ("publish:T", ["publish:" + scene.own.topic]), ("push", ["push"]), ("topics", ["topics"]),
            ("device", ["device"]), ("metrics", ["metrics"]), ("audit", ["audit"]),
        ]
    }

    /// What ends things is tried when nothing else is left to try.
    private static func order(_ field: SchemaWalk.Field) -> Int {
        let late = ["unsubscribe", "unregister", "rotate", "revoke", "deleteSch", "deleteMess", "delete"]
        return late.firstIndex { field.name.hasPrefix($0) } ?? -1
    }

    /// A row without `full` is of an operation that the shipped rules give to nobody, or that needs
    /// what this server has not set up.
    @Test("every root field is allowed and refused as the golden table says")
    func matrix() async throws {
        let names = Self.scopes(try await TokenScene()).map(\.name)
        var rows: [String: [String: Bool]] = [:]
        for index in names.indices {
            let scene = try await TokenScene()
            let walk = try await SchemaWalk(scene.api)
            let caller = try scene.caller(Self.scopes(scene)[index].words)
            for field in walk.fields.sorted(by: { Self.order($0) < Self.order($1) }) {
                let document = walk.least(of: field, at: scene.own)
                let isAllowed = try await isAllowed(field, document, caller, scene.api)
                rows["\(field.kind) \(field.name)", default: [:]][names[index]] = isAllowed
            }
        }
        let table = rows.keys.sorted().map { row in
            let cells = names.map { name in rows[row]?[name] == true ? name : String(repeating: ".", count: name.count)
            }
            return row.padding(toLength: 42, withPad: " ", startingAt: 0) + cells.joined(separator: " ")
        }
        let text = table.joined(separator: "\n") + "\n"
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "token-scopes.txt")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" { try Data(text.utf8).write(to: file) }
        #expect(try String(decoding: Data(contentsOf: file), as: UTF8.self) == text)
    }

    private func isAllowed(
        _ field: SchemaWalk.Field,
        _ document: String,
        _ caller: Identity,
        _ api: APIHarness
    ) async throws -> Bool {
        if field.kind == "subscription" {
            guard case .stream(let stream) = await api.subscribe(document, as: caller).outcome else { return false }
            stream.cancel()
            return true
        }
        let answer = try await api.run(document, as: caller)
        let errors = answer["errors"]?.arrayValue ?? []
        #expect(!errors.contains { $0["extensions"]?["code"] == "VALIDATION_FAILED" }, "\(document): \(answer)")
        let value = answer["data"]?[field.name]
        guard errors.isEmpty else {
            // Who gets as far as that may ask.
            return !errors.contains { $0["extensions"]?["code"] == "UNAUTHORIZED" }
        }
        // What the rules leave nothing of shows as a list of nothing, or as null.
        if let items = value?["items"]?.arrayValue { return !items.isEmpty }
        return !(value?.isNull ?? true)
    }
}
