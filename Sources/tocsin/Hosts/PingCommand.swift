import ArgumentParser
import FoundationEssentials
import Glibc
import TocsinClient

/// `tocsin ping`: a monitor is told that a job begins and how it ended.
struct PingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Run a command, and tell a monitor when it begins and how it ended.",
        discussion: """
            The command has this one's standard input, output and error. Its last 10,000 bytes of output go with the \
            ping of its end. This command ends as that one did, with 128 and the signal's number after a signal, also \
            when the server is away: a ping is tried for up to 10 s. SIGTERM, SIGINT, SIGHUP and SIGQUIT are handed \
            on. What a command leaves running behind it is not waited for.

            Without a command there is one ping of success.

            EXAMPLES
              tocsin ping --key-file /etc/tocsin/backup.key --url https://tocsin.example -- /usr/local/bin/backup --all
              tocsin ping abcdefghijklmnopqrstuvwxyz234567

            ENVIRONMENT
              TOCSIN_URL       the server's address
              TOCSIN_KEY_FILE  the file with the monitor's key

            FILES
              /etc/default/tocsin-host  variables for the whole host

            EXIT STATUS
              that of the command; 127 it is not there, 126 it cannot be run, 2 wrong use
            """
    )

    @Argument(
        help: "The monitor's key, or an integration's key and a monitor: KEY/SLUG. Others see it; a file is safer."
    )
    var key: String?

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    @Option(name: [.customLong("url"), .customLong("server")], help: "The server's address. Default: $TOCSIN_URL.")
    var url: String?

    @Option(help: "The file with the monitor's key. Default: $TOCSIN_KEY_FILE.")
    var keyFile: String?

    @Option(help: "A PEM file with further certificate authorities to trust.")
    var caFile: String?

    func run() async throws {
        let pinger = try makePinger()
        guard !command.isEmpty else {
            if let failure = await pinger.ping("") { throw CommandFailure("The ping was not taken: \(failure).") }
            return
        }
        let process = WatchedProcess()
        async let start = pinger.ping("/start")
        let end = await process.run(command)
        if let failure = await start { Terminal.remark("The ping of the start was not taken: \(failure).") }
        if let failure = await pinger.ping("/\(end.status)", body: end.output) {
            Terminal.remark("The ping of the end was not taken: \(failure).")
        }
        // Not thrown: 64 of the command is no wrong use of this one.
        Glibc.exit(end.status)
    }

    private func makePinger() throws -> Pinger {
        let environment = HostVariables()
        var settings = ClientSettings()
        settings.certificateAuthorityFile = caFile
        settings.allowsPlainText = true
        do throws(ClientError) {
            let key: String
            if let given = self.key {
                key = given
            } else if let file = keyFile ?? environment["TOCSIN_KEY_FILE"] {
                key = try SpoolPoster.key(in: file)
            } else {
                throw ClientError(.unauthenticated, "there is no key: give it, or --key-file")
            }
            let address = url ?? environment["TOCSIN_URL"] ?? "http://127.0.0.1:8080"
            return try Pinger(key: key, caller: PathCaller(url: address, settings: settings))
        } catch {
            throw CommandFailure("No ping is possible: \(SpoolPoster.clause(error)).", status: 2)
        }
    }
}

/// Pings one monitor; start and end have one id.
private struct Pinger: Sendable {
    private let path: String
    private let caller: PathCaller
    private let runID = UUID().uuidString.lowercased()

    private static let patience: Duration = .seconds(10)
    private static let attempts = 3

    init(key: String, caller: PathCaller) throws(ClientError) {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy { part in
            part.contains { $0 != "." } && part.utf8.count <= 512
                && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._~-".contains($0)) }
        }
        guard isPlain, parts.count <= 2 else {
            throw ClientError(.unauthenticated, "what was given is no key: keys have letters and digits")
        }
        self.caller = caller
        path = "/ping/" + key
    }

    /// Pings, and says why it was in vain.
    func ping(_ signal: String, body: [UInt8] = []) async -> String? {
        let end = ContinuousClock.now + Self.patience
        let request = PathCaller.Request(path: "\(path)\(signal)?rid=\(runID)", body: body)
        var failure = ""
        for attempt in 0..<Self.attempts {
            // Only a cancellation cuts it short, which nobody asks for here.
            if attempt > 0 { try? await Task.sleep(for: .seconds(1)) }
            do throws(ClientError) {
                let answer = try await caller.post(request, until: end)
                if (200..<300).contains(answer.status) { return nil }
                failure = "the server answered \(answer.status)"
                if (400..<500).contains(answer.status), answer.status != 429 { return failure }
            } catch {
                failure = SpoolPoster.clause(error)
            }
            guard ContinuousClock.now + .seconds(1) < end else { break }
        }
        return failure
    }
}
