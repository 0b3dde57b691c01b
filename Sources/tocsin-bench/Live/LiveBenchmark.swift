import Foundation
import JSON

/// The live feed: messages to thousands of subscribers, beside a C loop that sends frames of the
/// same size to as many sockets, read by the same program.
struct LiveBenchmark {
    let options: BenchOptions
    private static let rounds = 20
    private static let batch = 10
    private static let publishers = 8
    private static let pauseMicroseconds: UInt32 = 20_000
    /// Python takes its time to open sockets.
    private static let peerSockets = 2000

    func run() throws {
        let server = try LiveServer(sockets: options.subscribers)
        defer { server.stop() }
        try server.makeTopics(2)
        for count in [1, 100] { try follow(server, count) }
        let (single, joined, frameBytes) = try everybody(server)
        try floor(frameBytes, single, joined)
        try peer(frameBytes, single)
        try manyTopics(server)
        try slowReaders(server)
    }

    /// How long answers take to a publisher who waits for each, and frames to their sockets.
    ///
    /// In turn with these, it measures answers to messages that nobody gets, on the same server in
    /// the same minute.
    private func publisher(_ server: LiveServer, _ readers: ReaderProcess, listening: Int) throws -> LiveLatency {
        var (answers, alone): ([Int64], [Int64]) = ([], [])
        let before = try readers.report().frames
        let (warmUp, rounds) = (20, listening > 1000 ? 100 : 200)
        for round in 1...(warmUp + rounds) {
            // A loop that has just worked for all would wait for its share
            // of a busy machine's cores.
            usleep(Self.pauseMicroseconds)
            let time = try server.publish()
            try readers.wait(until: before + round * listening)
            usleep(Self.pauseMicroseconds)
            let timeAlone = try server.publish(to: 1)
            if round == warmUp { _ = try readers.report() }
            guard round > warmUp else { continue }
            answers.append(time)
            alone.append(timeAlone)
        }
        return LiveLatency(answers: answers.sorted(), alone: alone.sorted(), seen: try readers.report())
    }

    private func follow(_ server: LiveServer, _ count: Int) throws {
        let readers = try ReaderProcess(server.order(count))
        defer { readers.stop() }
        let latency = try publisher(server, readers, listening: count)
        tell(latency.printed("createMessage, \(count) listening"))
    }

    /// All subscribers of one topic: memory, single frames, batches.
    private func everybody(_ server: LiveServer) throws -> (Double, Double, Int) {
        let count = options.subscribers
        usleep(500_000)
        let before = try server.memory()
        let readers = try ReaderProcess(server.order(count))
        defer { readers.stop() }
        usleep(500_000)
        tell(
            String(
                format: "%d idle subscribers: %.1f kB each",
                count,
                Double(try server.memory() - before) / 1024 / Double(count)
            )
        )
        let latency = try publisher(server, readers, listening: count)
        tell(latency.printed("createMessage, \(count) listening"))
        var frames = latency.seen.frames
        let single = try measure("single frames to \(count)", server.process.pid) {
            for _ in 0..<Self.rounds {
                try server.publish()
                frames += count
                try readers.wait(until: frames)
            }
            return Self.rounds * count
        }
        let joined = try measure("batches of \(Self.batch) to \(count)", server.process.pid) {
            for _ in 0..<Self.rounds / 2 {
                try server.publish(Self.batch)
                frames += count * Self.batch
                try readers.wait(until: frames)
            }
            return Self.rounds / 2 * count * Self.batch
        }
        let seen = try readers.report()
        return (single.cpuMicroseconds, joined.cpuMicroseconds, seen.bytes / max(1, seen.frames))
    }

    private func floor(_ frameBytes: Int, _ single: Double, _ joined: Double) throws {
        let arguments = ["\(options.subscribers)", "\(frameBytes)"]
        guard let loop = try BroadcastPeer(options.peers?.appending(path: "send-loop"), arguments) else {
            return tell("floor: there is no C compiler")
        }
        defer { loop.stop() }
        let readers = try ReaderProcess(ReaderOrder(.raw, port: loop.port, count: options.subscribers))
        defer { readers.stop() }
        let name = "floor: C send loop, frames of \(frameBytes) bytes"
        let floors = try rounds(of: loop, readers, options.subscribers, name)
        tell(
            String(
                format:
                    "CPU of a frame: %.2f times the C loop's (target 1.75); of a batch's frame %.2f times its own; a batch's frame costs %.1f times less than a single one (target 5; C loop %.1f)",
                single / floors.single,
                joined / floors.joined,
                single / joined,
                floors.single / floors.joined
            )
        )
    }

    private func peer(_ frameBytes: Int, _ single: Double) throws {
        let program = options.peers?.appending(path: "websockets-broadcast")
        guard let peer = try BroadcastPeer(program, ["\(frameBytes)"]) else {
            return tell("peer: Python's websockets is not installed")
        }
        defer { peer.stop() }
        let readers = try ReaderProcess(ReaderOrder(.webSocket, port: peer.port, count: Self.peerSockets))
        defer { readers.stop() }
        let name = "peer: Python's websockets, \(Self.peerSockets) sockets"
        let figures = try rounds(of: peer, readers, Self.peerSockets, name)
        tell(String(format: "CPU of a frame: %.2f times ours", figures.single / single))
    }

    private func rounds(
        of peer: BroadcastPeer,
        _ readers: ReaderProcess,
        _ count: Int,
        _ name: String
    ) throws -> (single: Double, joined: Double) {
        var (costs, frames): ([Double], Int) = ([], 0)
        // The first rounds are warm-up.
        for _ in 0..<3 {
            try peer.round(1)
            frames += count
            try readers.wait(until: frames)
        }
        for joined in [1, Self.batch] {
            let rounds = joined == 1 ? Self.rounds : Self.rounds / 2
            let figures = try measure("\(name), \(joined) at once", peer.pid) {
                for _ in 0..<rounds {
                    try peer.round(joined)
                    frames += count * joined
                    try readers.wait(until: frames)
                }
                return rounds * count * joined
            }
            costs.append(figures.cpuMicroseconds)
        }
        return (costs[0], costs[1])
    }

    private func manyTopics(_ server: LiveServer) throws {
        let topics = max(1, options.subscribers / 10)
        try server.makeTopics(topics)
        let readers = try ReaderProcess(server.order(options.subscribers, topics: topics))
        defer { readers.stop() }
        _ = try measure("\(topics) topics with 10 subscribers each", server.process.pid) {
            let indices = Array(0..<topics)
            for start in stride(from: 0, to: topics, by: Self.publishers) {
                try server.send(to: Array(indices[start..<min(topics, start + Self.publishers)]))
            }
            try readers.wait(until: topics * 10)
            return topics * 10
        }
        let seen = try readers.report()
        tell(String(format: "  message to socket p50 %.2f ms, p99 %.2f ms", seen.p50, seen.p99))
    }

    /// A tenth of the readers stop reading: they are cut, the others get everything.
    private func slowReaders(_ server: LiveServer) throws {
        let slow = options.subscribers / 10
        let readers = try ReaderProcess(server.order(options.subscribers, slow: slow))
        defer { readers.stop() }
        let before = try server.memory()
        var most = 0
        let bursts = 60
        let reading = options.subscribers - slow
        _ = try measure("\(options.subscribers) subscribers, \(slow) of whom do not read", server.process.pid) {
            for burst in 1...bursts {
                try server.publish(Self.batch)
                try readers.wait(until: burst * Self.batch * reading)
                most = max(most, try server.memory())
            }
            return bursts * Self.batch * reading
        }
        tell(
            String(
                format: "  %d were cut; memory grew by %.1f MB at most, %.1f kB a slow reader",
                try readers.drain(),
                Double(most - before) / 1_048_576,
                Double(most - before) / 1024 / Double(slow)
            )
        )
    }

    private func measure(_ name: String, _ pid: Int32, _ work: () throws -> Int) throws -> Figures {
        let (start, before) = (Date(), try ProcessUsage.cpu(of: pid))
        let frames = try work()
        let figures = Figures(
            name: name,
            operations: frames,
            seconds: Date().timeIntervalSince(start),
            cpuSeconds: try ProcessUsage.cpu(of: pid) - before,
            memoryBytes: try ProcessUsage.memory(of: pid)
        )
        tell(figures.printed())
        return figures
    }
}

/// What publishers and subscribers wait for.
struct LiveLatency {
    /// From request to answer, sorted, in nanoseconds: of messages that are
    /// listened for, and of others.
    var answers: [Int64]
    var alone: [Int64]
    var seen: ReaderProcess.Seen

    func printed(_ name: String) -> String {
        func milliseconds(_ times: [Int64], _ part: Double) -> Double { Double(Percentile.of(times, part)) / 1e6 }
        let (here, elsewhere) = (milliseconds(answers, 0.5), milliseconds(alone, 0.5))
        return name
            + String(format: ": answer p50 %.2f ms, p99 %.2f ms", here, milliseconds(answers, 0.99))
            + String(format: "; nobody listening p50 %.2f ms, p99 %.2f ms", elsewhere, milliseconds(alone, 0.99))
            + String(format: " (%.2f times)", here / elsewhere)
            + String(format: "; to the socket p50 %.2f ms, p99 %.2f ms", seen.p50, seen.p99)
    }
}
