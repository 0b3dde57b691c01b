import Foundation
import JSON

/// The engine alone beside its peers: the same documents and data, row by row, each program in a process of its own.
///
/// A row goes through all programs before the next begins, so that a busy hour of the machine hits all alike.
struct EngineBenchmark {
    let options: BenchOptions

    func run() throws {
        // A peer that has ended is told as such, not by the signal.
        signal(SIGPIPE, SIG_IGN)
        let documents = try EngineDocuments()
        defer { documents.remove() }
        let subjects = try Subjects(documents, peers: options.peers)
        let pace = MeasurementRequest.Pace(seconds: options.seconds)
        print(EngineReport.head(pace, programs: subjects.all.map(\.fullName)))
        for text in subjects.absent { print("# " + text) }
        var report = EngineReport(documents: documents)
        for row in EngineRow.allCases {
            let measured = try measure(row, subjects, pace)
            print(try report.printed(row, measured))
        }
        print(report.rowsWithoutAllocations())
        print("\n" + report.summary(peers: subjects.peers.map(\.name)))
        guard report.disagreements.isEmpty else {
            throw BenchFailure(report.disagreements.joined(separator: "\n"))
        }
    }

    private func measure(
        _ row: EngineRow,
        _ subjects: Subjects,
        _ pace: MeasurementRequest.Pace
    ) throws -> MeasuredRow {
        var measured = MeasuredRow(
            ours: try subjects.measureOurs(row.rawValue, pace),
            floors: try row.floors.map { ($0, try subjects.measureOurs($0.rawValue, pace)) }
        )
        guard row.hasPeers else { return measured }
        for peer in subjects.peers where row.isParsing || !Subjects.onlyParsing.contains(peer.name) {
            switch try peer.measure(row.rawValue, pace) {
            case .success(var figures):
                if let counted = subjects.counted[peer.name] {
                    figures.allocations = try counted.measure(row.rawValue, .counting).get().allocations
                }
                measured.peers.append((peer.name, figures))
            case .failure(let reason): measured.absent.append((peer.name, reason.description))
            }
        }
        return measured
    }
}

/// The figures of a row.
struct MeasuredRow {
    var ours: Measurement
    var floors: [(floor: EngineFloor, figures: Measurement)]
    var peers: [(name: String, figures: Measurement)] = []
    /// The peers that do not serve it, and why.
    var absent: [(name: String, reason: String)] = []

    init(ours: Measurement, floors: [(EngineFloor, Measurement)]) {
        self.ours = ours
        self.floors = floors
    }
}

/// Our engine and those of the peers that are there.
struct Subjects {
    let peers: [PeerProcess]
    /// What is to be said about those that are not.
    let absent: [String]
    /// The same programs with the counter of calls for memory, for those whose calls it sees.
    let counted: [String: PeerProcess]
    private let ours: PeerProcess

    var all: [PeerProcess] { [ours] + peers }

    init(_ documents: EngineDocuments, peers folder: URL?) throws {
        let path = documents.folder.path()
        let counter = folder?.appending(path: "liballocations.so").path()
        let preload = counter.flatMap { FileManager.default.fileExists(atPath: $0) ? ["LD_PRELOAD": $0] : nil }
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        ours = try PeerProcess("Tocsin", program: own, arguments: ["engine-subject", path])
        var counted: [String: PeerProcess] = [:]
        var absent: [String] = []
        var peers: [PeerProcess] = []
        if let preload {
            counted[ours.name] = try PeerProcess(
                ours.name,
                program: own,
                arguments: ["engine-subject", path],
                environment: preload
            )
        } else {
            absent.append("Calls for memory are not counted: the counter is not there (scripts/bench.sh builds it).")
        }
        for (file, words) in Self.known {
            guard let program = folder?.appending(path: file),
                FileManager.default.isExecutableFile(atPath: program.path())
            else {
                absent.append(words)
                continue
            }
            let peer = try PeerProcess(file, program: program, arguments: [path])
            peers.append(peer)
            // The others have memory managers of their own, whose calls the counter does not see.
            guard file == "libgraphqlparser", let preload else { continue }
            counted[peer.name] = try PeerProcess(file, program: program, arguments: [path], environment: preload)
        }
        (self.peers, self.absent, self.counted) = (peers, absent, counted)
    }

    /// The programs in the folder of peers, and what is said where one is missing.
    private static let known = [
        ("graphql-js", "graphql-js is not there: its rows are left out."),
        ("graphql-core", "graphql-core is not there: its rows are left out."),
        ("libgraphqlparser", "libgraphqlparser is not there; measured elsewhere, not in this run: it parses 33 MB/s."),
    ]

    /// The peers that are asked for no more than parsing.
    static let onlyParsing: Set = ["libgraphqlparser"]

    /// Our own figures, with the calls for memory counted in a second process.
    func measureOurs(_ row: String, _ pace: MeasurementRequest.Pace) throws -> Measurement {
        var figures = try ours.measure(row, pace).get()
        if let counted = counted[ours.name] {
            figures.allocations = try counted.measure(row, .counting).get().allocations
        }
        return figures
    }
}
