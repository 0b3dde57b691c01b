import ArgumentParser
import JSON
import TocsinClient

/// What events of an integration may become by their labels, and whose subscriptions it takes.
struct IntegrationWays: ParsableArguments {
    @Option(help: ArgumentHelp(RouteText.help)) var route: [String] = []
    @Option(help: "For the receiver aws-sns: the ARN of a topic whose subscription is confirmed; repeat it for more.")
    var snsTopic: [String] = []

    /// The members of an integration's input, with topics looked up by name.
    func input(_ client: TocsinClient) async throws -> JSONObject {
        var input: JSONObject = [:]
        var routes: [JSONValue] = []
        for text in route {
            let route = try RouteText(text)
            var topicID: JSONValue?
            if let topic = route.topic { topicID = .string(try await client.topicID(of: .nameOrID(topic))) }
            routes.append(route.input(topicID: topicID))
        }
        if !routes.isEmpty { input["routes"] = .array(routes) }
        if !snsTopic.isEmpty { input["snsTopics"] = .array(snsTopic.map { .string($0) }) }
        return input
    }

    /// The routes of an integration as they are written, with the names of topics that have one of
    /// their own.
    static func routes(of integration: JSONValue, _ client: TocsinClient) async throws -> [String] {
        guard let routes = integration["routes"]?.arrayValue, !routes.isEmpty else { return [] }
        var names: [String: String] = [:]
        var uses: [String: Int] = [:]
        try await client.forEachItem(of: "listTopics", TopicCommand.listDocument) { topic in
            guard let id = topic["id"]?.stringValue, let name = topic["name"]?.stringValue else { return }
            names[id] = name
            for word in Swift.Set([id, name]) { uses[word, default: 0] += 1 }
        }
        names = names.filter { uses[$0.value] == 1 }
        return routes.compactMap { RouteText($0, topicNames: names)?.text }
    }
}

extension IntegrationCommand {
    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change where a way in leads by labels, and the topics of Amazon's that may subscribe.",
            discussion: """
                What is given takes the place of what was there. Incidents that are open stay where they are.

                EXAMPLES
                  tocsin integration set "Alertmanager eu1" --route 'team=db -> databases' --route 'severity=page -> priority 5'
                  tocsin integration set "Alertmanager eu1" --no-routes
                """
        )

        @Argument(help: "The integration's name or id.") var integration: String
        @OptionGroup var ways: IntegrationWays
        @Flag(help: "Take all routes away.") var noRoutes = false
        @Flag(help: "Take all topics of Amazon SNS away.") var noSnsTopics = false
        @OptionGroup var client: ClientOptions

        func validate() throws {
            guard !noRoutes || ways.route.isEmpty else { throw ValidationError("Give --route or --no-routes.") }
            guard !noSnsTopics || ways.snsTopic.isEmpty else {
                throw ValidationError("Give --sns-topic or --no-sns-topics.")
            }
            guard noRoutes || noSnsTopics || !ways.route.isEmpty || !ways.snsTopic.isEmpty else {
                throw ValidationError("Say what to set: --route, --no-routes, --sns-topic or --no-sns-topics.")
            }
        }

        func run() async throws {
            try await client.run { client in
                let shown = try await IntegrationCommand.rows.shown(integration, last: 1, client)
                var input = try await ways.input(client)
                if noRoutes { input["routes"] = .array([]) }
                if noSnsTopics { input["snsTopics"] = .array([]) }
                (input["id"], input["_version"]) = (shown["id"], shown["_version"])
                let answer = try await client.mutate(setDocument, variables: ["input": .object(input)])
                let changed = answer["updateIntegration"] ?? .null
                for route in try await IntegrationWays.routes(of: changed, client) {
                    Terminal.print("route\t\(Terminal.harmless(route))")
                }
                for topic in changed["snsTopics"]?.arrayValue ?? [] {
                    Terminal.print("snsTopic\t\(Terminal.harmless(topic.stringValue ?? ""))")
                }
            }
        }
    }
}
