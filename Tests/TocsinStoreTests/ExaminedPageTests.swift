import Testing
import TocsinCore
import TocsinStore

@Suite("Pages end where they have examined enough")
struct ExaminedPageTests {
    private let models = TestModels()

    /// Messages 1 to `count` of the topic `t1`, with so long bodies; every
    /// tenth has the title `hit`.
    private func messages(_ count: Int, bodyBytes: Int = 10) -> [Record] {
        (1...count).map { number in
            var message = models.message("m\(number)", topic: "t1", number: Int64(number))
            message["title"] = .text(number % 10 == 0 ? "hit" : "miss")
            message["body"] = .text(String(repeating: "b", count: bodyBytes))
            return message
        }
    }

    /// A page of the topic by number.
    private func query(
        _ filter: Predicate = .always,
        visible: Predicate = .always,
        after: [FieldValue]? = nil,
        limit: Int
    ) throws -> PageQuery {
        PageQuery(
            models.message,
            range: .field(try #require(models.message.position(of: "topicId")), .equal(.text("t1"))),
            visible: visible,
            filter: filter,
            order: [ModelQuery.Order(field: try #require(models.message.position(of: "number")))],
            after: after,
            limit: limit
        )
    }

    private func hits() throws -> Predicate {
        .field(try #require(models.message.position(of: "title")), .contains("hit"))
    }

    private func page(_ query: PageQuery, _ limits: ExaminationLimits, _ store: SQLStore) async throws -> RecordPage {
        try #require(try await store.read { reader throws(StoreError) in try reader.pages([query], limits) }.first)
    }

    @Test(
        "a search looks at so many rows a page, and pages that go on from each other's ends find all, once",
        arguments: TestDatabase.available,
        [7, 60, 128, 1000]
    )
    func rows(database: TestDatabase, examined: Int) async throws {
        try await database.withStore { store in
            try await store.insert(messages(400))
            var limits = ExaminationLimits()
            limits.rows = examined
            var (found, after, pages) = ([Int64](), [FieldValue]?.none, 0)
            repeat {
                let page = try await page(try query(try hits(), after: after, limit: 50), limits, store)
                found += page.records.compactMap { $0["number"].int }
                (after, pages) = (page.end, pages + 1)
            } while after != nil && pages < 1000
            #expect(found == (1...40).map { $0 * 10 })
            #expect(pages >= 400 / examined)
        }
    }

    @Test("a page of long texts ends before it holds more than it may", arguments: TestDatabase.available)
    func bytes(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.insert(messages(40, bodyBytes: 10_000))
            var limits = ExaminationLimits()
            limits.bytes = 100_000
            var (numbers, after, pages) = ([Int64](), [FieldValue]?.none, 0)
            repeat {
                let page = try await page(try query(after: after, limit: 1000), limits, store)
                #expect(page.records.count <= 11)
                numbers += page.records.compactMap { $0["number"].int }
                (after, pages) = (page.end, pages + 1)
            } while after != nil && pages < 100
            #expect(numbers == Array(1...40))
        }
    }

    @Test(
        "a page that is full says where the next begins, and the last one that there is none",
        arguments: TestDatabase.available
    )
    func ends(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.insert(messages(30))
            let first = try await page(try query(limit: 20), ExaminationLimits(), store)
            #expect(first.end == [.int(20)])
            let last = try await page(try query(after: first.end, limit: 10), ExaminationLimits(), store)
            #expect(last.records.count == 10)
            #expect(last.end == nil)
        }
    }

    @Test("somebody else's topic is answered as none, however many messages it has", arguments: TestDatabase.available)
    func foreign(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.insert(messages(300))
            var limits = ExaminationLimits()
            limits.rows = 100
            let owner = try #require(models.message.position(of: "owner"))
            let visible = Predicate.field(owner, .isOneOf([.text("u::bob"), .text("u"), .text("bob")]))
            let page = try await page(try query(visible: visible, limit: 20), limits, store)
            #expect(page.records.isEmpty)
            #expect(page.end == nil)
        }
    }

    @Test("pages that hold too much together are refused", arguments: TestDatabase.available)
    func together(database: TestDatabase) async throws {
        try await database.withStore { store in
            try await store.insert(messages(40, bodyBytes: 10_000))
            var limits = ExaminationLimits()
            limits.totalBytes = 500_000
            let (query, bounded) = (try query(limit: 30), limits)
            await #expect(throws: StoreError.tooLarge(bytes: 500_000)) {
                try await store.read { reader throws(StoreError) in
                    try reader.pages([query, query, query], bounded).count
                }
            }
        }
    }
}
