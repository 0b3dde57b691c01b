import Testing
import TocsinCore
import TocsinStore

/// The two meanings of `Predicate`, in memory and in SQL, compared on
/// generated rows and conditions.
@Suite("Predicates in SQL")
struct PredicateMeaningTests {
    private let models = TestModels()

    @Test(
        "SQL finds exactly the records that match in memory",
        arguments: TestDatabase.available,
        [UInt64.random(in: 0...UInt64.max), 1, 2, 3]
    )
    func sameMeaning(database: TestDatabase, seed: UInt64) async throws {
        var generator = PredicateGenerator(seed: seed)
        try await database.withStore { store in
            for model in [models.note, models.message] {
                let records = (0..<120).map { generator.record(model, index: $0) }
                try await store.insert(records)
                for _ in 0..<150 {
                    let predicate = generator.predicate(model, depth: 3)
                    let query = ModelQuery(
                        model: model,
                        predicate: predicate,
                        order: [ModelQuery.Order(field: 0)],
                        limit: 1000
                    )
                    let expected = records.filter { predicate.matches($0) }.map(\.id).sorted()
                    #expect(try await store.page(query).map(\.id) == expected, "seed \(seed): \(predicate)")
                    let byID = try await store.read { reader throws(StoreError) in
                        try reader.records(model, ids: records.map(\.id), where: predicate)
                    }
                    #expect(byID.map(\.id).sorted() == expected, "seed \(seed), by id: \(predicate)")
                }
            }
        }
    }
}

/// Makes records and conditions from small sets of awkward values, so that they meet often.
private struct PredicateGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    private static let texts = [
        "", "a", "A", "ab", "b", "é", "e\u{301}", "%", "_", "50%", "\\", "'", "\"", "5", "true", "\u{FFFF}",
        "\u{10000}",
        "\u{10FFFF}", "\u{D7FF}", "a\u{10FFFF}b", "\u{1F514}x", "line\nbreak",
    ]
    private static let integers: [Int64] = [0, 1, -1, 5, 9_007_199_254_740_993, .max, .min]
    private static let doubles = [0.0, 1, -1.5, 5, 0.1 + 0.2, 9_007_199_254_740_992, 1e300, -1e300, 0x1p63]
    private static let lists = ["[]", #"["a"]"#, #"["ab","é"]"#, #"[["a"],5,null,true]"#, #"["\"","\\","\n"]"#]
    private static let objects = ["{}", #"{"a":"b"}"#, #"{"a":[1]}"#]

    mutating func record(_ model: ModelType, index: Int) -> Record {
        var record = Record(model: model)
        for (position, field) in model.fields.enumerated() { record.values[position] = value(of: field) }
        record["id"] = .text(model.name + String(1000 + index))
        record["_deleted"] = pick([.null, .bool(true)])
        if model.name == "Message" {
            record["topicId"] = .text(pick(["t1", "t2"]))
            record["number"] = .int(Int64(index))
            record["key"] = .null
        }
        return record
    }

    mutating func predicate(_ model: ModelType, depth: Int) -> Predicate {
        switch Int.random(in: 0..<(depth == 0 ? 4 : 10), using: &generator) {
        case 0 where depth > 0: return pick([.always, .never, .all([]), .any([])])
        case 4, 5: return .all((0..<3).map { _ in predicate(model, depth: depth - 1) })
        case 6, 7: return .any((0..<3).map { _ in predicate(model, depth: depth - 1) })
        case 8, 9: return .not(predicate(model, depth: depth - 1))
        default:
            let position = Int.random(in: 0..<model.fields.count, using: &generator)
            return .field(position, comparison(of: model.fields[position]))
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }

    private mutating func value(of field: ModelField) -> FieldValue {
        if Int.random(in: 0..<5, using: &generator) == 0 { return .null }
        switch field.kind {
        case .text: return .text(pick(Self.texts))
        case .int: return .int(pick(Self.integers))
        case .double: return .double(pick(Self.doubles))
        case .bool: return .bool(pick([true, false]))
        case .json: return .json(pick(field.isList ? Self.lists : Self.objects))
        }
    }

    /// Mostly of the field's kind, sometimes of any.
    private mutating func operand(of field: ModelField) -> FieldValue {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return .int(pick(Self.integers))
        case 1: return .double(pick(Self.doubles))
        case 2: return .text(pick(Self.texts))
        case 3: return .bool(pick([true, false]))
        default: return value(of: field)
        }
    }

    private mutating func comparison(of field: ModelField) -> Comparison {
        let (one, two) = (operand(of: field), operand(of: field))
        let (text, length) = (pick(Self.texts), Int64.random(in: 0...3, using: &generator))
        let sizes: [SizeComparison] = [
            .equal(length), .notEqual(length), .less(length), .lessOrEqual(length), .greater(length),
            .greaterOrEqual(length), .between(length, length + 1),
        ]
        let types = ["string", "number", "bool", "list", "map", "_null", "binary"]
        return pick([
            .equal(one), .notEqual(one), .less(one), .lessOrEqual(one), .greater(one), .greaterOrEqual(one),
            .between(one, two), .contains(text), .notContains(text), .beginsWith(text), .exists(true), .exists(false),
            .isOneOf([one, two]), .isNoneOf([one, two]), .isOneOf([]), .size(pick(sizes)), .hasType(pick(types)),
        ])
    }
}
