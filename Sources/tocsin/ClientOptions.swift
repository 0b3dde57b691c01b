import ArgumentParser
import FoundationEssentials
import Glibc
import TocsinClient
import TocsinServer

/// Where the server is and how to sign in: the same for every client command.
struct ClientOptions: ParsableArguments {
    @Option(help: "The server's address. Default: $TOCSIN_URL, else http://127.0.0.1:8080.")
    var server: String?

    @Option(help: "The token to sign in with. Default: $TOCSIN_TOKEN, which other users of the machine cannot see.")
    var token: String?

    @Option(help: "A PEM file with further certificate authorities to trust.")
    var caFile: String?

    /// The server's address that the options, or else the environment, name.
    var address: String { Self.address(server) }

    private static func address(_ server: String?) -> String {
        server ?? ProcessInfo.processInfo.environment["TOCSIN_URL"] ?? "http://127.0.0.1:8080"
    }

    /// Runs a command's work with a client, which is closed behind it.
    func run(_ work: (TocsinClient) async throws -> Void) async throws {
        let client = try makeClient()
        try await runClient { try await work(client) }
        client.close()
    }

    /// A client for the server that the options, or else the environment, name.
    func makeClient() throws -> TocsinClient {
        try Self.makeClient(server: server, token: token, caFile: caFile, flag: "--token")
    }

    /// The same for a command whose options have other names; `flag` is that of the token.
    static func makeClient(server: String?, token: String?, caFile: String?, flag: String) throws -> TocsinClient {
        let environment = ProcessInfo.processInfo.environment
        let token = token ?? environment["TOCSIN_TOKEN"]
        guard let token, !token.isEmpty else {
            throw ValidationError(
                "No token. Give \(flag) or set TOCSIN_TOKEN; `tocsin token create --user NAME` makes one on the server."
            )
        }
        var settings = ClientSettings()
        settings.certificateAuthorityFile = caFile
        // Who types an address knows the network.
        settings.allowsPlainText = true
        settings.userAgent = ClientVersion.commandLine
        do throws(ClientError) {
            return try TocsinClient(url: address(server), token: token, settings: settings)
        } catch {
            throw ValidationError(error.message)
        }
    }
}

/// Where client commands write: results to standard output, at once; what people
/// should know to standard error.
enum Terminal {
    /// Writes a line of the result.
    static func print(_ line: String) {
        write(Array((line + "\n").utf8))
    }

    /// Writes a result; ends the command when nobody can have it.
    static func write(_ bytes: [UInt8]) {
        do throws(SystemFile.Failure) {
            try SystemFile.write(bytes, to: STDOUT_FILENO)
        } catch {
            remark("Standard output cannot be written: \(error.reason).")
            exit(1)
        }
    }

    /// Writes a remark for people.
    static func remark(_ line: String) {
        StandardError.write("tocsin: \(line)\n")
    }

    /// The text without characters that could steer a terminal; line ends stay.
    static func harmless(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isHarmless($0) ? $0 : "\u{FFFD}" }))
    }

    /// Whether it could not steer a terminal; line ends could not.
    static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar == "\n" || scalar == "\t"
        case .format: scalar == "\u{200D}"
        default: true
        }
    }
}

extension ClientError {
    /// What happened and what to do, in the words of the command line.
    fileprivate var words: String {
        switch code {
        case .topicNotFound:
            "\(message) `tocsin topic list` lists those that you may, and `tocsin topic create NAME` makes one."
        // The server names its field; what people have typed is a command.
        case .unauthorized:
            "The server does not allow this (\(code)): what you name is not there or not yours, or your token may do "
                + "less."
        default: description + (oldestCursor.map { " The oldest cursor that can be honoured: \($0)" } ?? "")
        }
    }
}

/// Runs the work of a client command; a failure of the client's becomes the command's.
func runClient(_ work: () async throws -> Void) async throws {
    do {
        try await work()
    } catch let error as ClientError {
        throw CommandFailure(Terminal.harmless(error.words))
    }
}
