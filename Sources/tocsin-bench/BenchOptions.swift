import Foundation

/// What the command line asks for.
struct BenchOptions: Sendable {
    struct Misuse: Error, CustomStringConvertible {
        let description: String
    }

    static let known = ["query", "store", "push", "live", "engine", "alerts"]
    static let usage =
        "tocsin-bench [\(known.joined(separator: "] ["))] [--seconds N] [--pushes N] [--devices N] [--subscribers N] [--peers FOLDER]"

    var wantsHelp = false
    var names: [String] = []
    var seconds = 5.0
    /// Pushes of the whole way through the outbox.
    var pushes = 1_000_000
    /// Devices of its topic.
    var devices = 200_000
    /// Subscribers of the live feed.
    var subscribers = 10_000
    /// Where `scripts/bench.sh` has put the peers.
    var peers: URL?

    init(_ arguments: ArraySlice<String>) throws(Misuse) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--seconds": seconds = try Self.number(&rest, argument)
            case "--pushes": pushes = Int(try Self.number(&rest, argument))
            case "--devices": devices = Int(try Self.number(&rest, argument))
            case "--subscribers": subscribers = Int(try Self.number(&rest, argument))
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
