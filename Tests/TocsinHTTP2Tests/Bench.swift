import Foundation
import JSON
import NIOPosix
import Synchronization
import Testing
import TocsinHTTP2
import TocsinPush
import TocsinSimulator

/// A simulator and a transport that trusts it.
struct Bench {
    let simulator: PushSimulator
    let addresses: SimulatorAddresses
    let transport: HTTP2Transport
    /// One token for all sends, as APNs wants it.
    let providerToken: String

    private static let folderPath = FileManager.default.temporaryDirectory
        .appendingPathComponent("tocsin-wire-\(UUID().uuidString)").path

    /// One folder of keys for all tests: they are the same for every simulator,
    /// and making them takes time.
    private static let folder: Result<String, SimulatorError> = {
        atexit { try? FileManager.default.removeItem(atPath: Bench.folderPath) }
        return Result { () throws(SimulatorError) in
            _ = try PushSimulator(settings: SimulatorSettings(folder: folderPath))
            return folderPath
        }
    }()

    static func with(
        _ change: (inout SimulatorSettings) -> Void = { _ in },
        transport changeTransport: (inout HTTP2Settings) -> Void = { _ in },
        _ body: (Bench) async throws -> Void
    ) async throws {
        var settings = SimulatorSettings(folder: try folder.get())
        change(&settings)
        let simulator = try PushSimulator(settings: settings)
        let addresses = try await simulator.start()
        var transportSettings = HTTP2Settings(authorityPath: addresses.authorityPath)
        changeTransport(&transportSettings)
        let transport = try HTTP2Transport(group: MultiThreadedEventLoopGroup.singleton, settings: transportSettings)
        let bench = Bench(
            simulator: simulator,
            addresses: addresses,
            transport: transport,
            providerToken: try simulator.makeProviderToken()
        )
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(bench))
        } catch {
            result = .failure(error)
        }
        await transport.shutdown(graceSeconds: 1)
        await simulator.stop()
        try result.get()
    }

    var apnsPool: PushPool {
        PushPool(origin: addresses.apns, credential: "SIMTEAM001/SIMKEY0001", opensWithOneStream: true)
    }

    var fcmPool: PushPool { PushPool(origin: addresses.fcm, credential: "tocsin-simulator") }

    /// A well-formed APNs batch, one request a device token.
    func apnsBatch(_ tokens: [String], body: String = #"{"aps":{"alert":"x"}}"#) -> PushBatch {
        let bytes = Array(body.utf8)
        return PushBatch(
            pool: apnsPool,
            sharedHeaders: [
                PushHeader("authorization", "bearer \(providerToken)"),
                PushHeader("apns-topic", "com.example.tocsin", repeats: true),
                PushHeader("apns-push-type", "alert", repeats: true),
                PushHeader("apns-priority", "10", repeats: true),
            ],
            requests: tokens.map { token in
                PushBatch.Request(
                    path: "/3/device/\(token)",
                    headers: [PushHeader("apns-id", UUID().uuidString.lowercased())],
                    body: bytes
                )
            }
        )
    }

    /// A well-formed FCM batch, one request a registration token.
    func fcmBatch(_ tokens: [String]) -> PushBatch {
        PushBatch(
            pool: fcmPool,
            sharedHeaders: [
                PushHeader("authorization", "Bearer \(simulator.makeAccessToken())"),
                PushHeader("content-type", "application/json", repeats: true),
            ],
            requests: tokens.map { token in
                let body: JSONValue = ["message": ["token": .string(token), "data": ["id": "1"]]]
                return PushBatch.Request(
                    path: "/v1/projects/tocsin-simulator/messages:send",
                    headers: [],
                    body: body.serialized()
                )
            }
        )
    }

    /// Sends and gathers the answers by index; `#expect`s that each request is answered once.
    func send(_ batch: PushBatch) async -> [PushAnswer] {
        let box = Collected()
        await transport.send(batch) { index, answer in box.add(index, answer) }
        return batch.requests.indices.map { index in
            let answers = box.answers(index)
            #expect(answers.count == 1)
            return answers.first ?? .unknown(reason: "never answered")
        }
    }

    func stat(_ path: String...) -> Int? {
        var value: JSONValue? = simulator.stats
        for name in path { value = value?[name] }
        return value?.intValue.map(Int.init)
    }
}

/// Answers by index, from any thread.
final class Collected: Sendable {
    private let state = Mutex<[Int: [PushAnswer]]>([:])

    func add(_ index: Int, _ answer: PushAnswer) {
        state.withLock { $0[index, default: []].append(answer) }
    }

    func answers(_ index: Int) -> [PushAnswer] { state.withLock { $0[index] ?? [] } }

    var count: Int { state.withLock { $0.count } }
}

extension PushAnswer {
    var status: Int? {
        if case .response(let response) = self { response.status } else { nil }
    }

    /// APNs' `reason`, or the whole body of another answer.
    var reason: String {
        switch self {
        case .response(let response):
            (try? JSONParser.parse(response.body))?["reason"]?.stringValue
                ?? String(decoding: response.body, as: UTF8.self)
        case .notProcessed(let reason), .unknown(let reason), .unreachable(let reason): reason
        }
    }

    var kind: String {
        switch self {
        case .response(let response): "\(response.status)"
        case .notProcessed: "notProcessed"
        case .unknown: "unknown"
        case .unreachable: "unreachable"
        }
    }
}

/// Device tokens: 64 hex digits that begin as wanted and differ from each other.
func deviceToken(_ prefix: String, _ number: Int = 0) -> String {
    let digits = String(number, radix: 16)
    return prefix + String(repeating: "a", count: 64 - prefix.count - 8)
        + String(repeating: "0", count: 8 - digits.count) + digits
}
