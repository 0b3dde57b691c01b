import Foundation
import JSON
import NIOPosix
import TocsinAuth
import TocsinCore
import TocsinHTTP2
import TocsinPush
import TocsinSimulator

/// Both providers over real HTTP/2 and TLS to a simulator that shares the test's clock.
struct SimulatorBench {
    static let bundleID = "com.example.tocsin"
    let simulator: PushSimulator
    let addresses: SimulatorAddresses
    let transport: HTTP2Transport
    let apns: APNsProvider
    let fcm: FCMProvider

    var providers: [any PushProvider] { [apns, fcm] }

    private static let folderPath = FileManager.default.temporaryDirectory
        .appendingPathComponent("tocsin-answers-\(UUID().uuidString)").path

    /// One folder of keys for all tests: making them takes time.
    private static let folder: Result<String, SimulatorError> = {
        atexit { try? FileManager.default.removeItem(atPath: SimulatorBench.folderPath) }
        return Result { () throws(SimulatorError) in
            _ = try PushSimulator(settings: SimulatorSettings(folder: folderPath))
            return folderPath
        }
    }()

    /// What a test may choose.
    struct Choice {
        var timeoutSeconds = 20.0
        /// In place of the simulator's address.
        var origin: String?
        /// Whether the simulator's CA is trusted.
        var trusts = true
        var change: (inout SimulatorSettings) -> Void = { $0.slowAnswerSeconds = 0.05 }
    }

    /// Runs a body against a new simulator and an outbox whose providers send to it.
    static func with(
        _ choice: Choice = Choice(),
        _ body: (SimulatorBench, OutboxHarness) async throws -> Void
    ) async throws {
        let time = ManualTime()
        var settings = SimulatorSettings(folder: try folder.get(), nowMilliseconds: { time.now().milliseconds })
        choice.change(&settings)
        let simulator = try PushSimulator(settings: settings)
        let addresses = try await simulator.start()
        let transport = try HTTP2Transport(
            group: MultiThreadedEventLoopGroup.singleton,
            settings: HTTP2Settings(authorityPath: choice.trusts ? addresses.authorityPath : nil)
        )
        let bench = try make(choice, simulator, addresses, transport, time)
        let result: Result<Void, any Error>
        do {
            try await OutboxHarness.with(bench.providers, time: time) { try await body(bench, $0) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await transport.shutdown(graceSeconds: 0.2)
        await simulator.stop()
        try result.get()
    }

    private static func make(
        _ choice: Choice,
        _ simulator: PushSimulator,
        _ addresses: SimulatorAddresses,
        _ transport: HTTP2Transport,
        _ time: ManualTime
    ) throws -> SimulatorBench {
        let keyPath = addresses.environment.first { $0.name == "APNS_AUTH_KEY_PATH" }?.value ?? ""
        let apns = APNsProvider(
            credentials: APNsCredentials(
                teamID: simulator.settings.teamID,
                keyID: simulator.settings.keyID,
                signer: try PrivateKey(pem: String(contentsOfFile: keyPath, encoding: .utf8)),
                bundleID: bundleID,
                origin: choice.origin ?? addresses.apns
            ),
            transport: transport,
            time: time,
            timeoutSeconds: choice.timeoutSeconds
        )
        let fcm = FCMProvider(
            credentials: FCMCredentials(
                projectID: simulator.settings.projectID,
                clientEmail: simulator.accountEmail,
                signer: FixedSigner(algorithm: "RS256"),
                origin: choice.origin ?? addresses.fcm
            ),
            transport: transport,
            http: SimulatedTokens(simulator: simulator),
            time: time,
            timeoutSeconds: choice.timeoutSeconds
        )
        return SimulatorBench(simulator: simulator, addresses: addresses, transport: transport, apns: apns, fcm: fcm)
    }

    /// What the provider saw of a token, in order: whether it was accepted, and under
    /// which name it would be shown.
    func seen(_ token: String) -> [(isAccepted: Bool, name: String)] {
        simulator.pushes().filter { $0["token"]?.stringValue == token }.map { push in
            let tag = push["payload"]?["message"]?["android"]?["notification"]?["tag"]?.stringValue
            let name = push["headers"]?["apns-collapse-id"]?.stringValue ?? tag ?? ""
            return (push["accepted"]?.boolValue ?? false, name)
        }
    }
}

/// Hands out the simulator's access tokens without a call.
private struct SimulatedTokens: OutgoingHTTP {
    let simulator: PushSimulator

    func send(_ request: OutgoingRequest) async -> OutgoingAnswer {
        ScriptedTokenEndpoint.token(simulator.makeAccessToken())
    }
}
