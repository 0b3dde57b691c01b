import GraphQL
import Testing

@Suite("PersistedQueries")
struct PersistedQueriesTests {
    private static func digest(_ number: Int) throws -> DocumentDigest {
        try #require(DocumentDigest(hex: hexadecimal(number)))
    }

    @Test("what was stored is found by its hash")
    func found() throws {
        let queries = PersistedQueries()
        queries.store(DocumentText("{ a }"), digest: try Self.digest(1), owner: "ada")
        #expect(queries.document(try Self.digest(1)) == DocumentText("{ a }"))
        #expect(queries.document(try Self.digest(2)) == nil)
    }

    @Test("neither entries nor bytes grow past their bound, and the least used go first")
    func bounds() throws {
        let queries = PersistedQueries(maximumEntries: 10, maximumBytes: 10_000, ownerParts: 1)
        let kept = DocumentText("{ kept }")
        queries.store(kept, digest: try Self.digest(0), owner: "ada")
        for number in 1...50 {
            queries.store(DocumentText("{ a\(number) }"), digest: try Self.digest(number), owner: "ada")
            #expect(queries.document(try Self.digest(0)) == kept)
            #expect(queries.count <= 10)
        }
        #expect(queries.document(try Self.digest(1)) == nil)
        let large = DocumentText(String(repeating: "x", count: 3000))
        for number in 100...110 { queries.store(large, digest: try Self.digest(number), owner: "ada") }
        #expect(queries.count <= 3)
        queries.store(DocumentText(String(repeating: "x", count: 20_000)), digest: try Self.digest(200), owner: "ada")
        #expect(queries.document(try Self.digest(200)) == nil)
    }

    @Test("an owner who floods the store displaces documents of its own only")
    func flood() throws {
        let queries = PersistedQueries(maximumEntries: 100, maximumBytes: 1_000_000)
        queries.store(DocumentText("{ calm }"), digest: try Self.digest(0), owner: "ada")
        for number in 1...1000 {
            queries.store(DocumentText("{ a\(number) }"), digest: try Self.digest(number), owner: "mallory")
        }
        #expect(queries.count == 26)
        #expect(queries.document(try Self.digest(0)) != nil)
        #expect(queries.document(try Self.digest(1000)) != nil)
        #expect(queries.document(try Self.digest(900)) == nil)
    }

    @Test("many owners together stay within the whole")
    func owners() throws {
        let queries = PersistedQueries(maximumEntries: 20, maximumBytes: 1_000_000)
        for number in 0..<500 {
            let document = DocumentText("{ a\(number) }")
            queries.store(document, digest: try Self.digest(number), owner: "owner \(number % 50)")
            #expect(queries.count <= 20)
        }
        #expect(queries.document(try Self.digest(499)) != nil)
    }

    @Test(
        "a digest is 64 hexadecimal digits and nothing else",
        arguments: [
            (String(repeating: "0aF9", count: 16), true), (String(repeating: "0", count: 63), false),
            (String(repeating: "0", count: 65), false), (String(repeating: "g", count: 64), false),
            (String(repeating: "é", count: 32), false), ("", false),
        ]
    )
    func digests(text: String, isGood: Bool) {
        let digest = DocumentDigest(hex: text)
        #expect((digest != nil) == isGood)
        if let digest { #expect(digest.description == text.lowercased()) }
    }

    @Test("bytes and digits give the same digest")
    func bytes() {
        let bytes = (0..<32).map { UInt8($0 * 7 % 256) }
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(DocumentDigest(bytes)?.description == digits)
        #expect(DocumentDigest(bytes) == DocumentDigest(hex: digits))
        #expect(DocumentDigest(bytes.dropLast()) == nil)
    }
}
