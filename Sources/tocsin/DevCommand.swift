import ArgumentParser
import Logging
import TocsinHTTP

/// The hidden command `tocsin dev`: what developers of the server need and nobody else.
struct DevCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Tools for developers of the server.",
        shouldDisplay: false,
        subcommands: [WebSocketEcho.self]
    )

    struct WebSocketEcho: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ws-echo",
            abstract: "Echo WebSocket messages on the server's own socket code, for protocol suites."
        )

        @Option(help: "The port to listen on; 0 takes a free one.")
        var port: Int = 9001

        @Option(help: "The longest message, in bytes.")
        var maximumMessageBytes: Int = 32 << 20

        func validate() throws {
            guard (0...65_535).contains(port) else { throw ValidationError("--port must be 0 to 65535.") }
            guard (125...1 << 30).contains(maximumMessageBytes) else {
                throw ValidationError("--maximum-message-bytes must be 125 to \(1 << 30).")
            }
        }

        func run() async throws {
            let signals = StopSignals()
            let logger = Logger(label: "ws-echo") { _ in SwiftLogNoOpLogHandler() }
            let server = WebSocketEchoServer(port: port, maximumMessageBytes: maximumMessageBytes, logger: logger)
            do {
                Terminal.print("ws://127.0.0.1:\(try await server.start())/")
            } catch {
                throw CommandFailure(error.description)
            }
            await signals.first()
            await server.stop()
        }
    }
}
