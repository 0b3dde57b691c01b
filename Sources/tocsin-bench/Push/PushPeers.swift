import Foundation
import JSON

/// Other senders against the same sink, each a program in the folder of peers
/// (`scripts/peers/README.md`).
struct PushPeers {
    let folder: URL?
    private static let senders = [
        (file: "go-sender", name: "Go net/http, 1 connection, 1000 at once", pushes: 100_000, atOnce: 1000),
        (file: "aioapns-sender", name: "Python aioapns, 1 connection, 500 at once", pushes: 5000, atOnce: 500),
    ]

    /// The figures of those that are there; what is missing or failed is said.
    func measure(_ sink: SinkProcess) -> [Figures] {
        var figures: [Figures] = []
        for sender in Self.senders {
            guard let program = folder?.appending(path: sender.file),
                FileManager.default.isExecutableFile(atPath: program.path())
            else {
                tell("peer: \(sender.name) is not installed")
                continue
            }
            do {
                let arguments = [
                    sink.origin, sink.authorityPath, "\(sender.pushes)", "\(sender.atOnce)", sink.keyPath,
                ]
                figures.append(try run(program, arguments, sender.name))
            } catch {
                tell("peer: \(sender.name) failed: \(error)")
            }
        }
        return figures
    }

    private func run(_ program: URL, _ arguments: [String], _ name: String) throws -> Figures {
        let process = Process(program, arguments)
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        let output = try process.finish(reading: pipe)
        guard process.terminationStatus == 0, let answer = try? JSONParser.parse(output),
            let pushes = answer["pushes"]?.intValue, let seconds = answer["seconds"]?.doubleValue,
            let cpuSeconds = answer["cpuSeconds"]?.doubleValue
        else { throw BenchFailure("status \(process.terminationStatus)") }
        return Figures(name: name, operations: Int(pushes), seconds: seconds, cpuSeconds: cpuSeconds)
    }
}
