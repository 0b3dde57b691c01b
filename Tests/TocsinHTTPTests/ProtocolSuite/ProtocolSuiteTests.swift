import Logging
import Testing
import TocsinHTTP

/// The cases of Autobahn's suite, families 1 to 7, 9 and 10, against the echo on the
/// server's own socket code.
///
/// Families 12 and 13 are about compression, which is not offered.
@Suite("RFC 6455, case by case", .timeLimit(.minutes(5)))
struct ProtocolSuiteTests {
    /// Named, because the test's report would describe every byte of its arguments.
    enum Family: String, CaseIterable {
        case framing, pings, reservedBits, opcodes, fragmentation, encoding, sequences, closing, sizes

        var cases: [ProtocolCase] {
            switch self {
            case .framing: ProtocolCase.framing
            case .pings: ProtocolCase.pings
            case .reservedBits: ProtocolCase.reservedBits
            case .opcodes: ProtocolCase.opcodes
            case .fragmentation: ProtocolCase.fragmentation
            case .encoding: ProtocolCase.encoding
            case .sequences: ProtocolCase.sequences
            case .closing: ProtocolCase.closing
            case .sizes: ProtocolCase.sizes
            }
        }
    }

    @Test("every case of the family ends as it must", arguments: Family.allCases)
    func family(family: Family) async throws {
        let server = WebSocketEchoServer(port: 0, logger: Logger(label: "echo") { _ in SwiftLogNoOpLogHandler() })
        let port = try await server.start()
        #expect(!family.cases.isEmpty)
        for one in family.cases {
            do {
                try await run(one, port: port)
            } catch {
                Issue.record("case \(one.id): \(error)")
            }
        }
        await server.stop()
    }

    private func run(_ one: ProtocolCase, port: Int) async throws {
        let client = try await RawClient.connect(port: port)
        defer { client.close() }
        client.requestUpgrade(path: "/", subprotocol: "none")
        #expect(try await client.response().status == 101, "case \(one.id)")
        var bytes: [UInt8] = []
        for frame in one.sends { bytes += RawClient.bytes(of: frame) }
        if one.isClosedAtEnd { bytes += RawClient.bytes(of: .close(1000)) }
        let size = one.pieces ?? bytes.count
        for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
            client.send(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        for echo in one.echoes {
            let frame = try await client.frame()
            #expect(frame == echo, "case \(one.id)")
        }
        let last = try await client.frame()
        #expect(last.opcode == 8 && last.closeCode == one.code, "case \(one.id): \(last.closeCode)")
        #expect(await client.readToEnd().isEmpty, "case \(one.id): more after the close")
    }

    @Test("any messages come back whole, however they are cut into frames and writes")
    func randomCuts() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = RandomInputTests.Random(state: seed)
        let server = WebSocketEchoServer(port: 0, logger: Logger(label: "echo") { _ in SwiftLogNoOpLogHandler() })
        let port = try await server.start()
        for round in 0..<40 {
            let one = ProtocolCase.random(&random, id: "seed \(seed), round \(round)")
            do {
                try await run(one, port: port)
            } catch {
                Issue.record("\(one.id): \(error)")
            }
        }
        await server.stop()
    }

    @Test("a fault is told before the frame or the message is whole", arguments: ProtocolCase.unfinished)
    func failsFast(one: ProtocolCase) async throws {
        let server = WebSocketEchoServer(port: 0, logger: Logger(label: "echo") { _ in SwiftLogNoOpLogHandler() })
        let client = try await RawClient.connect(port: try await server.start())
        client.requestUpgrade(path: "/", subprotocol: "none")
        #expect(try await client.response().status == 101)
        var bytes: [UInt8] = []
        for frame in one.sends { bytes += RawClient.bytes(of: frame) }
        // The last byte never comes.
        client.send(Array(bytes.dropLast()))
        #expect(try await client.frame().closeCode == one.code)
        await server.stop()
    }

    @Test(
        "a length has its shortest form and is no negative number",
        arguments: [
            [0x81, 0xFE, 0, 5], [0x81, 0xFE, 0, 125], [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x89, 0xFE, 0, 126], [0x81, 5], [0x89, 0],
        ] as [[UInt8]]
    )
    func lengths(head: [UInt8]) async throws {
        let server = WebSocketEchoServer(port: 0, logger: Logger(label: "echo") { _ in SwiftLogNoOpLogHandler() })
        let client = try await RawClient.connect(port: try await server.start())
        client.requestUpgrade(path: "/", subprotocol: "none")
        #expect(try await client.response().status == 101)
        client.send(head + [1, 2, 3, 4])
        #expect(try await client.frame().closeCode == 1002)
        await server.stop()
    }

    @Test("a message beyond the limit is refused at its head, in one frame or in many")
    func tooBig() async throws {
        for sends in [[[0x82, 0xFE, 4, 1]], [[0x02, 0xFE, 4, 0], [0x80, 0x81]]] as [[[UInt8]]] {
            let logger = Logger(label: "echo") { _ in SwiftLogNoOpLogHandler() }
            let server = WebSocketEchoServer(port: 0, maximumMessageBytes: 1024, logger: logger)
            let client = try await RawClient.connect(port: try await server.start())
            client.requestUpgrade(path: "/", subprotocol: "none")
            #expect(try await client.response().status == 101)
            for (index, head) in sends.enumerated() {
                let isLast = index == sends.count - 1
                client.send(head + [0, 0, 0, 0] + (isLast ? [] : Array(repeating: 7, count: 1024)))
            }
            #expect(try await client.frame().closeCode == 1009)
            await server.stop()
        }
    }
}
