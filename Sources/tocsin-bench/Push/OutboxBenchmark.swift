import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TocsinAuth
import TocsinCore
import TocsinHTTP2
import TocsinPush
import TocsinSQLite
import TocsinServer
import TocsinStore

/// The whole way of a push, from a committed message's fan-out to its outcomes.
///
/// Pages of devices are read, payloads built and signed for. HTTP/2 goes to a sink that reads each
/// request to its end. Every outcome is durable in the ledger (SQLite, `synchronous=FULL`).
struct OutboxBenchmark {
    let options: BenchOptions
    let sink: SinkProcess
    private static let step = 100_000
    /// Without any progress for so long the run is given up.
    private static let patienceSeconds = 30.0

    /// Prints memory and the threads' shares on the way, and answers the whole.
    func run() async throws -> Figures {
        let folder = try URL.makeTemporaryFolder("outbox")
        defer { try? FileManager.default.removeItem(at: folder) }
        let time = SystemTime()
        let store = try await SQLStore.open(
            SQLiteDatabase(path: folder.appending(path: "tocsin.sqlite").path()),
            at: time.now()
        )
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let outcome: Result<Figures, any Error>
        do {
            outcome = .success(try await measure(store, group, time))
        } catch {
            outcome = .failure(error)
        }
        await store.close()
        try await group.shutdownGracefully()
        return try outcome.get()
    }

    private func measure(
        _ store: SQLStore,
        _ group: MultiThreadedEventLoopGroup,
        _ time: SystemTime
    ) async throws -> Figures {
        let seed = try OutboxSeed()
        let transport = try HTTP2Transport(group: group, settings: HTTP2Settings(authorityPath: sink.authorityPath))
        let provider = try provider(transport, time)
        try await seed.write(devices: options.devices, to: store, at: time.now())
        let counts = OutcomeCounts()
        let worker = OutboxWorker(
            environment: ServiceEnvironment(store: store, time: time, identifiers: SystemIdentifiers(time: time)),
            providers: [provider],
            messages: seed.messages,
            topics: seed.topics,
            report: { counts.take($0) }
        )
        let running = Task { await worker.run() }
        let figures = try await fanOut(seed, store, worker, counts, time)
        tell("  CPU of one by threads: " + figures.split)
        worker.stop()
        await running.value
        await transport.shutdown()
        try await check(store, seed)
        return figures.total
    }

    /// Publishes until the pushes are done, one message after the other, and
    /// prints the memory on the way.
    private func fanOut(
        _ seed: OutboxSeed,
        _ store: SQLStore,
        _ worker: OutboxWorker,
        _ counts: OutcomeCounts,
        _ time: SystemTime
    ) async throws -> (total: Figures, split: String) {
        ProcessUsage.resetOwnPeakMemory()
        var memory: [String] = []
        let (start, cpu, threads) = (Date(), ProcessUsage.ownCPU(), ThreadUsage.now())
        var published = 0
        var printed = 0
        while published < options.pushes {
            published += options.devices
            try await seed.publish(published / options.devices, to: store, at: time.now())
            worker.wake()
            try await counts.wait(for: published, seconds: Self.patienceSeconds) { recorded in
                guard recorded >= printed + Self.step else { return }
                printed = recorded / Self.step * Self.step
                let now = (try? ProcessUsage.memory(of: getpid())) ?? 0
                memory.append(String(format: "%.0f", Double(now) / 1_048_576))
            }
        }
        let total = Figures(
            name: "recorded pushes, whole way, \(options.devices) devices",
            operations: published,
            seconds: Date().timeIntervalSince(start),
            cpuSeconds: ProcessUsage.ownCPU() - cpu,
            memoryBytes: try ProcessUsage.peakMemory(of: getpid())
        )
        let split = ThreadUsage.now().split(since: threads, operations: published)
        tell("  memory at each \(Self.step) pushes, MB: " + memory.joined(separator: " "))
        return (total, split)
    }

    /// Nobody is forgotten and nobody has two rows: the ledger counts each device once a message.
    private func check(_ store: SQLStore, _ seed: OutboxSeed) async throws {
        let messages = (1...max(1, (options.pushes + options.devices - 1) / options.devices)).map {
            MessageID(OutboxSeed.messageID($0))
        }
        let summaries = try await store.read { reader throws(StoreError) in
            try reader.deliverySummaries(of: messages)
        }
        for message in messages where summaries[message]?.counts != [.accepted: options.devices] {
            throw BenchFailure("the ledger of \(message) says \(summaries[message]?.counts ?? [:])")
        }
    }

    private func provider(_ transport: HTTP2Transport, _ time: SystemTime) throws -> APNsProvider {
        let key = try String(contentsOfFile: sink.keyPath, encoding: .utf8)
        return APNsProvider(
            credentials: APNsCredentials(
                teamID: "SIMTEAM001",
                keyID: "SIMKEY0001",
                signer: try PrivateKey(pem: key),
                bundleID: "com.example.tocsin",
                origin: sink.origin
            ),
            transport: transport,
            time: time
        )
    }
}

/// Counts the outcomes the outbox reports.
private final class OutcomeCounts: Sendable {
    private let recorded = Atomic(0)
    private let trouble = Mutex<String?>(nil)

    func take(_ report: PushReport) {
        switch report {
        case .settled(_, .accepted, let count): recorded.add(count, ordering: .relaxed)
        case .settled(_, .waiting, _), .deviceRetired, .providerNotConfigured: break
        default: trouble.withLock { $0 = "\(report)" }
        }
    }

    /// Waits until so many are recorded, looking every few milliseconds.
    func wait(for count: Int, seconds: Double, _ look: (Int) -> Void) async throws {
        var (last, since) = (0, Date())
        while true {
            let now = recorded.load(ordering: .relaxed)
            look(now)
            if now >= count { return }
            if now > last { (last, since) = (now, Date()) }
            guard Date().timeIntervalSince(since) < seconds else {
                throw BenchFailure("no push was recorded for \(seconds) s: \(trouble.withLock { $0 } ?? "no reason")")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
