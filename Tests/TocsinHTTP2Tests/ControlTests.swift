import Foundation
import FoundationNetworking
import JSON
import Testing
import TocsinPush
import TocsinSimulator

@Suite("Simulator control")
struct ControlTests {
    private func get(_ bench: Bench, _ path: String, method: String = "GET") async throws -> (Int, [UInt8]) {
        let url = try #require(URL(string: bench.addresses.control + path))
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.timeoutInterval = 10
        let (data, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, Array(data))
    }

    @Test("it answers health, statistics and pushes as JSON over HTTP/1.1")
    func pages() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa"), deviceToken("dead")]))
            let (health, _) = try await get(bench, "/healthz")
            #expect(health == 200)
            let stats = try JSONParser.parse(try await get(bench, "/_stats").1)
            #expect(stats["apns"]?["accepted"] == 1)
            #expect(stats["apns"]?["refused"]?["Unregistered"] == 1)
            let pushes = try JSONParser.parse(try await get(bench, "/_pushes?since=1").1).arrayValue ?? []
            #expect(pushes.map { $0["sequence"] } == [2])
            #expect(pushes.first?["reason"] == "Unregistered")
            #expect(pushes.first?["headers"]?["apns-topic"] == "com.example.tocsin")
            #expect(pushes.first?["payload"]?["aps"]?["alert"] == "x")
        }
    }

    @Test("provider tokens are not among the recorded headers")
    func noSecrets() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            #expect(bench.simulator.pushes().first?["headers"]?["authorization"] == nil)
        }
    }

    @Test("a reset forgets pushes and counts")
    func reset() async throws {
        try await Bench.with { bench in
            _ = await bench.send(bench.apnsBatch([deviceToken("aa")]))
            let (code, _) = try await get(bench, "/_reset", method: "POST")
            #expect(code == 200)
            #expect(bench.stat("apns", "accepted") == 0)
            #expect(bench.simulator.pushes().isEmpty)
        }
    }

    @Test("wrong requests get a clear refusal", arguments: [("/nothing", 404), ("/_pushes?since=x", 400)])
    func wrong(path: String, status: Int) async throws {
        try await Bench.with { bench in
            let (code, body) = try await get(bench, path)
            #expect(code == status)
            let error = try JSONParser.parse(body)["error"]?.stringValue
            #expect(error?.isEmpty == false)
        }
    }

    @Test("an outage holds for all pushes of its provider, until it is ended")
    func outage() async throws {
        try await Bench.with { bench in
            let (code, _) = try await get(bench, "/_outage?provider=apns&kind=unavailable", method: "POST")
            #expect(code == 200)
            #expect(await bench.send(bench.apnsBatch([deviceToken("aa")]))[0].status == 503)
            #expect(await bench.send(bench.fcmBatch(["device-token"]))[0].status == 200)
            _ = try await get(bench, "/_outage?provider=apns&kind=none", method: "POST")
            #expect(await bench.send(bench.apnsBatch([deviceToken("aa")]))[0].status == 200)
            let (refused, _) = try await get(bench, "/_outage?provider=apple&kind=none", method: "POST")
            #expect(refused == 400)
        }
    }

    @Test("old pushes make room for new ones")
    func bounded() async throws {
        try await Bench.with({ $0.maximumRecords = 8 }) { bench in
            for number in 0..<20 { _ = await bench.send(bench.apnsBatch([deviceToken("aa", number)])) }
            let kept = bench.simulator.pushes().compactMap { $0["sequence"]?.intValue }
            #expect(kept.count <= 8)
            #expect(kept.last == 20)
        }
    }

    @Test("the environment names files that exist and only their owner may read")
    func environment() async throws {
        try await Bench.with { bench in
            let names = bench.addresses.environment.map(\.name)
            #expect(names.contains("APNS_AUTH_KEY_PATH") && names.contains("TOCSIN_PUSH_CA_FILE"))
            for (name, value) in bench.addresses.environment where value.hasPrefix("/") {
                let attributes = try FileManager.default.attributesOfItem(atPath: value)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
        }
    }

    @Test("what is printed at start can be read by a shell, whatever the folder is called")
    func banner() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("it's a \(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await Bench.with({ $0.folder = folder }) { bench in
            let shell = Process()
            let output = Pipe()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            let lines = bench.addresses.exports + ["printf '%s' \"$APNS_AUTH_KEY_PATH|$APNS_ENDPOINT\""]
            shell.arguments = ["-c", lines.joined(separator: "\n")]
            shell.standardOutput = output
            try shell.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            shell.waitUntilExit()
            #expect(text == "\(folder)/apns.p8|\(bench.addresses.apns)")
        }
    }

    @Test("a second start on the same folder keeps the keys")
    func keepsKeys() async throws {
        try await Bench.with { first in
            try await Bench.with { second in
                var batch = second.apnsBatch([deviceToken("aa")])
                batch.sharedHeaders[0] = PushHeader("authorization", "bearer \(first.providerToken)")
                #expect(await second.send(batch)[0].status == 200)
            }
        }
    }

    @Test("without recording everything is answered 200 and only counted")
    func sink() async throws {
        try await Bench.with({ $0.recording = false }) { bench in
            let answers = await bench.send(bench.apnsBatch((0..<200).map { deviceToken("dead", $0) }))
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(bench.stat("apns", "accepted") == 200)
            #expect(bench.simulator.pushes().isEmpty)
        }
    }
}
