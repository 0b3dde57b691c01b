import ArgumentParser
import JSON
import TocsinAuth
import TocsinCore
import TocsinReceivers
import TocsinServer

extension ReceiverCommand {
    /// The command `tocsin receiver test`.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the events that a request would become, as JSON.",
            discussion: """
                Give the body that a sender posts, and what reads it. The answer and the trouble are printed with the \
                events; nothing is stored. Exit codes: 0 all fits, 1 there is trouble or the request is refused, 2 \
                wrong use.

                EXAMPLES
                  tocsin receiver test --receiver uptime-kuma body.json
                  tocsin receiver test --receiver github --headers headers.txt body.json
                  tocsin receiver test --template mine.json --query team=db - < body.json
                """
        )

        @Option(help: "The kind of the integration; template for receivers that are data.")
        var kind = "template"

        @Option(help: "The name of a receiver: see `tocsin receiver list`.") var receiver: String?

        @Option(help: ArgumentHelp("A file with a template of your own.", valueName: "file")) var template: String?

        @Option(help: ArgumentHelp("A file with the request's headers, one `Name: value` a line.", valueName: "file"))
        var headers: String?

        @Option(help: ArgumentHelp("A parameter of the query; may be given several times.", valueName: "name=value"))
        var query: [String] = []

        @Option(help: ArgumentHelp("What the path has behind the key, such as a/b.", valueName: "path"))
        var path: String?

        @Option(help: ArgumentHelp("A file with the secret that the sender signs with.", valueName: "file"))
        var secret: String?

        @Argument(help: "The file with the body; - for standard input.") var body: String

        @OptionGroup var options: SettingsOptions

        func validate() throws {
            guard let kind = Receivers.kind(named: kind.lowercased()), kind != .heartbeat else {
                let known = Integration.Kind.allCases.filter { $0 != .heartbeat }.map(Receivers.pathName(of:))
                throw ValidationError("There is no kind \"\(self.kind)\". Known are \(known.joined(separator: ", ")).")
            }
            guard (kind == .template) == ((receiver == nil) != (template == nil)) else {
                throw ValidationError(
                    "Give --receiver NAME or --template FILE with the kind template, and neither with another."
                )
            }
            guard query.allSatisfy({ $0.contains("=") }) else {
                throw ValidationError("--query is written name=value.")
            }
        }

        func run() async throws {
            let reader = try reader()
            let request = try request()
            let reading = reader.read(request, in: try context(reader.kind))
            let (result, isFine) = ReceiverReport.result(of: reading, by: reader, request)
            Terminal.print(result.serializedString())
            if !isFine { throw ExitCode(1) }
        }

        private func reader() throws -> any Receiver {
            guard let kind = Receivers.kind(named: kind.lowercased()) else { throw ExitCode(2) }
            if let receiver = Receivers.of(kind) { return receiver }
            let catalog = try ReceiverCommand.catalog(options)
            let own = try template.map(text)
            do throws(TemplateProblem) {
                return try catalog.receiver(named: receiver, template: own)
            } catch {
                throw CommandFailure("\(template.map { "\($0): " } ?? "")\(error.text).")
            }
        }

        private func request() throws -> ReceiverRequest {
            let lines = try headers.map(text)?.split(whereSeparator: \.isNewline) ?? []
            var items: [ReceiverRequest.Item] = []
            for line in lines {
                let halves = line.split(separator: ":", maxSplits: 1)
                guard halves.count == 2 else { throw CommandFailure("\"\(line)\" is no header. Write `Name: value`.") }
                items.append(ReceiverRequest.Item(String(halves[0]), String(halves[1].drop { $0 == " " })))
            }
            if !items.contains(where: { $0.name.lowercased() == "content-type" }) {
                items.append(ReceiverRequest.Item("Content-Type", "application/json"))
            }
            var target = "/in/KEY"
            if let path { target += "/" + path.drop { $0 == "/" } }
            let parameters = query.map { parameter in
                parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    .map { Self.encoded(String($0)) }.joined(separator: "=")
            }
            if !parameters.isEmpty { target += "?" + parameters.joined(separator: "&") }
            return ReceiverRequest(
                method: "POST",
                target: target,
                headers: items,
                body: try bytes(of: body),
                receivedAt: SystemTime().now()
            )
        }

        private func context(_ kind: Integration.Kind) throws -> ReceiverContext {
            let integration = Integration(
                id: "test",
                owner: "test",
                name: receiver ?? self.kind,
                kind: kind,
                topicID: TopicID("test")
            )
            var context = ReceiverContext(
                integration: integration,
                topicName: "test",
                sha256: { Digest.sha256($0) },
                hmacSHA256: { key, message in Digest.hmacSHA256(message, key: key) }
            )
            context.signatureSecret = try secret.map { Array(try text($0).trimmed.utf8) }
            return context
        }

        private func text(_ path: String) throws(CommandFailure) -> String {
            do throws(SystemFile.Failure) {
                return try SystemFile.text(of: path)
            } catch {
                throw CommandFailure("\(path) cannot be read: \(error.reason). Mend the path or the file.")
            }
        }

        private func bytes(of path: String) throws -> [UInt8] {
            let limit = 5 << 20
            do throws(SystemFile.Failure) {
                return path == "-"
                    ? try SystemFile.rest(of: 0, maximumBytes: limit)
                    : try SystemFile.contents(of: path, maximumBytes: limit)
            } catch {
                throw CommandFailure("\(path) cannot be read: \(error.reason). Mend the path or the file.")
            }
        }

        private static func encoded(_ text: String) -> String {
            text.utf8.map { byte in
                let character = Character(Unicode.Scalar(byte))
                return character.isASCII && (character.isLetter || character.isNumber)
                    ? String(character) : "%" + HexText.text(of: [byte])
            }.joined()
        }
    }
}
