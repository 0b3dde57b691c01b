import ArgumentParser
import Glibc
import JSON
import TocsinClient
import TocsinContent
import TocsinServer

/// `tocsin client`: what pages and apps take with them.
struct ClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "Write out the client for browsers, scripts for web views, and the clients' documents.",
        subcommands: [JavaScript.self, Bridge.self, Manifest.self]
    )

    /// `tocsin client documents`.
    struct Manifest: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "documents",
            abstract: "Print the GraphQL documents that the Swift client and these commands send.",
            discussion: """
                A server of this version knows them by itself when it runs trusted documents only. The manifest is for \
                other servers, and for proxies that look at documents. It has the format of Apollo's persisted queries.

                EXAMPLE
                  tocsin client documents > documents/tocsin.json
                """
        )

        func run() async throws {
            let operations = CommandDocuments.all.map { body -> JSONValue in
                let words = body.split { !$0.isLetter }.prefix(2).map(String.init)
                return [
                    "id": .string(hexEncoded(SHA256.digest(Array(body.utf8)))), "body": .string(body),
                    "name": .string(words.last ?? ""), "type": .string(words.first ?? ""),
                ]
            }
            let manifest: JSONValue = [
                "format": "apollo-persisted-query-manifest", "version": 1, "operations": .array(operations),
            ]
            Terminal.print(manifest.serializedString())
        }
    }

    /// `tocsin client js`.
    struct JavaScript: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "js",
            abstract: "Write tocsin.js, its service worker and its types to a folder.",
            discussion: """
                The server has the same files below /client/. A service worker must come from the page's own origin, so \
                most sites copy them.

                EXAMPLE
                  tocsin client js --out public
                """
        )

        @Option(help: "The folder; it is made if it is missing.")
        var out: String

        func run() async throws {
            if mkdir(out, 0o777) != 0, errno != EEXIST {
                throw CommandFailure("The folder \(out) cannot be made: \(String(cString: strerror(errno))).")
            }
            for file in ClientFiles.all {
                let path = "\(out)/\(file.name)"
                guard let stream = fopen(path, "w") else {
                    throw CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno))).")
                }
                let bytes = Array(file.text.utf8)
                let isWhole = fwrite(bytes, 1, bytes.count, stream) == bytes.count
                guard fclose(stream) == 0, isWhole else {
                    throw CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno))).")
                }
                Terminal.print(path)
            }
        }
    }

    /// `tocsin client bridge`.
    struct Bridge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "bridge",
            abstract: "Print the script that an app injects into its web view.",
            discussion: """
                The token is read from standard input, and may be empty. With --json there is a list of tokens, and a \
                list of scripts comes back. Swift apps make the same script with WebViewBridge.

                EXAMPLE
                  printf %s "$TOCSIN_TOKEN" | tocsin client bridge --platform ios --allow '*.example.com'
                """
        )

        @Option(help: "ios or android.")
        var platform: String

        @Option(help: "A host whose pages get the token, such as '*.example.com'; may be given several times.")
        var allow: [String] = []

        @Flag(help: "Read a JSON list of tokens, and print a JSON list of scripts.")
        var json = false

        func run() async throws {
            guard let platform = WebViewBridge.Platform(rawValue: platform) else {
                throw CommandFailure("--platform must be ios or android, not \(self.platform).", status: 2)
            }
            let bridge = WebViewBridge(hosts: LinkGuard(allowed: allow))
            let input = Self.standardInput()
            guard json else {
                let token = String(decoding: input, as: UTF8.self)
                return Terminal.print(bridge.script(token: token.isEmpty ? nil : token, platform: platform))
            }
            let limits = JSONLimits(maximumBytes: 64 << 20)
            guard let tokens = try? JSONParser.parse(input, limits: limits).arrayValue?.compactMap(\.stringValue) else {
                throw CommandFailure("Standard input must be a JSON list of tokens.", status: 2)
            }
            let scripts = tokens.map { JSONValue.string(bridge.script(token: $0, platform: platform)) }
            Terminal.print(JSONValue.array(scripts).serializedString())
        }

        private static func standardInput() -> [UInt8] {
            var input: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(STDIN_FILENO, &piece, piece.count)
                guard count > 0 else { return input }
                input += piece.prefix(count)
            }
        }
    }
}
