import Testing
import TocsinCore

/// What holds of comparisons whatever they compare; `PredicateTests` has what single ones mean.
@Suite("Laws of comparisons")
struct ComparisonLawTests {
    private static let numbers: [FieldValue] = [
        .double(-1e300), .int(.min), .double(-0x1p63), .int(-1), .double(-0.5), .int(0), .double(0.5), .int(1),
        .int(9_007_199_254_740_992), .int(9_007_199_254_740_993), .int(.max), .double(0x1p63), .double(1e300),
    ]
    private static let texts: [FieldValue] = ["", "A", "Z", "a", "ab", "b", "e\u{301}", "é", "\u{FFFF}", "\u{10000}"]
        .map(FieldValue.text)
    private static let others: [FieldValue] = [.null, .bool(true), .bool(false), .json("[]"), .json(#"["a"]"#)]
    private static let all = numbers + texts + others

    private static let field = ModelField.declared("x")

    private func holds(_ comparison: Comparison, _ value: FieldValue) -> Bool {
        comparison.holds(for: value, of: Self.field)
    }

    @Test("each comparison and its opposite are never true together, and never both false", arguments: all)
    func opposites(value: FieldValue) {
        for other in Self.all {
            #expect(holds(.equal(other), value) != holds(.notEqual(other), value), "\(value) \(other)")
            #expect(holds(.isOneOf([other]), value) != holds(.isNoneOf([other]), value), "\(value) \(other)")
        }
        for part in ["", "a", "\u{301}"] {
            #expect(holds(.contains(part), value) != holds(.notContains(part), value), "\(value) \(part)")
        }
        #expect(holds(.exists(true), value) != holds(.exists(false), value))
    }

    @Test("numbers and texts are in one order each, the same from both sides", arguments: [numbers, texts])
    func order(ascending: [FieldValue]) {
        for (index, value) in ascending.enumerated() {
            for (otherIndex, other) in ascending.enumerated() {
                let isSame = index == otherIndex || areOneNumber(value, other)
                let isLess = index < otherIndex && !isSame
                #expect(holds(.less(other), value) == isLess, "\(value) < \(other)")
                #expect(holds(.greater(value), other) == isLess, "\(other) > \(value)")
                #expect(holds(.lessOrEqual(other), value) == (isLess || isSame), "\(value) <= \(other)")
                #expect(holds(.greaterOrEqual(value), other) == (isLess || isSame), "\(other) >= \(value)")
                #expect(holds(.equal(other), value) == isSame, "\(value) = \(other)")
            }
        }
    }

    /// Whether these are the least integer and the double beside it in the table.
    private func areOneNumber(_ left: FieldValue, _ right: FieldValue) -> Bool {
        left.int == .min && right == .double(-0x1p63) || right.int == .min && left == .double(-0x1p63)
    }

    @Test("values of two kinds have no order and are never equal", arguments: numbers + others)
    func kinds(value: FieldValue) {
        for other in Self.texts {
            for comparison in [
                Comparison.less(other), .lessOrEqual(other), .greater(other), .greaterOrEqual(other), .equal(other),
                .between(other, other), .isOneOf([other]),
            ] {
                #expect(!holds(comparison, value), "\(value) \(comparison)")
            }
        }
    }

    @Test("a value is between two when it is neither below the one nor above the other", arguments: numbers + texts)
    func between(value: FieldValue) {
        for low in Self.all {
            for high in Self.all {
                let isBetween = holds(.greaterOrEqual(low), value) && holds(.lessOrEqual(high), value)
                #expect(holds(.between(low, high), value) == isBetween)
            }
        }
    }

    @Test(
        "lengths compare as numbers do",
        arguments: [
            (.equal(3), [3]), (.notEqual(3), [2, 4]), (.less(3), [2]), (.lessOrEqual(3), [2, 3]), (.greater(3), [4]),
            (.greaterOrEqual(3), [3, 4]), (.between(3, 4), [3, 4]), (.between(4, 3), []),
        ] as [(SizeComparison, [Int64])]
    )
    func sizes(comparison: SizeComparison, lengths: [Int64]) {
        #expect([2, 3, 4].filter(comparison.holds) == lengths)
    }

    @Test(
        "a field's type has the name that AppSync gives it",
        arguments: [
            (.declared("x"), "string"), (.declared("x", .int), "number"), (.declared("x", .double), "number"),
            (.declared("x", .bool), "bool"), (.declared("x", .json), "map"), (.declared("x", isList: true), "list"),
        ] as [(ModelField, String)]
    )
    func types(field: ModelField, name: String) {
        #expect(field.attributeType == name)
        #expect(Comparison.hasType(name).holds(for: .text("any"), of: field))
        #expect(!Comparison.hasType(name).holds(for: .null, of: field))
    }
}

@Suite("Predicates joined and taken apart")
struct PredicateShapeTests {
    private static let first = Predicate.field(0, .exists(true))
    private static let second = Predicate.field(1, .exists(true))

    @Test("to join with what always or never holds leaves nothing to compare")
    func joining() {
        #expect(Self.first.and(.always) == Self.first)
        #expect(Predicate.always.and(Self.first) == Self.first)
        #expect(Self.first.and(.never) == .never)
        #expect(Predicate.never.and(Self.first) == .never)
        #expect(Predicate.always.and(.never) == .never)
        #expect(Self.first.and(Self.second) == .all([Self.first, Self.second]))
    }

    @Test("the parts that must all hold are found through groups, and not through alternatives")
    func conjuncts() {
        let either = Predicate.any([Self.first, Self.second])
        #expect(
            Predicate.all([Self.first, .all([Self.second, either])]).conjuncts == [Self.first, Self.second, either]
        )
        #expect(Self.first.conjuncts == [Self.first])
        #expect(Predicate.all([]).conjuncts.isEmpty)
    }

    @Test("the fields that a predicate looks at are all of them, negated and grouped ones too")
    func positions() {
        let predicate = Predicate.all([.any([Self.first, .not(.field(5, .exists(true)))]), .not(Self.second), .always])
        #expect(predicate.positions == [0, 1, 5])
        #expect(Predicate.never.positions.isEmpty)
    }
}

@Suite("How a page is asked for")
struct PageQueryTests {
    private static let messages = ModelType.sample(
        [.declared("id"), .declared("topicId"), .generated("owner"), .declared("title")],
        named: "Message",
        indexes: [ModelIndex(name: "byTopic", partitionField: "topicId", sortFields: [], queryField: nil)]
    )
    private static let topic = Predicate.field(1, .equal(.text("t")))
    private static let own = Predicate.field(2, .isOneOf([.text("ann")]))
    private static let titled = Predicate.field(3, .exists(true))

    private static func query(range: Predicate, visible: Predicate, filter: Predicate = .always) -> PageQuery {
        PageQuery(messages, range: range, visible: visible, filter: filter, order: [], after: nil, limit: 10)
    }

    @Test("without a range that names a partition, the caller's own rows are the range")
    func owned() {
        let query = Self.query(range: .always, visible: Self.own)
        #expect(query.rows.predicate == Self.own)
        #expect(query.visible == .always)
        #expect(!query.isOfOneOwner)
    }

    @Test(
        "within a partition all rows are looked at, and whose they are is asked of each",
        arguments: [topic, .field(0, .equal(.text("m")))]
    )
    func partition(range: Predicate) {
        let query = Self.query(range: range, visible: Self.own)
        #expect(query.rows.predicate == range)
        #expect(query.visible == Self.own)
    }

    @Test("what is asked beside the owner stays beside the range")
    func rest() {
        let query = Self.query(range: .always, visible: Self.own.and(Self.titled))
        #expect(query.rows.predicate == Self.own)
        #expect(query.visible == .all([Self.titled]))
    }

    @Test("a rule that also lets others read is no range, for it would hide their rows")
    func others() {
        let either = Predicate.any([Self.own, Self.titled])
        let query = Self.query(range: .always, visible: either)
        #expect(query.rows.predicate == .always)
        #expect(query.visible == either)
    }

    @Test(
        "a page of a topic is of one owner when nothing but whose a message is decides who sees it",
        arguments: [
            (topic, own, true), (topic, .always, false), (topic, own.and(titled), false), (.always, own, false),
            (topic.and(titled), own, true), (.field(1, .beginsWith("t")), own, false),
        ] as [(Predicate, Predicate, Bool)]
    )
    func ofOneOwner(range: Predicate, visible: Predicate, isOfOne: Bool) {
        #expect(Self.query(range: range, visible: visible).isOfOneOwner == isOfOne)
    }

    @Test("a filter never narrows the range: what it leaves out is looked at and counted")
    func filter() {
        let query = Self.query(range: Self.topic, visible: .always, filter: Self.own)
        #expect(query.rows.predicate == Self.topic)
        #expect(query.filter == Self.own)
    }
}
