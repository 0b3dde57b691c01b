import JSON
import Testing
import TocsinClient

@Suite("The socket machine")
struct SocketMachineTests {
    @Test("one ping makes all feeds live that were begun together")
    func onePing() {
        var bench = MachineBench()
        for id in 1...50 { bench.handle(.follow(id, FeedMachine(.topic("t\(id)"), start: .after(cursor: "c")))) }
        bench.connect()
        #expect(bench.takeSent().compactMap { $0["type"]?.stringValue }.suffix(51).count { $0 == "ping" } == 1)
        bench.text(["type": "pong"])
        for id in 1...50 {
            let items = bench.takeAll(id)
            #expect(items.contains { if case .live = $0 { true } else { false } }, "\(id): \(items)")
        }
    }

    @Test("an operation that fails for a while pauses alone; the socket and the others go on")
    func failsAlone() {
        var bench = MachineBench(random: { 1 })
        for id in 1...2 { bench.handle(.follow(id, FeedMachine(.topic("t\(id)"), start: .after(cursor: "c")))) }
        bench.connect()
        let error: JSONValue = ["message": "Too many.", "extensions": ["code": "LIMIT"]]
        bench.text(["type": "error", "id": "1", "payload": [error]])
        #expect(bench.isOpen)
        #expect(bench.timers[.feed(1)] == .seconds(2))
        _ = bench.takeSent()
        bench.fire(.feed(1))
        #expect(bench.takeSent().count { $0["type"] == "subscribe" } == 1)
    }

    @Test("credentials that an operation is refused for are replaced, and the feeds go on")
    func operationUnauthenticated() {
        var bench = MachineBench()
        bench.handle(.follow(1, FeedMachine(.topic("t1"), start: .after(cursor: "c"))))
        bench.connect()
        let error: JSONValue = ["message": "m", "extensions": ["code": "UNAUTHENTICATED"]]
        bench.text(["type": "error", "id": "1", "payload": [error]])
        guard case .replacement(let held, _)? = bench.wish else {
            Issue.record("\(String(describing: bench.wish))")
            return
        }
        #expect(held.number == 1)
        bench.connect()
        #expect(bench.takeSent().contains { $0["type"] == "subscribe" })
    }

    @Test("a token that is not judged in ten seconds is tried on a new socket")
    func proofTimesOut() {
        var bench = MachineBench()
        bench.handle(.follow(1, FeedMachine(.topic("t1"), start: .after(cursor: "c"))))
        bench.connect()
        bench.fire(.renewal)
        bench.giveToken()
        #expect(bench.timers[.proof] == .seconds(10))
        #expect(bench.takeSent().last?["payload"]?["authorization"] == "Bearer t2")
        bench.fire(.proof)
        #expect(!bench.isOpen && bench.wish != nil)
        bench.connect()
        #expect(bench.takeSent().contains { $0["type"] == "subscribe" })
    }

    @Test("a server that breaks the protocol ends the feeds")
    func brokenServer() {
        var bench = MachineBench()
        bench.handle(.follow(1, FeedMachine(.topic("t1"), start: .after(cursor: "c"))))
        bench.connect()
        bench.handle(.text(Array("nonsense".utf8)))
        #expect(bench.takeAll(1).compactMap(\.end) == [.badAnswer])
        #expect(!bench.isOpen)
    }

    @Test("whatever happens in whatever order, each feed gives each number once and in order")
    func randomly() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var seen = RandomWorld.Seen()
        for run in 0..<25 {
            var world = RandomWorld(seed: seed &+ UInt64(run))
            for _ in 0..<120 { world.step() }
            world.settle()
            #expect(world.problems == [], "seed \(seed &+ UInt64(run))")
            seen.add(world.seen)
        }
        // What is to be shown has happened.
        #expect(seen.messages > 5_000 && seen.sockets > 50 && seen.completed > 10 && seen.tokens > 5, "\(seen)")
    }
}

/// A server of three topics, the readers of some feeds, and a network in between, all by chance.
private struct RandomWorld {
    /// What a reader has had so far, and what it must have next.
    private struct Reader {
        var topic: Int
        var next: Int64
    }

    struct Seen {
        var messages = 0
        var sockets = 0
        var completed = 0
        var tokens = 0

        mutating func add(_ other: Seen) {
            messages += other.messages
            sockets += other.sockets
            completed += other.completed
            tokens += other.tokens
        }
    }

    private(set) var seen = Seen()
    private static let topics = 3
    private var bench: MachineBench
    private var random: SplitMix
    private var readers: [Int: Reader] = [:]
    private var lastReader = 0
    /// How many messages each topic has.
    private var stored = [Int64](repeating: 0, count: Self.topics)
    /// The running subscriptions of the open socket, by their ids.
    private var running: [String: Int] = [:]
    /// On its way to the client.
    private var wire: [JSONValue] = []
    private(set) var problems: [String] = []

    init(seed: UInt64) {
        random = SplitMix(state: seed)
        let source = SharedRandom(seed: seed)
        bench = MachineBench(random: { source.next() })
    }

    mutating func step() {
        switch random.below(100) {
        case 0..<6: follow()
        case 6..<8: leave()
        case 8..<38: store()
        case 38..<44: bench.isOpen ? lose() : bench.handle(.openFailed(ClientError(.connectionFailed, "refused")))
        case 44..<48:
            bench.fire(.renewal)
            bench.giveToken()
        case 48..<52: bench.giveToken()
        case 52..<54: bench.handle(.pause)
        case 54..<58: bench.handle(.resume)
        case 58..<60: bench.handle(.network(isUsable: random.below(2) == 0))
        case 60..<62: bench.fire([.proof, .pong, .handshake, .steady][random.below(4)])
        case 62..<64: refuseOne()
        case 64..<74: read(upTo: random.below(400))
        default: advance()
        }
        serve()
    }

    /// Lets everything come to rest, and looks whether all has come.
    mutating func settle() {
        bench.handle(.resume)
        for _ in 0..<3000 {
            advance()
            serve()
            while !wire.isEmpty { deliver() }
            read(upTo: .max)
            serve()
            if wire.isEmpty, readers.values.allSatisfy({ $0.next > stored[$0.topic] }) { return }
        }
        for (id, reader) in readers where reader.next <= stored[reader.topic] {
            problems.append("feed \(id) stopped before \(reader.next) of \(stored[reader.topic])")
        }
    }

    private mutating func follow() {
        guard readers.count < 8 else { return }
        lastReader += 1
        let topic = random.below(Self.topics)
        let number = Int64(random.below(Int(stored[topic]) + 1))
        let point = ResumePoint(topicID: "\(topic)", number: number, cursor: number == 0 ? nil : "\(number)")
        readers[lastReader] = Reader(topic: topic, next: number + 1)
        bench.handle(.follow(lastReader, FeedMachine(.topic("\(topic)"), start: .point(point))))
    }

    private mutating func leave() {
        guard let id = readers.keys.sorted().first else { return }
        readers[id] = nil
        bench.handle(.leave(id))
    }

    private mutating func store() {
        let topic = random.below(Self.topics)
        // Now and then more than a feed keeps for a reader who is behind.
        let count = random.below(20) == 0 ? 300 : random.below(10)
        for _ in 0..<count {
            stored[topic] += 1
            for (id, followed) in running.sorted(by: { $0.key < $1.key }) where followed == topic {
                wire.append(Self.next(id, topic, stored[topic]))
            }
        }
    }

    private mutating func lose() {
        running = [:]
        wire = []
        let codes: [Int?] = [nil, 1000, 1001, 1006, 1013, 4401, 4403, 4408, 4429, 4500]
        bench.close(code: codes[random.below(codes.count)])
    }

    /// The server ends a subscription for a while.
    private mutating func refuseOne() {
        guard let id = running.keys.sorted().first else { return }
        running[id] = nil
        let code: JSONValue = ["UNAVAILABLE", "LIMIT", "TIMEOUT"][random.below(3)]
        wire.append(["type": "error", "id": .string(id), "payload": [["message": "m", "extensions": ["code": code]]]])
    }

    /// Whatever the client waits for happens.
    private mutating func advance() {
        bench.giveToken()
        if bench.wantsSocket, !bench.isOpen { bench.open() }
        if bench.timers[.pause] != nil { bench.fire(.pause) }
        for id in readers.keys.sorted() where bench.timers[.feed(id)] != nil { bench.fire(.feed(id)) }
        for _ in 0..<random.below(30) { deliver() }
    }

    private mutating func deliver() {
        if !bench.isOpen { wire = [] }
        if !wire.isEmpty { bench.text(wire.removeFirst()) }
    }

    /// The server takes what the client has sent.
    private mutating func serve() {
        if !bench.isOpen { (running, wire) = ([:], []) }
        for message in bench.takeSent() {
            switch message["type"]?.stringValue {
            case "connection_init"?:
                seen.sockets += 1
                (running, wire) = ([:], [["type": "connection_ack", "payload": ["features": ["replayedPing"]]]])
            case "ping"?: pong(message["payload"])
            case "complete"?:
                seen.completed += 1
                running[message["id"]?.stringValue ?? ""] = nil
            case "subscribe"?: subscribe(message)
            default: problems.append("strange: \(message)")
            }
        }
    }

    private mutating func pong(_ payload: JSONValue?) {
        guard payload?["authorization"] != nil else {
            wire.append(["type": "pong", "payload": payload ?? .object([:])])
            return
        }
        seen.tokens += 1
        let answer = random.below(4)
        // Some tokens are never judged.
        if answer > 0 { wire.append(["type": "pong", "payload": ["authenticated": .bool(answer > 1)]]) }
    }

    private mutating func subscribe(_ message: JSONValue) {
        let variables = message["payload"]?["variables"]
        guard let id = message["id"]?.stringValue, let topic = variables?["topicId"]?.stringValue.flatMap({ Int($0) })
        else { return problems.append("strange: \(message)") }
        let after = Int64(variables?["after"]?.stringValue ?? "") ?? 0
        running[id] = topic
        if after < stored[topic] {
            for number in (after + 1)...stored[topic] { wire.append(Self.next(id, topic, number)) }
        }
    }

    private mutating func read(upTo count: Int) {
        for id in readers.keys.sorted() {
            var left = count
            while left > 0, case .item(let item) = bench.take(id) {
                left -= 1
                if let end = item.end { problems.append("feed \(id) ended: \(end)") }
                guard let message = item.message, let reader = readers[id] else { continue }
                if message.number != reader.next {
                    problems.append("feed \(id): \(message.number), not \(reader.next)")
                }
                readers[id]?.next = message.number + 1
                seen.messages += 1
            }
        }
    }

    private static func next(_ id: String, _ topic: Int, _ number: Int64) -> JSONValue {
        let message: JSONValue = [
            "id": .string("m\(number)"), "number": .int(number), "cursor": .string("\(number)"),
            "topicId": .string("\(topic)"), "type": 0,
            "title": "t", "body": "",
        ]
        return ["type": "next", "id": .string(id), "payload": ["data": ["onCreateMessage": message]]]
    }
}
