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

    @Test("what is held is what a plain model of the rules holds, in whatever order", arguments: [1, 2, 3, 4])
    func model(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let parts = Int(seed)
        let queries = PersistedQueries(maximumEntries: 24, maximumBytes: 24_000, ownerParts: parts)
        var model = Model(entries: 24, bytes: 24_000, parts: parts)
        for step in 0..<5000 {
            let number = Int.random(in: 0..<80, using: &random)
            let digest = try Self.digest(number)
            if Bool.random(using: &random) {
                #expect((queries.document(digest) != nil) == model.use(number), "seed \(seed), step \(step)")
            } else {
                let size = Int.random(in: 1..<2000, using: &random)
                let owner = Int.random(in: 0..<5, using: &random)
                let document = DocumentText(String(repeating: "x", count: size))
                queries.store(document, digest: digest, owner: "owner \(owner)")
                model.store(number, bytes: size + 300, owner: owner)
            }
            #expect(queries.count == model.entries.count, "seed \(seed), step \(step)")
        }
    }

    @Test("many tasks at once keep the bounds")
    func concurrent() async throws {
        let queries = PersistedQueries(maximumEntries: 50, maximumBytes: 100_000)
        let digests = try (0..<200).map { try Self.digest($0) }
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<2000 {
                        let digest = digests[(round * 7 + task * 13) % 200]
                        if queries.document(digest) == nil {
                            queries.store(DocumentText("{ a\(round) }"), digest: digest, owner: "owner \(task)")
                        }
                    }
                }
            }
        }
        #expect((1...50).contains(queries.count))
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

/// The rules of `PersistedQueries` written down without any thought of speed.
private struct Model {
    struct Entry {
        let number: Int
        let bytes: Int
        let owner: Int
    }

    let maximumEntries: Int
    let maximumBytes: Int
    let parts: Int
    /// The one used least recently comes first.
    var entries: [Entry] = []

    init(entries: Int, bytes: Int, parts: Int) {
        maximumEntries = entries
        maximumBytes = bytes
        self.parts = parts
    }

    mutating func use(_ number: Int) -> Bool {
        guard let index = entries.firstIndex(where: { $0.number == number }) else { return false }
        entries.append(entries.remove(at: index))
        return true
    }

    mutating func store(_ number: Int, bytes: Int, owner: Int) {
        guard bytes <= maximumBytes / parts, !entries.contains(where: { $0.number == number }) else {
            if bytes <= maximumBytes / parts { _ = use(number) }
            return
        }
        while let index = entries.firstIndex(where: { $0.owner == owner }),
            isFull(entries.filter { $0.owner == owner }, parts, bytes)
        { entries.remove(at: index) }
        while !entries.isEmpty, isFull(entries, 1, bytes) { entries.removeFirst() }
        entries.append(Entry(number: number, bytes: bytes, owner: owner))
    }

    private func isFull(_ some: [Entry], _ parts: Int, _ bytes: Int) -> Bool {
        some.count >= maximumEntries / parts || some.map(\.bytes).reduce(bytes, +) > maximumBytes / parts
    }
}

/// Numbers that a seed decides (SplitMix64).
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
