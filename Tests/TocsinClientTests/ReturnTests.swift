import JSON
import Testing
import TocsinClient

@Suite("Coming back to a server")
struct ReturnTests {
    private static func followed(random: Double = 1, _ settings: ClientSettings = ClientSettings()) -> MachineBench {
        var bench = MachineBench(settings, random: { random })
        bench.handle(.follow(1, FeedMachine(.topic("t1"), start: .after(cursor: "c"))))
        return bench
    }

    private static func live(random: Double = 1) -> MachineBench {
        var bench = followed(random: random)
        bench.connect()
        return bench
    }

    @Test(
        "each close has its pause: from nothing, or what the server asks for, up to a bound",
        arguments: [
            (nil, 0.0, 2.0), (1000, 0, 2), (1006, 0, 2), (1001, 0, 5), (1013, 0, 7), (4408, 10, 12), (4429, 10, 12),
            (4500, 10, 12),
        ] as [(Int?, Double, Double)]
    )
    func pauses(code: Int?, least: Double, most: Double) {
        for (random, seconds) in [(0.0, least), (1.0, most)] {
            var bench = Self.live(random: random)
            bench.close(code: code)
            #expect(bench.timers[.pause] == .seconds(seconds))
        }
    }

    @Test("pauses double up to half a minute, and tries have no limit")
    func doubling() {
        var bench = Self.followed()
        for attempt in 1...100 {
            bench.giveToken()
            bench.handle(.openFailed(ClientError(.connectionFailed, "Nobody there.")))
            #expect(bench.timers[.pause] == .seconds(min(30, 1 << min(attempt, 10))))
            bench.fire(.pause)
        }
        bench.connect()
        #expect(bench.takeSent().contains { $0["type"] == "subscribe" })
    }

    @Test("the pauses begin anew only when the socket has worked for ten seconds")
    func reset() {
        var bench = Self.live()
        #expect(bench.timers[.steady] == .seconds(10))
        for pause in [2, 4, 8] {
            bench.close(code: nil)
            #expect(bench.timers[.pause] == .seconds(pause))
            bench.fire(.pause)
            bench.connect()
        }
        bench.fire(.steady)
        bench.close(code: nil)
        #expect(bench.timers[.pause] == .seconds(2))
    }

    @Test("after a stop the time in which to come back is the server's, where it names one")
    func spread() {
        var bench = Self.followed()
        bench.connect(["reconnectSpreadMs": 60_000])
        bench.close(code: 1001)
        #expect(bench.timers[.pause] == .seconds(60))
    }

    @Test("what a server asks for is kept and more, but not for longer than five minutes")
    func retryAfter() {
        for (asked, pause) in [(8, 13), (100_000, 305)] {
            var bench = Self.followed()
            bench.giveToken()
            bench.handle(.openFailed(ClientError(.unavailable, "503", retryAfter: .seconds(asked))))
            #expect(bench.timers[.pause] == .seconds(pause))
        }
    }

    @Test("closes that are the client's fault end its feeds", arguments: [1002, 1003, 1007, 1009, 4400, 4406, 4409])
    func fatal(code: Int) {
        var bench = Self.live()
        bench.close(code: code)
        #expect(bench.takeAll(1).compactMap(\.end) == [.badAnswer])
        #expect(bench.timers[.pause] == nil)
    }

    @Test("a network that is back ends the pause, and the next ones begin anew")
    func networkChanged() {
        var bench = Self.followed()
        for _ in 1...5 {
            bench.giveToken()
            bench.handle(.openFailed(ClientError(.connectionFailed, "Nobody there.")))
            bench.fire(.pause)
        }
        bench.giveToken()
        bench.handle(.network(isUsable: false))
        bench.handle(.openFailed(ClientError(.connectionFailed, "Nobody there.")))
        #expect(bench.timers[.pause] == .seconds(30))
        bench.handle(.network(isUsable: true))
        #expect(bench.timers[.pause] == .milliseconds(300))
        bench.fire(.pause)
        bench.giveToken()
        bench.handle(.openFailed(ClientError(.connectionFailed, "Nobody there.")))
        #expect(bench.timers[.pause] == .seconds(2))
    }

    @Test("a paused client has no socket, and comes back at once when it is resumed")
    func pauseAndResume() {
        var bench = Self.live()
        bench.handle(.pause)
        #expect(!bench.isOpen && bench.timers[.pause] == nil)
        bench.handle(.follow(2, FeedMachine(.topic("t2"), start: .after(cursor: "d"))))
        #expect(bench.wish == nil)
        bench.handle(.resume)
        #expect(bench.timers[.pause] == .milliseconds(300))
        bench.fire(.pause)
        bench.connect()
        #expect(bench.takeSent().count { $0["type"] == "subscribe" } == 2)
    }

    @Test("ten thousand clients of a server that stops come back spread over its time")
    func manyClients() {
        let (restart, step) = (Duration.seconds(1), Duration.milliseconds(100))
        var attempts: [Int: Int] = [:]
        var last = Duration.zero
        for seed in 0..<10_000 {
            let source = SharedRandom(seed: UInt64(seed))
            var bench = MachineBench(random: { source.next() })
            bench.handle(.follow(1, FeedMachine(.topic("t1"), start: .after(cursor: "c"))))
            bench.connect()
            bench.close(code: 1001)
            var time = Duration.zero
            while !bench.isOpen {
                time += bench.timers[.pause] ?? .zero
                attempts[Int(time / step), default: 0] += 1
                bench.fire(.pause)
                bench.giveToken()
                if time < restart {
                    bench.handle(.openFailed(ClientError(.connectionFailed, "Nobody there.")))
                } else {
                    bench.open()
                }
            }
            last = max(last, time)
        }
        #expect(attempts.values.max() ?? 0 <= 300, "of 10,000 in the worst tenth of a second")
        #expect(attempts.values.reduce(0, +) <= 15_000)
        #expect(last <= .seconds(45))
    }

    @Test("a socket that was lost with the network is found out when the network is back")
    func silentLoss() {
        var bench = Self.live()
        bench.text(["type": "pong"])
        bench.handle(.network(isUsable: true))
        #expect(bench.timers[.pong] == .seconds(5))
        bench.text(["type": "pong"])
        #expect(bench.timers[.pong] == nil && bench.isOpen)
        bench.handle(.network(isUsable: true))
        bench.fire(.pong)
        #expect(!bench.isOpen && bench.timers[.pause] != nil)
    }
}
