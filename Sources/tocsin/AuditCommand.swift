import ArgumentParser
import FoundationEssentials
import JSON
import TocsinClient
import TocsinCore
import TocsinServer

/// The commands `tocsin audit list | follow`.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "See who changed what, from where, and what was refused.",
        discussion: """
            On the data itself everything is shown. With --server or TOCSIN_URL a running server is asked: \
            administrators see everything there, others what they did and what was done to them and theirs.

            EXAMPLES
              tocsin audit list --action 'token.*' --since 7d
              tocsin audit list --actor alice --json | jq -r .action
              tocsin audit follow --outcome REFUSED
            """,
        subcommands: [List.self, Follow.self]
    )
}

extension AuditCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List changes, the latest first: when, who, what, to what, from where, details."
        )

        @OptionGroup var filter: AuditFilterOptions
        @Option(help: "How many at most; 0 for all.") var limit = 100
        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var source: AuditSourceOptions

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit \(limit) is less than 0.") }
            _ = try filter.query()
        }

        func run() async throws {
            let query = try filter.query()
            try await source.run { fetch in
                var rest = limit == 0 ? Int.max : limit
                var page: AuditPage?
                repeat {
                    let next = try await fetch(query, page)
                    for event in next.events.prefix(rest) { Terminal.print(event.line(json: json)) }
                    rest -= min(rest, next.events.count)
                    page = next.isLast || rest == 0 ? nil : next
                } while page != nil
            }
        }
    }

    struct Follow: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print changes as they are made, the oldest first, until it is stopped."
        )

        @OptionGroup var filter: AuditFilterOptions
        @Flag(help: "One JSON object a line.") var json = false
        @OptionGroup var source: AuditSourceOptions

        /// How far a row may come after a later one; less than the server allows, for whole rows
        /// are fetched again each second.
        private static let overlapSeconds = 10.0
        /// Rows that are held at once.
        private static let maximumRows = 10_000

        func validate() throws { _ = try filter.query() }

        func run() async throws {
            var query = try filter.query()
            query.until = nil
            let begin = query.since ?? SystemTime().now()
            try await source.run { fetch in
                var tail = AuditTail(since: begin, overlapSeconds: Self.overlapSeconds)
                while true {
                    query.since = tail.since
                    let events = try await all(query, fetch)
                    for event in events.reversed() where tail.isNew(event.cursor) {
                        Terminal.print(event.line(json: json))
                    }
                    tail.advance(over: events.map(\.cursor))
                    try await Task.sleep(for: .seconds(1))
                }
            }
        }

        private func all(_ query: AuditQuery, _ fetch: AuditFetch) async throws -> [StoredAuditEvent] {
            var events: [StoredAuditEvent] = []
            var page: AuditPage?
            repeat {
                let next = try await fetch(query, page)
                events += next.events
                guard events.count <= Self.maximumRows else {
                    throw CommandFailure(
                        "More than \(Self.maximumRows) rows fit. Give a later --since, or use `tocsin audit list`."
                    )
                }
                page = next.isLast ? nil : next
            } while page != nil
            return events
        }
    }
}

/// Which changes are asked for.
struct AuditFilterOptions: ParsableArguments {
    @Option(help: "Who did it: a user's name or id, a key's id, or the system's account of an operator.")
    var actor: String?

    @Option(help: "What it was done to: an id, or a user's name.")
    var subject: String?

    @Option(help: "What was done, such as topic.create; 'topic.*' for all of topics.")
    var action: String?

    @Option(help: "At this time or later: 2026-11-24T08:00:00Z, or how long ago, such as 90m, 24h or 7d.")
    var since: String?

    @Option(help: "Before this time, written as --since.")
    var until: String?

    @Option(help: "What came of it: DONE or REFUSED.")
    var outcome: String?

    func query() throws -> AuditQuery {
        var query = AuditQuery(limit: AuditPage.rows)
        (query.actor, query.subject, query.action) = (actor, subject, action)
        query.since = try Self.moment(since, "--since")
        query.until = try Self.moment(until, "--until")
        if let outcome {
            guard let known = AuditOutcome(rawValue: outcome.uppercased()) else {
                throw ValidationError("--outcome \(outcome) is none of DONE and REFUSED.")
            }
            query.outcome = known
        }
        return query
    }

    private static func moment(_ text: String?, _ option: String) throws -> Timestamp? {
        guard let text else { return nil }
        if let seconds = TimeLength.seconds(text), seconds < 1e10 {
            return SystemTime().now().adding(seconds: -seconds)
        }
        guard let moment = Timestamp(awsDateTime: text) else {
            throw ValidationError(
                "\(option) \(text) is no time. Write one with an offset, such as 2026-11-24T08:00:00Z, or how long ago: 24h."
            )
        }
        return moment
    }
}

/// A page of changes, and where the next one begins.
struct AuditPage {
    static let rows = 500

    var events: [StoredAuditEvent]
    /// The server's token of the next page; nil on the data itself.
    var token: String?
    var isLast: Bool
}

/// Gets the page behind another one, or the first.
typealias AuditFetch = (AuditQuery, AuditPage?) async throws -> AuditPage

/// Where the audit is read: the data itself, or a running server.
struct AuditSourceOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions

    @Option(help: "A running server's address, which is asked in place of the data. Default: $TOCSIN_URL.")
    var server: String?

    @Option(help: "The token to sign in there with. Default: $TOCSIN_TOKEN.")
    var token: String?

    @Option(help: "A PEM file with further certificate authorities to trust.")
    var caFile: String?

    func run(_ work: (AuditFetch) async throws -> Void) async throws {
        let address = server ?? ProcessInfo.processInfo.environment["TOCSIN_URL"]
        guard let address, !address.isEmpty, store.dataDirectory == nil, store.database == nil else {
            return try await runOnData(work)
        }
        let client = try ClientOptions.makeClient(server: address, token: token, caFile: caFile, flag: "--token")
        try await runClient { try await work { try await Self.page(of: client, $0, after: $1) } }
        client.close()
    }

    private func runOnData(_ work: (AuditFetch) async throws -> Void) async throws {
        var failure: (any Error)?
        try await OfflineStore.run(store) { tool throws(ServiceError) in
            do {
                try await work { query, page in
                    var query = query
                    query.after = page?.events.last?.cursor
                    let events = try await tool.audit.events(query)
                    return AuditPage(events: events, isLast: events.count < query.limit)
                }
            } catch let error as ServiceError {
                throw error
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    static let document = """
        query Audit($filter: AuditEventFilter, $limit: Int, $next: String) {
          auditEvents(filter: $filter, limit: $limit, nextToken: $next) {
            nextToken
            items { id at actorKind actor token network action subjectKind subject detail outcome requestId }
          }
        }
        """

    private static func page(
        of client: TocsinClient,
        _ query: AuditQuery,
        after page: AuditPage?
    ) async throws -> AuditPage {
        var filter: JSONObject = [:]
        let texts = [
            ("actor", query.actor), ("subject", query.subject), ("action", query.action),
            ("since", query.since?.iso8601), ("until", query.until?.iso8601), ("outcome", query.outcome?.rawValue),
        ]
        for (name, text) in texts { if let text { filter[name] = .string(text) } }
        let variables: JSONObject = [
            "filter": .object(filter), "limit": .int(Int64(query.limit)),
            "next": page?.token.map { .string($0) } ?? .null,
        ]
        let answer = try await client.query(document, variables: variables)["auditEvents"]
        let events = (answer?["items"]?.arrayValue ?? []).compactMap(StoredAuditEvent.init)
        let token = answer?["nextToken"]?.stringValue
        return AuditPage(events: events, token: token, isLast: token == nil)
    }
}

extension StoredAuditEvent {
    /// An event as the server answers it.
    fileprivate init?(_ json: JSONValue) {
        func text(_ name: String) -> String? { json[name]?.stringValue }
        guard let id = text("id"), let at = text("at").flatMap({ Timestamp(awsDateTime: $0) }) else { return nil }
        self.init(id: id, at: at)
        (actorKind, actor, token) = (text("actorKind") ?? "", text("actor"), text("token"))
        (network, action) = (text("network"), text("action") ?? "")
        (subjectKind, subject) = (text("subjectKind") ?? "", text("subject") ?? "")
        (detail, outcome, requestID) = (text("detail") ?? "{}", text("outcome") ?? "", text("requestId"))
    }

    /// The event on one line, for people or for programs.
    fileprivate func line(json: Bool) -> String { json ? self.json.serializedString() : words }

    private var words: String {
        let who = actor.map { actorKind == "USER" ? $0 : "\(actorKind.lowercased()) \($0)" } ?? actorKind.lowercased()
        let parts = [
            at.iso8601, who, action, "\(subjectKind.lowercased()) \(subject)",
            outcome == AuditOutcome.done.rawValue ? nil : outcome, network, detail == "{}" ? nil : detail,
        ]
        return parts.compactMap { $0.map(Terminal.harmless) }.joined(separator: "\t")
    }

    private var json: JSONValue {
        var object: JSONObject = ["id": .string(id), "at": .string(at.iso8601), "actorKind": .string(actorKind)]
        object["actor"] = actor.map { .string($0) } ?? .null
        object["token"] = token.map { .string($0) } ?? .null
        object["network"] = network.map { .string($0) } ?? .null
        object["action"] = .string(action)
        object["subjectKind"] = .string(subjectKind)
        object["subject"] = .string(subject)
        object["detail"] = (try? JSONParser.parse(Array(detail.utf8))) ?? .string(detail)
        object["outcome"] = .string(outcome)
        object["requestId"] = requestID.map { .string($0) } ?? .null
        return .object(object)
    }
}
