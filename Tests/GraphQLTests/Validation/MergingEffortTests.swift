import GraphQL
import Testing

@Suite("Effort of merging fields")
struct MergingEffortTests {
    private let schema: Schema

    init() throws {
        schema = try Schema(
            sdl: "type Query { a: Query b: Query c: Int d(e: Int): Int f: I } interface I { g: Int h: I }"
        )
    }

    /// A document that is hostile in one way, of a given size.
    enum Hostile: CaseIterable {
        case equalFields, equalFieldsWithArguments, aliases, chainOfFragments, fragmentsOfOneField, nestedSelections
        case operationsOfOneFragment, unusedChain, inlineFragments

        func document(_ size: Int) -> String {
            switch self {
            case .equalFields: "{" + String(repeating: " c", count: size) + " }"
            case .equalFieldsWithArguments: "{" + String(repeating: " d(e: 1)", count: size) + " }"
            case .aliases: "{" + (0..<size).map { " x\($0): c x\($0): c" }.joined() + " }"
            case .chainOfFragments: "{ ...F0 } " + Self.chain(size)
            case .fragmentsOfOneField:
                "{" + (0..<size).map { " ...F\($0)" }.joined() + " } "
                    + (0..<size).map { "fragment F\($0) on Query { c }" }.joined(separator: " ")
            case .nestedSelections:
                "{" + String(repeating: " a { b { a { c } c } c }", count: size) + " }"
            case .operationsOfOneFragment:
                (0..<size).map { "query Q\($0) { ...F }" }.joined(separator: " ")
                    + " fragment F on Query { a { c } b { c } }"
            case .unusedChain: "{ c } " + Self.chain(size)
            case .inlineFragments: "{ f {" + String(repeating: " ... on I { g h { g } }", count: size) + " } }"
            }
        }

        /// Few enough links to be no circle's suspect.
        private static func chain(_ size: Int) -> String {
            (0..<size).map { number in
                // Every four hundredth begins a chain of its own, which the first spreads.
                let next = number + 1 < size && (number + 1) % 400 > 0 ? "...F\(number + 1)" : ""
                return "fragment F\(number) on Query { a { c } c \(next) }"
            }.joined(separator: " ")
        }
    }

    @Test("twice the document is at most a little more than twice the work", arguments: Hostile.allCases)
    func linear(hostile: Hostile) throws {
        let (small, large) = (try steps(hostile.document(1000)), try steps(hostile.document(2000)))
        #expect(small > 0)
        #expect(Double(large) < Double(small) * 2.3, "\(small) steps, then \(large)")
    }

    private func steps(_ text: String) throws -> Int {
        var limits = ValidationLimits.specification
        limits.maximumFields = 10_000_000
        return countStepsOfMerging(try parse(text, limits: .unlimited), against: schema, limits: limits)
    }

    @Test("fragments nobody uses, each spread twice by the next, are validated in no time")
    func unusedDoubling() throws {
        let text =
            "{ c } fragment F0 on Query { c } "
            + (1..<60).map { "fragment F\($0) on Query { __schema { ...F\($0 - 1) ...F\($0 - 1) } }" }.joined(
                separator: " "
            )
        #expect(!validate(try parse(text, limits: .unlimited), against: schema, limits: .specification).isEmpty)
    }

    @Test("a conflict in a fragment is found wherever the fragment stands")
    func conflicts() throws {
        let fragment = " fragment F on Query { x: c x: a { c } }"
        for text in ["{ ...F }", "{ c }", "{ a { ...F } }", "{ a { c } a { ...F } }"] {
            let errors = validate(try parse(text + fragment), against: schema)
            #expect(errors.contains { $0.message.hasPrefix("Fields \"x\" conflict") }, "\(text)")
        }
    }
}
