import Foundation

/// `tocsin-bench [create] [query] [push] [--seconds N] [--connections N]`: each figure beside its floor, in one run.
@main
enum Bench {
    static func main() async {
        do {
            let options = try BenchOptions(CommandLine.arguments.dropFirst())
            print(
                "# tocsin-bench on \(ProcessInfo.processInfo.activeProcessorCount) cores, \(options.seconds) s a measurement"
            )
            for name in options.names {
                switch name {
                case "create": try await CreateBenchmark(options: options).run()
                case "query": try await QueryBenchmark(options: options).run()
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

    static let known = ["create", "query", "push"]

    var names: [String] = []
    var seconds = 5.0
    var connections = 64

    init(_ arguments: ArraySlice<String>) throws(Misuse) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--seconds": seconds = try Self.number(&rest, argument)
            case "--connections": connections = Int(try Self.number(&rest, argument))
            case let name where Self.known.contains(name): names.append(name)
            default:
                throw Misuse(
                    description: "unknown argument \(argument). Usage: tocsin-bench [create] [query] [push] "
                        + "[--seconds N] [--connections N]"
                )
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
