import Foundation
import JSON

/// One row to measure, as it is asked for in a line (`scripts/peers/README.md`).
struct MeasurementRequest {
    var row: String
    var warmUpSeconds: Double
    var roundSeconds: Double
    var rounds: Int

    init(row: String, pace: Pace) {
        self.row = row
        warmUpSeconds = pace.warmUpSeconds
        roundSeconds = pace.roundSeconds
        rounds = pace.rounds
    }

    init?(line: String) {
        guard let value = try? JSONParser.parse(line), let row = value["row"]?.stringValue,
            let warmUp = value["warmUpSeconds"]?.doubleValue, let round = value["roundSeconds"]?.doubleValue,
            let rounds = value["rounds"]?.intValue
        else { return nil }
        self.row = row
        (warmUpSeconds, roundSeconds, self.rounds) = (warmUp, round, Int(rounds))
    }

    /// When a row whose operations take longer than a round is left after three of them.
    var slowSeconds: Double { 2 * roundSeconds * Double(rounds) }

    var json: JSONValue {
        [
            "row": .string(row), "warmUpSeconds": .double(warmUpSeconds), "roundSeconds": .double(roundSeconds),
            "rounds": .int(Int64(rounds)),
        ]
    }

    /// How long is measured.
    struct Pace {
        var warmUpSeconds: Double
        var roundSeconds: Double
        var rounds: Int

        /// Measures for this many seconds of CPU time, and a fifth more to warm up; compilers at
        /// run time need a second at least.
        init(seconds: Double) {
            (warmUpSeconds, roundSeconds, rounds) = (max(1, seconds / 5), seconds / 7, 7)
        }

        /// Long enough to count calls for memory, which do not depend on time.
        static var counting: Pace {
            var pace = Pace(seconds: 0.1)
            (pace.warmUpSeconds, pace.rounds) = (0.1, 1)
            return pace
        }

        var totalSeconds: Double { warmUpSeconds + roundSeconds * Double(rounds) }
    }
}

/// What was measured of a row, as it is answered in a line.
struct Measurement {
    /// CPU of one operation, by round.
    var cpuMicroseconds: [Double]
    var operations: Int
    var seconds: Double
    var memoryBytes: Int
    /// Calls for memory, an operation.
    var allocations: Double?
    /// How many definitions the document has that was parsed.
    var definitions: Int?
    /// The file with the response's bytes.
    var answer: String?

    /// CPU of one operation: the median of the rounds, which a busy neighbour moves least.
    var medianMicroseconds: Double {
        let sorted = cpuMicroseconds.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// How far the rounds lie apart, as a part of their median.
    var spread: Double {
        guard let least = cpuMicroseconds.min(), let most = cpuMicroseconds.max(), medianMicroseconds > 0 else {
            return 0
        }
        return (most - least) / medianMicroseconds
    }

    var perSecond: Double { Double(operations) / max(seconds, 1e-9) }

    /// The line that answers for a row.
    func json(row: String) -> JSONValue {
        var members: JSONObject = [
            "row": .string(row), "cpuMicroseconds": .array(cpuMicroseconds.map { .double($0) }),
            "operations": .int(Int64(operations)), "seconds": .double(seconds), "memoryBytes": .int(Int64(memoryBytes)),
        ]
        if let allocations { members["allocations"] = .double(allocations) }
        if let definitions { members["definitions"] = .int(Int64(definitions)) }
        if let answer { members["answer"] = .string(answer) }
        return .object(members)
    }
}

extension Measurement {
    /// Reads a line; `nil` where the row is not served.
    init?(_ value: JSONValue) {
        guard let rounds = value["cpuMicroseconds"]?.arrayValue, let seconds = value["seconds"]?.doubleValue,
            let operations = value["operations"]?.intValue
        else { return nil }
        self.init(
            cpuMicroseconds: rounds.compactMap(\.doubleValue),
            operations: Int(operations),
            seconds: seconds,
            memoryBytes: Int(value["memoryBytes"]?.intValue ?? 0),
            allocations: value["allocations"]?.doubleValue,
            definitions: value["definitions"]?.intValue.map(Int.init),
            answer: value["answer"]?.stringValue
        )
    }

    /// Measures in this process: `work` does its operation so many times.
    static func take(_ request: MeasurementRequest, _ work: (Int) async throws -> Void) async rethrows -> Measurement {
        ProcessUsage.resetOwnPeakMemory()
        var batch = 1
        _ = try await repeated(for: request.warmUpSeconds, &batch, work)
        var result = Measurement(cpuMicroseconds: [], operations: 0, seconds: 0, memoryBytes: 0)
        let clock = ContinuousClock()
        let (start, startCPU) = (clock.now, ProcessUsage.ownCPU())
        for round in 0..<request.rounds {
            if round >= 3, ProcessUsage.ownCPU() - startCPU > request.slowSeconds { break }
            let before = ProcessUsage.ownCPU()
            let operations = try await repeated(for: request.roundSeconds, &batch, work)
            result.cpuMicroseconds.append((ProcessUsage.ownCPU() - before) * 1_000_000 / Double(operations))
            result.operations += operations
        }
        result.seconds = (clock.now - start) / .seconds(1)
        result.memoryBytes = (try? ProcessUsage.peakMemory(of: getpid())) ?? 0
        if let count = AllocationCounter.preloaded {
            let operations = max(100, min(batch, 1000))
            let before = count()
            try await work(operations)
            result.allocations = Double(count() - before) / Double(operations)
        }
        return result
    }

    /// Batches grow until one takes a millisecond, so that looking at the clock costs nothing.
    ///
    /// Time is CPU time: on a busy machine a second of the clock may hold little work.
    private static func repeated(
        for seconds: Double,
        _ batch: inout Int,
        _ work: (Int) async throws -> Void
    ) async rethrows -> Int {
        let start = ProcessUsage.ownCPU()
        var (now, operations) = (start, 0)
        repeat {
            let began = now
            try await work(batch)
            operations += batch
            now = ProcessUsage.ownCPU()
            if now - began < 0.001 { batch *= 2 }
        } while now - start < seconds
        return operations
    }
}

/// The counter of `scripts/peers/allocations.c`.
enum AllocationCounter {
    /// Calls for memory of this process so far; `nil` where the counter is not preloaded.
    static let preloaded: (@convention(c) () -> UInt64)? = {
        guard let symbol = dlsym(nil, "tocsin_bench_allocations") else { return nil }
        // A symbol is an address; only its declaration in C says that it is this function.
        return unsafeBitCast(symbol, to: (@convention(c) () -> UInt64).self)
    }()
}
