import Testing
import TocsinCore

/// What comparisons mean in memory; `PredicateMeaningTests` of TocsinStore compares this
/// with SQL on generated rows.
@Suite("Predicate")
struct PredicateTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var kind: ModelField.Kind
        var value: FieldValue
        var comparison: Comparison
        var holds: Bool
        var isList = false

        init(
            _ kind: ModelField.Kind,
            _ value: FieldValue,
            _ comparison: Comparison,
            _ holds: Bool,
            isList: Bool = false
        ) {
            self.kind = kind
            self.value = value
            self.comparison = comparison
            self.holds = holds
            self.isList = isList
        }

        var testDescription: String { "\(value) \(comparison) \(holds)" }
    }

    private static let missing: [Case] = [
        Case(.text, .null, .equal(.text("a")), false),
        Case(.text, .null, .notEqual(.text("a")), true),
        Case(.text, .null, .equal(.null), true),
        Case(.text, .null, .notEqual(.null), false),
        Case(.text, .null, .less(.text("a")), false),
        Case(.text, .null, .between(.null, .null), false),
        Case(.text, .null, .contains("a"), false),
        Case(.text, .null, .notContains("a"), true),
        Case(.text, .null, .beginsWith(""), false),
        Case(.text, .null, .exists(false), true),
        Case(.text, .null, .exists(true), false),
        Case(.text, .null, .isOneOf([.null, .text("a")]), false),
        Case(.text, .null, .isNoneOf([.null]), true),
        Case(.text, .null, .size(.equal(0)), false),
        Case(.text, .null, .hasType("_null"), false),
        Case(.bool, .null, .notEqual(.bool(true)), true),
        Case(.bool, .null, .equal(.bool(false)), false),
    ]

    private static let texts: [Case] = [
        Case(.text, .text("é"), .equal(.text("e\u{301}")), false),
        Case(.text, .text("Z"), .less(.text("a")), true),
        Case(.text, .text("\u{FFFF}"), .less(.text("\u{10000}")), true),
        Case(.text, .text("ab"), .greater(.text("a")), true),
        Case(.text, .text("b"), .between(.text("a"), .text("b")), true),
        Case(.text, .text("Hello"), .contains("ell"), true),
        Case(.text, .text("Hello"), .contains("ELL"), false),
        Case(.text, .text("Hello"), .contains(""), true),
        Case(.text, .text("50%"), .contains("%"), true),
        Case(.text, .text("Hello"), .beginsWith("He"), true),
        Case(.text, .text("Hello"), .beginsWith("he"), false),
        Case(.text, .text("5"), .equal(.int(5)), false),
        Case(.text, .text("a\u{1F514}"), .size(.equal(2)), true),
        Case(.text, .text("abc"), .size(.between(3, 4)), true),
        Case(.text, .text("abc"), .hasType("string"), true),
        Case(.text, .text("abc"), .isOneOf([.text("x"), .text("abc")]), true),
        Case(.text, .text("abc"), .isOneOf([]), false),
        Case(.text, .text("abc"), .isNoneOf([]), true),
    ]

    private static let numbers: [Case] = [
        Case(.int, .int(9_007_199_254_740_993), .equal(.double(9_007_199_254_740_992)), false),
        Case(.int, .int(9_007_199_254_740_993), .greater(.double(9_007_199_254_740_992)), true),
        Case(.int, .int(1), .equal(.double(1)), true),
        Case(.int, .int(-1), .less(.double(-0.5)), true),
        Case(.double, .double(1.5), .greater(.int(1)), true),
        Case(.double, .double(1e300), .greater(.int(.max)), true),
        Case(.double, .double(-1e300), .less(.int(.min)), true),
        Case(.int, .int(5), .equal(.text("5")), false),
        Case(.int, .int(5), .notEqual(.text("5")), true),
        Case(.int, .int(5), .contains("5"), false),
        Case(.int, .int(5), .size(.equal(1)), false),
        Case(.int, .int(5), .hasType("number"), true),
        Case(.bool, .bool(true), .equal(.bool(true)), true),
        Case(.bool, .bool(true), .equal(.int(1)), false),
        Case(.bool, .bool(true), .less(.bool(false)), false),
    ]

    private static let lists: [Case] = [
        Case(.json, .json(#"["a","b"]"#), .contains("b"), true, isList: true),
        Case(.json, .json(#"["ab"]"#), .contains("a"), false, isList: true),
        Case(.json, .json(#"[["a"],{"a":"a"},1,null]"#), .contains("a"), false, isList: true),
        Case(
            .json,
            .json(#"["\u00e9 \"q\" \\ \ud83d\udd14\n"]"#),
            .contains("é \"q\" \\ \u{1F514}\n"),
            true,
            isList: true
        ),
        Case(.json, .json(#"["1"]"#), .notContains("2"), true, isList: true),
        Case(.json, .json(#"["a","",1]"#), .contains(""), true, isList: true),
        Case(.json, .json(#"["a",["" ],{"":""}]"#), .contains(""), false, isList: true),
        Case(.json, .json(#"["abc","ab","a\\","a\"b"]"#), .contains("a\\"), true, isList: true),
        Case(.json, .json(#"["abc","ab","a\\","a\"b"]"#), .contains("a\"b"), true, isList: true),
        Case(.json, .json(#"["abc","ab","a\\","a\"b"]"#), .contains("a"), false, isList: true),
        Case(.json, .json(#"["\u0000\u20aC"]"#), .contains("\u{0}\u{20AC}"), true, isList: true),
        Case(.json, .json(#"["\u0000\u20ac"]"#), .contains("\u{0}"), false, isList: true),
        Case(.json, .json(#"["[","]","a"]"#), .contains("a"), true, isList: true),
        Case(.json, .json(#"{"a":"b"}"#), .contains("b"), false),
        Case(.json, .json("[]"), .hasType("list"), true, isList: true),
        Case(.json, .json("{}"), .hasType("map"), true),
        Case(.json, .json("[1]"), .equal(.json("[1]")), true, isList: true),
        Case(.json, .json("[1]"), .equal(.text("[1]")), false, isList: true),
    ]

    @Test("a comparison holds exactly when AppSync's does", arguments: missing + texts + numbers + lists)
    private func comparison(_ example: Case) {
        let field = ModelField(
            name: "x",
            typeName: "String",
            kind: example.kind,
            isList: example.isList,
            isRequired: false,
            storage: .extra("x")
        )
        #expect(example.comparison.holds(for: example.value, of: field) == example.holds)
    }

    @Test("groups and negation combine; empty groups are neutral")
    func groups() {
        let field = ModelField(name: "x", typeName: "Int", kind: .int, isRequired: false, storage: .extra("x"))
        let model = ModelType(
            name: "M",
            plural: "Ms",
            table: ModelTable(name: "records", discriminator: "M"),
            fields: [field],
            indexes: [],
            relations: [],
            rules: []
        )
        let record = Record(model: model, values: [.int(3)])
        let (yes, no) = (Predicate.field(0, .equal(.int(3))), Predicate.field(0, .equal(.int(4))))
        #expect(Predicate.all([yes, .not(no)]).matches(record))
        #expect(!Predicate.all([yes, no]).matches(record))
        #expect(Predicate.any([no, yes]).matches(record))
        #expect(Predicate.all([]).matches(record))
        #expect(!Predicate.any([]).matches(record))
        #expect(!Predicate.not(.always).matches(record))
        #expect(!Predicate.never.matches(record))
    }
}
