import Foundation
import JSON
import Synchronization
import Testing
import TocsinClient

/// `TOCSIN_TEST_RELOADS=100` makes this the long form.
@Suite("Reloads under load", .timeLimit(.minutes(10)))
struct ReloadUnderLoadTests {
    private static let reloads = Int(ProcessInfo.processInfo.environment["TOCSIN_TEST_RELOADS"] ?? "") ?? 8

    @Test("no request fails, no socket ends and no descriptor is lost, however often files are good or broken")
    func load() async throws {
        let prepare = { (installation: Installation) in
            let site = ReloadSite(installation)
            for name in ["first", "second"] { try await site.makePair(name) }
            try site.use("first")
            try site.write()
            installation.options = ["--config", site.path("tocsin.toml")]
        }
        try await Installation.run(prepare: prepare) { installation in
            let site = ReloadSite(installation)
            let token = try await installation.addUser("ada")
            let load = try await Load(installation, token: token, authorities: site.path("authorities.pem"))
            try await load.untilBusy()
            let descriptors = try await load.quiet { try site.descriptors() }
            var slowest = Duration.zero
            for number in 1...Self.reloads {
                if number.isMultiple(of: 2) {
                    try site.spoil(number)
                    try await site.hangUp(until: ReloadSite.refused)
                } else {
                    site.shown = site.shown == "first" ? "second" : "first"
                    try site.use(site.shown)
                    try site.write(burst: 1_000_000 - number)
                    let begun = ContinuousClock.now
                    try await site.hangUp(until: ReloadSite.applied)
                    slowest = max(slowest, ContinuousClock.now - begun)
                }
                try await site.expectCertificate(site.shown)
            }
            print("\(Self.reloads) reloads, the slowest in \(slowest), \(load.published) messages")
            try await load.end()
            #expect(load.failures.isEmpty, "\(load.failures.prefix(3))")
            #expect(load.connectionsOfFollower == 1)
            try await eventually("the follower has everything") { load.followed == load.published }
            try await eventually("the descriptors are those of before") { try site.descriptors() <= descriptors }
            #expect(try await installation.stopServer() == 0)
        }
    }
}

/// Publishes over a kept connection and over new ones, and follows, until it is ended.
private final class Load: Sendable {
    private struct Seen {
        var published = 0
        var followed = 0
        var lives = 0
        var failures: [String] = []
        var isPaused = false
        var underWay = 0
    }

    private let seen = Mutex(Seen())
    private let tasks = Mutex<[Task<Void, Never>]>([])

    init(_ installation: Installation, token: String, authorities: String) async throws {
        let client = try Self.client(installation.address, token, authorities)
        let body = #"{"query":"mutation { createTopic(input: { name: \"alerts\" }) { id } }"}"#
        let made = try await installation.http("/graphql", token: token, ["--insecure", "--json", body])
        guard let topic = try made.json["data"]?["createTopic"]?["id"]?.stringValue else {
            throw HarnessFailure("No topic was made: \(made)")
        }
        follow(client, topic)
        try await eventually("the follower is live") { self.seen.withLock { $0.lives > 0 } }
        publish(topic) { client }
        let address = installation.address
        publish(topic) { try Self.client(address, token, authorities) }
    }

    private static func client(_ address: String, _ token: String, _ file: String) throws -> TocsinClient {
        var settings = ClientSettings()
        settings.certificateAuthorityFile = file
        settings.isPatientButQuick()
        return try TocsinClient(url: address, token: token, settings: settings)
    }

    var published: Int { seen.withLock { $0.published } }
    var followed: Int { seen.withLock { $0.followed } }
    var failures: [String] { seen.withLock { $0.failures } }
    /// How often the follower became live: once for each connection.
    var connectionsOfFollower: Int { seen.withLock { $0.lives } }

    func untilBusy() async throws {
        try await eventually("messages are published") { self.published >= 20 }
    }

    /// Looks while no request is under way.
    func quiet<Value>(_ look: () throws -> Value) async throws -> Value {
        seen.withLock { $0.isPaused = true }
        defer { seen.withLock { $0.isPaused = false } }
        try await eventually("nothing is under way") { self.seen.withLock { $0.underWay == 0 } }
        return try look()
    }

    /// Ends the publishers; the follower goes on.
    func end() async throws {
        let tasks = tasks.withLock { $0 }
        for task in tasks.dropFirst() { task.cancel() }
        for task in tasks.dropFirst() { await task.value }
    }

    private func follow(_ client: TocsinClient, _ topic: String) {
        let task = Task { [self] in
            let feed = client.follow(topic: .id(topic), after: nil) { change in
                if case .live = change { self.seen.withLock { $0.lives += 1 } }
            }
            do {
                for try await _ in feed { seen.withLock { $0.followed += 1 } }
            } catch {
                seen.withLock { $0.failures.append("the follower: \(error)") }
            }
        }
        tasks.withLock { $0.append(task) }
    }

    private func publish(_ topic: String, _ client: @escaping @Sendable () throws -> TocsinClient) {
        let task = Task { [self] in
            while !Task.isCancelled {
                guard begins() else {
                    await Task.yield()
                    continue
                }
                do {
                    _ = try await client().publish(topic: .id(topic), title: "hello")
                    seen.withLock { ($0.published, $0.underWay) = ($0.published + 1, $0.underWay - 1) }
                } catch {
                    seen.withLock { seen in
                        seen.underWay -= 1
                        // A publish that was cut by the end says nothing.
                        if !Task.isCancelled { seen.failures.append("a publisher: \(error)") }
                    }
                }
            }
        }
        tasks.withLock { $0.append(task) }
    }

    private func begins() -> Bool {
        seen.withLock { seen in
            if !seen.isPaused { seen.underWay += 1 }
            return !seen.isPaused
        }
    }
}
