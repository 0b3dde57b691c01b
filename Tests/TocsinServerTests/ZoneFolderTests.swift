import Foundation
import Testing
import TocsinCore
import TocsinServer

@Suite("Time zones of the system")
struct ZoneFolderTests {
    private struct Clock: TimeSource {
        func now() -> Timestamp { Timestamp(milliseconds: 1_795_000_000_000) }
        func sleep(until moment: Timestamp) async throws {}
    }

    /// Prints for each zone what its clocks show at random moments, then which moments random
    /// times of the clocks mean.
    private static let script = """
        import random, zoneinfo, datetime as d
        random.seed(9636)
        utc, epoch = d.timezone.utc, d.datetime(1970, 1, 1)
        moments = [random.randrange(0, 4102444800) for _ in range(120)]
        # Hours around the Sundays on which clocks change.
        for year in range(2020, 2045, 3):
            for month in (3, 4, 10, 11):
                base = int(d.datetime(year, month, 1, tzinfo=utc).timestamp())
                moments += [base + random.randrange(0, 31 * 48) * 1800 for _ in range(20)]
        print(*moments)
        # These say another thing on each machine, and are refused.
        for name in sorted(zoneinfo.available_timezones() - {"localtime", "posixrules", "Factory"}):
            zone = zoneinfo.ZoneInfo(name)
            offsets, walls = [], []
            for m in moments:
                offsets.append(int(d.datetime.fromtimestamp(m, zone).utcoffset().total_seconds()))
                wall = (epoch + d.timedelta(seconds=m))
                walls += [int(wall.replace(tzinfo=zone, fold=f).timestamp()) for f in (0, 1)]
            print(name, *offsets, *walls)
        """

    private static func lines() throws -> [[Substring]] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
    }

    @Test("every zone shows what Python's zoneinfo shows, in both directions, from 1970 to 2100")
    func zones() throws {
        let lines = try Self.lines()
        let moments = try #require(lines.first).compactMap { Int64($0) }
        let folder = ZoneFolder(path: "", time: Clock())
        try #require(lines.count > 300, "tzdata and python3 are needed")
        var wrong: [String] = []
        for line in lines.dropFirst() {
            let name = String(line[0])
            guard let zone = folder.zone(named: name) else {
                wrong.append("\(name) cannot be read")
                continue
            }
            let numbers = line.dropFirst().compactMap { Int64($0) }
            for (index, moment) in moments.enumerated() {
                if zone.offset(at: moment) != numbers[index] { wrong.append("\(name) at \(moment)") }
                let first = numbers[moments.count + 2 * index]
                let second = numbers[moments.count + 2 * index + 1]
                let isRight =
                    switch zone.moments(ofWall: moment) {
                    case .one(let found): found == first && found == second
                    case .two(let one, let other): one == first && other == second
                    case .skipped(let change): first > second && second < change && change <= first
                    }
                if !isRight { wrong.append("\(name), wall \(moment)") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(10))")
    }

    @Test("what is no zone of the folder is not known, and UTC is without any folder")
    func unknown() {
        let folder = ZoneFolder(path: "/nowhere", time: Clock())
        #expect(folder.zone(named: "Europe/Berlin") == nil)
        #expect(folder.zone(named: "UTC") == .utc)
        #expect(ZoneFolder(path: "", time: Clock()).zone(named: "tzdata.zi") == nil)
        #expect(ZoneFolder(path: "", time: Clock()).zone(named: "Europe") == nil)
    }
}
