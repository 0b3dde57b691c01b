import Testing
import TocsinCore

@Suite("What is kept in mind of grants")
struct GrantBookTests {
    private static let topic = TopicID("t")
    private static let bob = GrantSubject.user(UserID("bob"))
    private static let now = Timestamp(milliseconds: 1_000_000)

    private static func grant(_ subject: GrantSubject = bob, _ topic: TopicID = topic, until end: Timestamp? = nil)
        -> GrantChange
    {
        GrantChange(subject, topic, "alice", .reader, end)
    }

    private func reads(_ book: GrantBook, _ topic: TopicID = topic, at now: Timestamp = now) -> Bool {
        book.grants(on: topic)?.give(.reading, to: [Self.bob], at: now) ?? false
    }

    private func hold(_ book: GrantBook, after commit: Int = 0, _ found: [GrantChange] = []) async -> GrantHold? {
        await book.hold([Self.bob], after: commit) { _ in found }
    }

    @Test("changes that were committed before the subject was read are passed over, later ones are taken")
    func order() async throws {
        let book = GrantBook()
        let hold = try #require(await hold(book, after: 5, [Self.grant()]))
        #expect(!book.note(GrantChange(ending: Self.bob, in: Self.topic), ofCommit: 5))
        #expect(reads(book))
        #expect(book.note(GrantChange(ending: Self.bob, in: Self.topic), ofCommit: 6))
        #expect(!reads(book))
        hold.release()
    }

    @Test("what is told while a subject is read counts behind what was read")
    func meanwhile() async throws {
        let book = GrantBook()
        let hold = await book.hold([Self.bob], after: 5) { _ in
            #expect(book.note(GrantChange(ending: Self.bob, in: Self.topic), ofCommit: 6))
            return [Self.grant()]
        }
        #expect(hold != nil && !reads(book))
    }

    @Test("a subject is forgotten when nobody here goes by it any more")
    func release() async throws {
        let book = GrantBook()
        let first = try #require(await hold(book, [Self.grant()]))
        let second = try #require(await hold(book))
        #expect(book.hasTopics(of: "alice") && !book.hasTopics(of: "eve"))
        first.release()
        first.release()
        #expect(reads(book))
        second.release()
        #expect(!reads(book) && !book.isInUse && !book.hasTopics(of: "alice"))
        #expect(!book.note(Self.grant(), ofCommit: 9), "nobody is concerned")
    }

    @Test("a grant ends at its moment and is told of once")
    func ends() async throws {
        let book = GrantBook()
        let later = Self.now.adding(seconds: 10)
        let hold = try #require(
            await hold(book, [Self.grant(until: Self.now), Self.grant(Self.bob, TopicID("u"), until: later)])
        )
        #expect(!reads(book), "it ends at its moment, not after it")
        #expect(reads(book, at: Timestamp(milliseconds: Self.now.milliseconds - 1)))
        #expect(book.takeEnded(by: Self.now).map(\.topic) == [Self.topic])
        #expect(book.takeEnded(by: Self.now).isEmpty)
        #expect(book.takeEnded(by: later).map(\.topic) == [TopicID("u")])
        hold.release()
    }

    @Test("when changes were missed all is read anew, and holds from before are told to begin again")
    func losses() async throws {
        let book = GrantBook()
        let old = try #require(await hold(book, [Self.grant()]))
        book.loseTrack()
        #expect(!old.isGood && !reads(book))
        let new = try #require(await hold(book, after: 9, [Self.grant()]))
        #expect(new.isGood && reads(book))
        let overtaken = await book.hold([.signedIn], after: 9) { _ in
            book.loseTrack()
            return [Self.grant(.signedIn)]
        }
        #expect(overtaken == nil)
        old.release()
        new.release()
        #expect(!book.isInUse)
    }

    @Test("topics of one owner have a share of the book, and leave the rest to others")
    func shares() async throws {
        let book = GrantBook(maximumCount: 10, ownersShare: 4)
        let many = (0..<100).map { GrantChange(Self.bob, TopicID("m\($0)"), "mallory", .reader, nil) }
        let bob = try #require(await hold(book, many))
        #expect(many.filter { reads(book, $0.topic) }.count == 4)
        let carol = GrantSubject.user(UserID("carol"))
        let hold = await book.hold([carol], after: 0) { _ in (0..<4).map { Self.grant(carol, TopicID("a\($0)")) } }
        #expect(hold != nil && book.hasTopics(of: "alice"))
        #expect(book.hasLeftOut(of: [Self.bob]) && !book.hasLeftOut(of: [carol]))
        bob.release()
    }

    @Test("what a grant loses counts in a full book, too")
    func fullBook() async throws {
        let book = GrantBook(maximumCount: 1)
        let hold = try #require(await hold(book, [Self.grant()]))
        #expect(book.note(GrantChange(Self.bob, Self.topic, "alice", .publisher, nil), ofCommit: 1))
        #expect(!reads(book))
        hold.release()
    }
}
