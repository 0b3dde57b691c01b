import GraphQLTransport
import Logging
import Synchronization
import TocsinClient
import TocsinHTTP

/// The product's own front on a free port, serving a fake topic; it can be stopped and
/// started again where it was.
final class FakeServer: Sendable {
    /// What the server's clock shows, in seconds since 1970.
    static let now: Int64 = 1_800_000_000
    let topic: FakeTopic
    private let server: Mutex<HTTPServer<FakeTopic>?> = Mutex(nil)
    private let port = Mutex(0)

    init(_ topic: FakeTopic) { self.topic = topic }

    /// Runs the body with a server that is stopped at the end.
    static func run(_ topic: FakeTopic = FakeTopic(), _ body: (FakeServer) async throws -> Void) async throws {
        let server = FakeServer(topic)
        try await server.start()
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    func start() async throws {
        var settings = HTTPServerSettings()
        settings.port = port.withLock { $0 }
        let server = HTTPServer(
            .init(service: topic, health: Healthy()),
            settings: settings,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { Self.now * 1000 }
        )
        let address = try await server.start()
        port.withLock { $0 = address.port }
        self.server.withLock { $0 = server }
    }

    func stop() async {
        let server = self.server.withLock { server in
            defer { server = nil }
            return server
        }
        await server?.shutdown(graceSeconds: 1)
    }

    /// A client that tries again without long pauses.
    func makeClient(token: String = FakeTopic.goodToken, path: String = "") throws -> TocsinClient {
        try TocsinClient(url: address + path, token: token, settings: Self.settings())
    }

    /// A client of a provider, by a test's clock where it has one.
    func makeClient(_ provider: FakeProvider, _ time: ManualTime? = nil) throws -> TocsinClient {
        try TocsinClient(address, credentials: provider.credentials, settings: Self.settings(time))
    }

    var address: String { "http://127.0.0.1:\(port.withLock { $0 })" }

    static func settings(_ time: ManualTime? = nil) -> ClientSettings {
        var settings = ClientSettings()
        settings.requestPauses = Backoff(first: .milliseconds(1), longest: .milliseconds(20))
        settings.feedPauses = Backoff(first: .milliseconds(1), longest: .milliseconds(50))
        settings.stopSpread = .milliseconds(50)
        settings.overloadSpread = .milliseconds(50)
        if let time { settings.environment = time.environment }
        return settings
    }

    private struct Healthy: HealthReporting {
        func live() -> HealthReport { HealthReport(status: .ok, body: Array("{}".utf8)) }
        func ready() async -> HealthReport { live() }
    }
}

/// A feed that is read in a task of its own, and what happened to it.
struct RunningFeed {
    let messages: Task<[FeedMessage], any Error>
    private let changes: AsyncStream<MessageFeed.Change>

    /// Reads so many messages of the topic.
    init(_ client: TocsinClient, after cursor: String? = nil, count: Int) {
        self.init(count: count) { client.follow(topic: "alerts", after: cursor, onChange: $0) }
    }

    /// Reads so many messages of all topics.
    init(_ client: TocsinClient, allAfter place: FeedPlace?, count: Int) {
        self.init(count: count) { client.followAll(after: place, onChange: $0) }
    }

    /// Goes on behind a resume point.
    init(_ client: TocsinClient, from point: ResumePoint, count: Int) {
        self.init(count: count) { client.follow(from: point, onChange: $0) }
    }

    private init(
        count: Int,
        _ follow: @escaping @Sendable (@escaping @Sendable (MessageFeed.Change) -> Void) -> MessageFeed
    ) {
        let (changes, change) = AsyncStream.makeStream(of: MessageFeed.Change.self)
        self.changes = changes
        messages = Task {
            defer { change.finish() }
            var messages: [FeedMessage] = []
            for try await message in follow({ change.yield($0) }) {
                messages.append(message)
                if messages.count == count { break }
            }
            return messages
        }
    }

    /// Waits until the subscription is live (again).
    func untilLive() async {
        for await change in changes { if case .live = change { return } }
    }

    /// Waits until what was stored before has come, and says where that ends.
    func untilCaughtUp() async -> FeedPlace? {
        for await change in changes { if case .caughtUp(let place) = change { return place } }
        return nil
    }

    /// Waits until it is known where the feed begins.
    func untilBegun() async -> ResumePoint? {
        for await change in changes { if case .begun(let point) = change { return point } }
        return nil
    }

    /// Waits until the connection is lost, and says why.
    func untilInterrupted() async -> ClientError? {
        for await change in changes { if case .interrupted(let error, _) = change { return error } }
        return nil
    }

    /// The titles of all messages, when all have come.
    var titles: [String] {
        get async throws { try await messages.value.map(\.title) }
    }
}
