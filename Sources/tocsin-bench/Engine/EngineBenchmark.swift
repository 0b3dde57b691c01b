import Foundation
import JSON

/// The engine alone beside its peers: the same documents and data, row by row.
///
/// A row goes through all programs before the next begins, so that a busy hour of the machine hits
/// all alike. Each row gets a fresh process, so that none inherits what a large document left
/// behind.
struct EngineBenchmark {
    let options: BenchOptions

    func run() throws {
        // A peer that has ended is told as such, not by the signal.
        signal(SIGPIPE, SIG_IGN)
        let documents = try EngineDocuments()
        defer { documents.remove() }
        let subjects = Subjects(documents, peers: options.peers)
        let pace = MeasurementRequest.Pace(seconds: options.seconds)
        tell(EngineReport.head(pace, programs: subjects.fullNames()))
        for text in subjects.absent { tell("# " + text) }
        var report = EngineReport(documents: documents)
        for row in EngineRow.allCases {
            tell(try report.printed(row, try measure(row, subjects, pace)))
        }
        tell(report.rowsWithoutAllocations())
        tell("\n" + report.summary(peers: subjects.peers.map(\.name)))
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
            ours: try subjects.ours.measure(row.rawValue, pace),
            floors: try row.floors.map { ($0, try subjects.ours.measure($0.rawValue, pace)) }
        )
        for peer in subjects.peers where row.hasPeers && (row.isParsing || !peer.onlyParses) {
            do {
                measured.peers.append((peer.name, try peer.measure(row.rawValue, pace)))
            } catch {
                measured.absent.append((peer.name, "\(error)"))
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
    /// The peers that did not serve it, and why.
    var absent: [(name: String, reason: String)] = []

    init(ours: Measurement, floors: [(EngineFloor, Measurement)]) {
        self.ours = ours
        self.floors = floors
    }
}

/// A program that is measured.
struct Subject {
    var name: String
    var program: URL
    var arguments: [String]
    /// What preloads the counter of calls for memory; `nil` where it is not there, or
    /// would not see the calls.
    var counter: String?
    var onlyParses = false

    func start(counting: Bool = false) throws -> PeerProcess {
        let environment = counting ? counter.map { ["LD_PRELOAD": $0] } : nil
        return try PeerProcess(name, program: program, arguments: arguments, environment: environment ?? [:])
    }

    /// Measures in a fresh process, and counts calls for memory in another, so that counting
    /// costs the first nothing.
    func measure(_ row: String, _ pace: MeasurementRequest.Pace) throws -> Measurement {
        var figures = try measureOnce(row, pace, counting: false)
        if counter != nil { figures.allocations = try measureOnce(row, .counting, counting: true).allocations }
        return figures
    }

    private func measureOnce(
        _ row: String,
        _ pace: MeasurementRequest.Pace,
        counting: Bool
    ) throws -> Measurement {
        let process = try start(counting: counting)
        defer { process.stop() }
        return try process.measure(row, pace)
    }
}

/// Our engine and those of the peers that are there.
struct Subjects {
    let ours: Subject
    let peers: [Subject]
    /// What is to be said about those that are not.
    let absent: [String]

    /// The programs in the folder of peers, and what is said where one is missing.
    private static let known = [
        ("graphql-js", "graphql-js is not there: its rows are left out."),
        ("graphql-core", "graphql-core is not there: its rows are left out."),
        (onlyParser, "libgraphqlparser is not there; its published figure, not of this run, is 33 MB/s."),
    ]
    /// It has no validation and no execution; it also is the one peer that gets its memory
    /// where the counter looks.
    private static let onlyParser = "libgraphqlparser"

    init(_ documents: EngineDocuments, peers folder: URL?) {
        let path = documents.folder.path()
        let library = folder?.appending(path: "liballocations.so").path()
        let counter = library.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        ours = Subject(name: "Tocsin", program: own, arguments: ["engine-subject", path], counter: counter)
        var peers: [Subject] = []
        var absent: [String] = []
        if counter == nil {
            absent.append("Calls for memory are not counted: the counter is not there (scripts/bench.sh builds it).")
        }
        for (name, words) in Self.known {
            guard let program = folder?.appending(path: name),
                FileManager.default.isExecutableFile(atPath: program.path())
            else {
                absent.append(words)
                continue
            }
            var peer = Subject(name: name, program: program, arguments: [path])
            if name == Self.onlyParser { (peer.onlyParses, peer.counter) = (true, counter) }
            peers.append(peer)
        }
        (self.peers, self.absent) = (peers, absent)
    }

    /// What the programs call themselves, with their versions.
    func fullNames() -> [String] {
        ([ours] + peers).map { subject in
            do {
                let process = try subject.start()
                defer { process.stop() }
                return process.fullName
            } catch {
                return "\(error)"
            }
        }
    }
}
