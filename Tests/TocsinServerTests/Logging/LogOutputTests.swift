import Foundation
import Glibc
import Synchronization
import Testing
import TocsinServer

@Suite("Where the log goes", .timeLimit(.minutes(5)))
struct LogOutputTests {
    /// The two ends of a pipe.
    private final class Pipe: Sendable {
        let reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            (reading, writing) = (ends[0], ends[1])
        }

        deinit { close(reading) }

        func endWriting() { close(writing) }

        /// All lines until nobody writes any more.
        func lines() -> [Substring] {
            var all: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(reading, &piece, piece.count)
                guard count > 0 else { return String(decoding: all, as: UTF8.self).split(separator: "\n") }
                all += piece.prefix(count)
            }
        }
    }

    @Test("while nobody reads, lines beyond the buffer are dropped, and later one line says how many")
    func dropped() throws {
        let pipe = try Pipe()
        let output = LogOutput(descriptor: pipe.writing, maximumBytes: 10_000) { Array("lost \($0)\n".utf8) }
        let count = 5000
        // More than the pipe and the buffer hold together: this ends only
        // because it waits for nobody.
        for number in 1...count { output.write(Array("\(number) \(String(repeating: "x", count: 100))\n".utf8)) }
        output.flush(within: .milliseconds(1))
        let reading = DispatchQueue(label: "reader")
        let lines = Mutex<[Substring]>([])
        reading.async { lines.withLock { $0 = pipe.lines() } }
        output.flush(within: .seconds(60))
        output.write(Array("the end\n".utf8))
        output.flush(within: .seconds(60))
        pipe.endWriting()
        // Comes after the other on its queue.
        let seen = reading.sync { lines.withLock { $0 } }
        let losses = seen.filter { $0.hasPrefix("lost ") }.compactMap { Int($0.dropFirst(5)) }
        let kept = seen.filter { $0.hasSuffix("x") }.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        #expect(losses.reduce(0, +) > 0)
        #expect(losses.reduce(kept.count, +) == count)
        #expect(kept == kept.sorted() && kept.first == 1, "what is there is in order")
        #expect(seen.last == "the end")
        #expect(seen.count == losses.count + kept.count + 1, "and whole")
    }

    @Test("a line larger than the buffer is lost alone")
    func largeLine() throws {
        let pipe = try Pipe()
        let output = LogOutput(descriptor: pipe.writing, maximumBytes: 100) { Array("lost \($0)\n".utf8) }
        output.write([UInt8](repeating: UInt8(ascii: "x"), count: 200))
        output.flush(within: .seconds(60))
        output.write(Array("two\n".utf8))
        output.flush(within: .seconds(60))
        pipe.endWriting()
        #expect(pipe.lines() == ["lost 1", "two"])
    }

    @Test("what cannot be written at all is told with the first line that can, and nobody waits for it")
    func failure() throws {
        let pipe = try Pipe()
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        let output = LogOutput(descriptor: full) { Array("lost \($0)\n".utf8) }
        output.write(Array("one\n".utf8))
        output.flush(within: .seconds(60))
        #expect(dup2(pipe.writing, full) == full)
        output.write(Array("two\n".utf8))
        output.flush(within: .seconds(60))
        close(full)
        pipe.endWriting()
        #expect(pipe.lines() == ["lost 1", "two"])
    }
}
