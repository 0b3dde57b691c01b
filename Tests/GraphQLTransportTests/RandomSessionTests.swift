import GraphQL
import GraphQLTransport
import JSON
import Testing

@Suite("Sessions, random input")
struct RandomSessionTests {
    /// SplitMix64, so that a printed seed brings the same run again.
    struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    @Test(
        "whatever happens, operations start once, nothing follows a close, and no operation speaks after its end",
        arguments: [
            TransportWSSession(limits: .init(maximumOperations: 3), upgradeCredentials: .init()),
            AppSyncSession(limits: .init(maximumOperations: 3), handshake: .credentials(.init(authorization: "t"))),
            EventStreamSession(.operation(GraphQLRequest(query: "q")), limits: .init()),
        ] as [any SocketSession]
    )
    func invariants(session: any SocketSession) {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Random(state: seed)
        for _ in 0..<300 { run(session, &random, seed) }
    }

    private func run(_ fresh: any SocketSession, _ random: inout Random, _ seed: UInt64) {
        var session = fresh
        var started: Set<Int> = []
        var isClosed = false
        for step in 0..<60 {
            let actions = session.handle(step == 0 ? .opened : event(&random, started.count))
            #expect(!isClosed || actions.isEmpty, "seed \(seed)")
            for action in actions {
                #expect(!isClosed, "seed \(seed)")
                if case .start(let number, _) = action { #expect(started.insert(number).inserted, "seed \(seed)") }
                if case .close(_, let reason) = action {
                    isClosed = true
                    #expect(reason.utf8.count <= 123, "seed \(seed)")
                }
            }
        }
    }

    private func event(_ random: inout Random, _ started: Int) -> SessionEvent {
        let number = Int.random(in: 1...max(1, started), using: &random)
        let id = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<50, using: &random) {
        case 0..<6: return .message(TransportWSSessionTests.initialise)
        case 6..<12: return .authenticated(.accepted(welcome: [:]))
        case 12..<20: return .subscribe(id, "q")
        case 20..<24: return .message("{\"type\":\"complete\",\"id\":\"\(id)\"}")
        case 24..<27: return .message(#"{"type":"ping"}"#)
        case 27..<30: return .subscribed(number)
        case 30..<33: return .next(number, SharedResponse(body: [0x7B, 0x7D]))
        case 33: return .ended(number, .completed)
        case 34: return .replied(number, .executed("{}"))
        case 35: return .refused(number, errors: [0x5B, 0x5D])
        case 36: return .pingFrame([1])
        case 37: return .timer([.initialisation, .keepAlive, .farewell].randomElement(using: &random) ?? .keepAlive)
        case 38: return .tokenEnded
        case 39: return .denied(number, .refused(message: "no"))
        case 40: return .unsupported(number, .mutation)
        case 41..<46: return .start(id, "q")
        case 46, 47: return .stop(id)
        default:
            var text = Array(#"{"type":"subscribe","id":"x","payload":{"query":"q"}}"#.utf8)
            let index = Int.random(in: 0..<text.count, using: &random)
            text[index] = UInt8.random(in: 0...127, using: &random)
            return .text(text)
        }
    }
}
