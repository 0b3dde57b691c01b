import Foundation

/// Each figure beside its floor or its peers, in one run; `BenchOptions.usage` says what can be asked for.
@main
enum Bench {
    static func main() async {
        do {
            let arguments = CommandLine.arguments.dropFirst()
            if arguments.first == "engine-subject", let folder = arguments.last, arguments.count == 2 {
                return try await EngineSubject(folder: folder).run()
            }
            let options = try BenchOptions(arguments)
            if options.wantsHelp { return print(BenchOptions.usage) }
            print(
                "# tocsin-bench on \(ProcessInfo.processInfo.activeProcessorCount) cores, \(options.seconds) s a measurement"
            )
            for name in options.names {
                switch name {
                case "create": try await CreateBenchmark(options: options).run()
                case "query": try await QueryBenchmark(options: options).run()
                case "engine": try EngineBenchmark(options: options).run()
                default: try await PushBenchmark(options: options).run()
                }
            }
        } catch {
            FileHandle.standardError.write(Data("tocsin-bench: \(error)\n".utf8))
            exit(error is BenchOptions.Misuse ? 2 : 1)
        }
    }
}

/// What the command line asks for.
struct BenchOptions: Sendable {
    struct Misuse: Error, CustomStringConvertible {
        let description: String
    }

    static let known = ["create", "query", "push", "engine"]
    static let usage =
        "tocsin-bench [\(known.joined(separator: "] ["))] [--seconds N] [--connections N] [--peers FOLDER]"

    var wantsHelp = false
    var names: [String] = []
    var seconds = 5.0
    var connections = 64
    /// Where `scripts/bench.sh` has put the engine's peers.
    var peers: URL?

    init(_ arguments: ArraySlice<String>) throws(Misuse) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--seconds": seconds = try Self.number(&rest, argument)
            case "--connections": connections = Int(try Self.number(&rest, argument))
            case "--peers":
                guard let folder = rest.popFirst() else { throw Misuse(description: "--peers needs a folder") }
                peers = URL(filePath: folder)
            case "--help", "-h": wantsHelp = true
            case let name where Self.known.contains(name): names.append(name)
            default:
                throw Misuse(description: "unknown argument \(argument). Usage: \(Self.usage)")
            }
        }
        if names.isEmpty { names = Self.known }
    }

    private static func number(_ rest: inout ArraySlice<String>, _ name: String) throws(Misuse) -> Double {
        guard let text = rest.popFirst(), let value = Double(text), value >= 1 else {
            throw Misuse(description: "\(name) needs a number of at least 1")
        }
        return value
    }
}

/// Why a benchmark could not run.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
