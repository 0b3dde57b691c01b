import Foundation
import NIOCore
import NIOPosix
import Testing
import TocsinPush
import TocsinSimulator

@Suite("Simulator start")
struct SimulatorStartTests {
    private func temporaryFolder() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("tocsin-start-\(UUID().uuidString)").path
    }

    @Test("a folder that cannot be made is named", arguments: ["/no/such/place", "/dev/null/keys"])
    func noFolder(path: String) {
        #expect(throws: SimulatorError.self) { try PushSimulator(settings: SimulatorSettings(folder: path)) }
        do {
            _ = try PushSimulator(settings: SimulatorSettings(folder: path))
        } catch {
            #expect("\(error)".contains(path))
        }
    }

    @Test("a key file without a key is refused, with the way out")
    func brokenKey() throws {
        let folder = temporaryFolder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: folder + "/apns.p8"))
        #expect(throws: SimulatorError.self) { try PushSimulator(settings: SimulatorSettings(folder: folder)) }
    }

    @Test("a certificate that is no longer good is made anew")
    func brokenCertificate() async throws {
        let folder = temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try PushSimulator(settings: SimulatorSettings(folder: folder))
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: folder + "/server.pem"))
        try await Bench.with({ $0.folder = folder }) { bench in
            #expect(await bench.send(bench.apnsBatch([deviceToken("aa")]))[0].status == 200)
        }
    }

    @Test("a port that is taken is named")
    func takenPort() async throws {
        try await Bench.with { bench in
            let port = try #require(Int(bench.addresses.apns.split(separator: ":").last ?? ""))
            var settings = bench.simulator.settings
            settings.apnsPort = port
            let second = try PushSimulator(settings: settings)
            await #expect(throws: SimulatorError.self) { try await second.start() }
            await second.stop()
        }
    }

    @Test("random bytes on any listener harm nobody else", arguments: 0..<10)
    func randomBytes(seed: Int) async throws {
        try await Bench.with({ $0.tls = seed.isMultiple(of: 2) }) { bench in
            var random = Lehmer(seed: UInt64(seed))
            for address in [bench.addresses.apns, bench.addresses.fcm, bench.addresses.control] {
                let port = try #require(Int(address.split(separator: ":").last ?? ""))
                let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: port).get()
                let preface = seed < 5 ? Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) : []
                let noise = (0..<2000).map { _ in UInt8.random(in: 0...255, using: &random) }
                // The simulator may have closed already: that is an answer too.
                _ = try? await channel.writeAndFlush(ByteBuffer(bytes: preface + noise)).get()
                _ = try? await channel.close().get()
            }
            #expect(await bench.send(bench.apnsBatch([deviceToken("aa")]))[0].status == 200, "seed \(seed)")
        }
    }
}
