import Testing

/// One audit of the published suite of `graphql-http`: a request and what the answer must be.
///
/// The ids and levels are the suite's; BC58 stands there as a plan.
struct HTTPAudit: Sendable, CustomTestStringConvertible {
    enum Level: String, Sendable { case must = "MUST", should = "SHOULD", may = "MAY" }

    enum Body: Sendable {
        /// A JSON text in the body of a `POST`.
        case json(String)
        /// Parameters of a `GET`.
        case parameters([String])
        /// A `POST` without a body.
        case none
    }

    var id: String
    var level: Level
    var title: String
    var body: Body
    var accept: String?
    var contentType: String? = "application/json"
    var isSignedIn = true
    /// What is expected.
    var status: ClosedRange<Int>
    var answerType: String?
    var hasErrors: Bool?
    var hasData: Bool?

    var testDescription: String { "\(id) \(level.rawValue) \(title)" }

    static let graphQL = "application/graphql-response+json"
    static let json = "application/json"

    /// curl's arguments.
    var arguments: [String] {
        var arguments = ["--header", accept.map { "Accept: \($0)" } ?? "Accept:"]
        switch body {
        case .parameters(let parameters):
            return arguments + ["--get"] + parameters.flatMap { ["--data-urlencode", $0] }
        case .json(let text): arguments += ["--data-binary", text]
        case .none: arguments += ["--request", "POST"]
        }
        return arguments + ["--header", contentType.map { "Content-Type: \($0)" } ?? "Content-Type:"]
    }
}

extension HTTPAudit {
    private static let typename = #"{"query":"{ __typename }"}"#
    /// What is neither a string nor null, and neither an object nor null.
    private static let noStrings = [
        ("object", #"{"obj":"ect"}"#), ("number", "0"), ("boolean", "false"), ("array", #"["array"]"#),
    ]
    private static let noMaps = [
        ("string", #""string""#), ("number", "0"), ("boolean", "false"), ("array", #"["array"]"#),
    ]
    private static let typeQuery = "query Type($name: String!) { __type(name: $name) { name } }"

    private init(
        _ id: String,
        _ level: Level,
        _ title: String,
        _ body: Body,
        _ accept: String?,
        _ status: ClosedRange<Int>
    ) {
        self.id = id
        self.level = level
        self.title = title
        self.body = body
        self.accept = accept
        self.status = status
    }

    private func with(_ change: (inout HTTPAudit) -> Void) -> HTTPAudit {
        var audit = self
        change(&audit)
        return audit
    }

    static let all: [HTTPAudit] = mediaTypes + methods + parameters + maps + failures

    private static let mediaTypes: [HTTPAudit] = [
        HTTPAudit("22EB", .should, "accept its own media type and answer in it", .json(typename), graphQL, 200...200)
            .with { $0.answerType = graphQL },
        HTTPAudit("4655", .must, "accept JSON and answer in it", .json(typename), json, 200...200)
            .with { $0.answerType = json },
        HTTPAudit("47DE", .should, "answer */* in JSON", .json(typename), "*/*", 200...200).with {
            $0.answerType = json
        },
        HTTPAudit("80D8", .should, "answer in JSON when Accept is missing", .json(typename), nil, 200...200)
            .with { $0.answerType = json },
        HTTPAudit("82A3", .must, "answer in UTF-8", .json(typename), nil, 200...200).with {
            $0.answerType = "charset=utf-8"
        },
        HTTPAudit(
            "BF61",
            .must,
            "accept UTF-8",
            .json(#"{"query":"{ __type(name: \"Run🏃Swim🏊\") { name } }"}"#),
            nil,
            200...200
        ).with { $0.contentType = "application/json; charset=utf-8" },
        HTTPAudit("78D5", .must, "assume UTF-8", .json(typename), nil, 200...200),
    ]

    private static let methods: [HTTPAudit] = [
        HTTPAudit("2C94", .must, "accept POST", .json(typename), nil, 200...200),
        HTTPAudit("5A70", .may, "accept GET with parameters", .parameters(["query={ __typename }"]), "*/*", 200...200),
        HTTPAudit(
            "9C48",
            .may,
            "not run mutations on GET",
            .parameters(["query=mutation { __typename }"]),
            graphQL,
            400...499
        ),
        HTTPAudit("9ABE", .may, "refuse a POST without a content type", .none, nil, 400...499).with {
            $0.contentType = nil
        },
        HTTPAudit("03D4", .must, "accept POST of JSON", .json(typename), nil, 200...200),
        HTTPAudit("A5BF", .may, "use 400 without a body", .none, nil, 400...400),
        HTTPAudit(
            "BC58",
            .should,
            "use 401 or 403 when the request is not permitted",
            .json(typename),
            graphQL,
            401...403
        )
        .with { $0.isSignedIn = false },
    ]

    private static let parameters: [HTTPAudit] =
        [
            HTTPAudit(
                "423L",
                .may,
                "use 400 without a query",
                .json(#"{"notquery":"{ __typename }"}"#),
                graphQL,
                400...400
            ),
            HTTPAudit("34A2", .should, "allow a string query", .json(typename), graphQL, 200...200),
            HTTPAudit("13EE", .must, "allow a string query in JSON", .json(typename), json, 200...200)
                .with { $0.hasErrors = false },
            HTTPAudit(
                "8161",
                .should,
                "allow a string operationName",
                .json(#"{"operationName":"Query","query":"query Query { __typename }"}"#),
                graphQL,
                200...200
            ),
            HTTPAudit(
                "B8B3",
                .must,
                "allow a string operationName in JSON",
                .json(#"{"operationName":"Query","query":"query Query { __typename }"}"#),
                json,
                200...200
            ).with { $0.hasErrors = false },
        ]
        + noStrings.enumerated().flatMap { index, kind in
            [
                HTTPAudit(
                    "LKJ\(index)",
                    .may,
                    "use 400 for a query of \(kind.0)",
                    .json("{\"query\":\(kind.1)}"),
                    nil,
                    400...400
                ),
                HTTPAudit(
                    "6C0\(index)",
                    .may,
                    "use 400 for an operationName of \(kind.0)",
                    .json("{\"operationName\":\(kind.1),\"query\":\"{ __typename }\"}"),
                    nil,
                    400...400
                ),
            ]
        }
        + ["variables", "operationName", "extensions"].enumerated().flatMap { index, name in
            let body = Body.json("{\"query\":\"{ __typename }\",\"\(name)\":null}")
            return [
                HTTPAudit("94B\(index)", .should, "allow null \(name)", body, graphQL, 200...200).with {
                    $0.hasErrors = false
                },
                HTTPAudit("022\(index)", .must, "allow null \(name) in JSON", body, json, 200...200).with {
                    $0.hasErrors = false
                },
            ]
        }

    private static let maps: [HTTPAudit] = {
        let variables = Body.json("{\"query\":\"\(typeQuery)\",\"variables\":{\"name\":\"sometype\"}}")
        let inTarget = Body.parameters(["query=\(typeQuery)", #"variables={"name":"sometype"}"#])
        let extensions = Body.json(#"{"query":"{ __typename }","extensions":{"some":"value"}}"#)
        return [
            HTTPAudit("2EA1", .should, "allow a map of variables", variables, graphQL, 200...200),
            HTTPAudit("28B9", .must, "allow a map of variables in JSON", variables, json, 200...200).with {
                $0.hasErrors = false
            },
            HTTPAudit("D6D5", .may, "allow variables as JSON in GET", inTarget, graphQL, 200...200),
            HTTPAudit("6A70", .may, "allow variables as JSON in GET, in JSON", inTarget, json, 200...200)
                .with { $0.hasErrors = false },
            HTTPAudit("428F", .should, "allow a map of extensions", extensions, graphQL, 200...200),
            HTTPAudit("1B7A", .must, "allow a map of extensions in JSON", extensions, json, 200...200).with {
                $0.hasErrors = false
            },
        ]
            + noMaps.enumerated().flatMap { index, kind in
                [("476", "variables"), ("58B", "extensions")].map { id, name in
                    HTTPAudit(
                        "\(id)\(index)",
                        .may,
                        "use 400 for \(name) of \(kind.0)",
                        .json("{\"query\":\"{ __typename }\",\"\(name)\":\(kind.1)}"),
                        nil,
                        400...400
                    )
                }
            }
    }()

    private static let failures: [HTTPAudit] = {
        let broken = Body.json(#"{ "not a JSON"#)
        let misspelt = Body.json(#"{"qeury":"{ __typename }"}"#)
        let syntax = Body.json(#"{"query":"{"}"#)
        let unknown = Body.json(#"{"query":"{ 8f31403dfe404bccbb0e835f2629c6a7 }"}"#)
        let variable = Body.json(#"{"query":"query CoerceFailure($id: ID!){ __typename }","variables":{"id":null}}"#)
        return [
            HTTPAudit("B6DC", .may, "use 4xx when JSON does not parse", broken, nil, 400...499),
            HTTPAudit("BCF8", .may, "use 400 when JSON does not parse", broken, nil, 400...400),
            HTTPAudit("8764", .may, "use 4xx or 5xx for invalid parameters", misspelt, nil, 400...599),
            HTTPAudit("3E3A", .may, "use 400 for invalid parameters", misspelt, nil, 400...400),
            HTTPAudit("572B", .should, "use 200 for a document that does not parse, in JSON", syntax, json, 200...200),
            HTTPAudit("FDE2", .should, "use 200 for a document that is not valid, in JSON", unknown, json, 200...200),
            HTTPAudit("7B9B", .should, "use 200 for a variable that does not fit, in JSON", variable, json, 200...200),
            HTTPAudit("865D", .should, "use 4xx or 5xx for a document that does not parse", syntax, graphQL, 400...599),
            HTTPAudit("556A", .should, "use 400 for a document that does not parse", syntax, graphQL, 400...400),
            HTTPAudit("D586", .should, "have no data for a document that does not parse", syntax, graphQL, 400...400)
                .with { $0.hasData = false },
            HTTPAudit("51FE", .should, "use 4xx or 5xx for a document that is not valid", unknown, graphQL, 400...599),
            HTTPAudit("74FF", .should, "use 400 for a document that is not valid", unknown, graphQL, 400...400),
            HTTPAudit("5E5B", .should, "have no data for a document that is not valid", unknown, graphQL, 400...400)
                .with { $0.hasData = false },
            HTTPAudit("86EE", .should, "use 400 for a variable that does not fit", variable, graphQL, 400...400),
        ]
    }()
}
