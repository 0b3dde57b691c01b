import Testing
import TocsinCore

@Suite("Texts searched by bytes")
struct ByteSearchTests {
    private static func isInside(_ part: [UInt8], _ text: [UInt8]) -> Bool {
        part.count <= text.count && (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(
        "a part is found exactly where its bytes stand, in texts of few letters too",
        arguments: [UInt64.random(in: 0...UInt64.max), 1, 2, 3]
    )
    func random(seed: UInt64) {
        var generator = SearchGenerator(state: seed)
        for _ in 0..<2_000 {
            let letters = UInt8(1 + generator.next() % 3)
            let text = generator.bytes(letters, count: Int(generator.next() % 200))
            let part = generator.bytes(letters, count: Int(generator.next() % 12))
            let isInside = Self.isInside(part, text)
            #expect(Self.text(text).containsBytes(of: Self.text(part)) == isInside, "seed \(seed): \(part) in \(text)")
            guard !text.isEmpty else { continue }
            let offset = Int(generator.next() % UInt64(text.count))
            #expect(
                Self.text(text).containsBytes(of: Self.text(Array(text[offset...]))),
                "seed \(seed): \(offset) of \(text)"
            )
        }
    }

    @Test(
        "texts and parts made to slow a search are answered right",
        arguments: [
            (String(repeating: "a", count: 20_000), String(repeating: "a", count: 200) + "b", false),
            (String(repeating: "a", count: 20_000) + "b", String(repeating: "a", count: 200) + "b", true),
            (String(repeating: "ab", count: 20_000), String(repeating: "ab", count: 90) + "aab", false),
            (String(repeating: "ab", count: 9_000) + "aab", String(repeating: "ab", count: 90) + "aab", true),
            (
                String(repeating: String(repeating: "a", count: 100) + "b", count: 200),
                String(repeating: "a", count: 99) + "b" + String(repeating: "a", count: 100) + "bb", false
            ),
            (
                String(repeating: String(repeating: "a", count: 100) + "b", count: 200) + "b",
                String(repeating: "a", count: 99) + "b" + String(repeating: "a", count: 100) + "bb", true
            ),
        ]
    )
    func adversarial(text: String, part: String, isInside: Bool) {
        #expect(text.containsBytes(of: part) == isInside)
        #expect((part + text).containsBytes(of: part))
        #expect((text + part).containsBytes(of: part))
    }

    @Test("scalars are counted, not letters or bytes", arguments: ["", "abc", "é", "e\u{301}", "\u{1F514}x\u{FFFF}"])
    func scalars(text: String) {
        #expect(text.scalarCount == text.unicodeScalars.count)
    }

    @Test("what a predicate searches is told by field, as often as it is searched")
    func cost() {
        let predicate = Predicate.any([
            .field(0, .contains("a")), .not(.field(1, .notContains("b"))), .field(0, .size(.equal(1))),
            .all([.field(2, .equal(.text("x"))), .field(1, .beginsWith("y"))]),
        ])
        #expect(predicate.searchedFields == [0, 1, 0])
    }
}

private struct SearchGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ letters: UInt8, count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(ascii: "a") + UInt8(next() % UInt64(letters)) }
    }
}
