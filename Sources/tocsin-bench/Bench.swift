import Foundation

/// Each figure beside its floor or its peers, in one run; `BenchOptions.usage`
/// says what can be asked for.
@main
enum Bench {
    static func main() async {
        do {
            let arguments = CommandLine.arguments.dropFirst()
            if arguments.first == "engine-subject", let folder = arguments.last, arguments.count == 2 {
                return try await EngineSubject(folder: folder).run()
            }
            if arguments == ["live-readers"] { return try LiveReader().run() }
            let options = try BenchOptions(arguments)
            if options.wantsHelp { return tell(BenchOptions.usage) }
            tell(
                "# tocsin-bench on \(ProcessInfo.processInfo.activeProcessorCount) cores, \(options.seconds) s a measurement"
            )
            for name in options.names {
                switch name {
                case "query": try await QueryBenchmark(options: options).run()
                case "live": try LiveBenchmark(options: options).run()
                case "store": try await StoreBenchmark(options: options).run()
                case "alerts": try AlertsBenchmark(options: options).run()
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

/// Why a benchmark could not run.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
