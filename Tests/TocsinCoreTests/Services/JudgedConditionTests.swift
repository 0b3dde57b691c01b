import Testing
import TocsinCore

@Suite("Conditions judged before their writes")
struct JudgedConditionTests {
    private static let model: ModelType = {
        let fields = ["body", "other"].map {
            ModelField(name: $0, typeName: "String", kind: .text, isRequired: false, storage: .extra($0))
        }
        return ModelType(
            name: "M",
            plural: "Ms",
            table: ModelTable(name: "records", discriminator: "M"),
            fields: fields,
            indexes: [],
            relations: [],
            rules: []
        )
    }()

    private static func record(_ body: String, other: String = "") -> Record {
        Record(model: model, values: [.text(body), .text(other)])
    }

    private static func judged(_ part: String, on body: String) -> JudgedCondition {
        var condition = JudgedCondition(.field(0, .contains(part)), maximumBytes: 1_000)
        condition.judge(record(body))
        return condition
    }

    @Test("the judgement stands while the fields compared are the same, whatever else has changed")
    func unchanged() {
        #expect(Self.judged("old", on: "an old body").refusal(of: Self.record("an old body", other: "new")) == nil)
        let stored = Self.record("a body", other: "new")
        #expect(Self.judged("old", on: "a body").refusal(of: stored) == .conditionFailed(stored))
    }

    @Test("a field that has changed meanwhile is searched again")
    func changed() {
        let stored = Self.record("a new body")
        #expect(Self.judged("old", on: "an old body").refusal(of: stored) == .conditionFailed(stored))
        #expect(Self.judged("new", on: "an old body").refusal(of: stored) == nil)
        // Another spelling of the same letter is another text.
        let spelled = Self.record("e\u{301}")
        #expect(Self.judged("\u{E9}", on: "\u{E9}").refusal(of: spelled) == .conditionFailed(spelled))
    }

    @Test("a search of more than the bound is refused with the limit, read before or not")
    func bound() {
        let body = String(repeating: "x", count: 501)
        let twice = Predicate.any([.field(0, .contains("a")), .field(0, .size(.equal(1)))])
        for isRead in [true, false] {
            var condition = JudgedCondition(twice, maximumBytes: 1_000)
            if isRead { condition.judge(Self.record(body)) }
            guard case .limit(let words)? = condition.refusal(of: Self.record(body)) else {
                Issue.record("It was not refused.")
                continue
            }
            #expect(words.contains("1002 bytes") && words.contains("at most 1000"))
            #expect(condition.refusal(of: Self.record("a")) == nil)
        }
    }
}
