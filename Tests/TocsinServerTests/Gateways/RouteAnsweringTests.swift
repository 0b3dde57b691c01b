import JSON
import Testing
import TocsinCore
import TocsinServer

@Suite("A route's way from body to answer")
struct RouteAnsweringTests {
    private static let ann = Identity(userID: UserID("u-1"), username: "ann")

    private static func route(_ changes: JSONObject, searches: JSONObject = [:]) throws -> Route {
        var route: JSONObject = [
            "method": "POST", "path": "/a", "document": "mutation ($x: String!) { do(x: $x) { y } }",
            "variables": ["x": ["x", "ex"]], "answer": ["y": "{do.y}"],
        ]
        for change in changes { route[change.key] = change.value }
        let file: JSONObject = ["routes": [.object(route)], "searches": .object(searches)]
        let text = JSONValue.object(file).serializedString()
        let reading = RouteReading(text, file: "test.json") { _ in [] }
        #expect(reading.problems.isEmpty)
        return try #require(reading.routes.first)
    }

    private static func variables(
        _ type: String,
        _ source: JSONValue,
        _ input: RouteInput
    ) async throws -> JSONObject {
        let document = "query ($x: \(type)) { do(x: $x) { y } }"
        let route = try route(["document": .string(document), "variables": ["x": source]])
        var seen: JSONObject = [:]
        _ = try await route.answer(to: input, caller: ann) { (_, variables) throws(RouteFault) in
            seen = variables
            return [:]
        }
        return seen
    }

    @Test(
        "a body's value becomes the variable's",
        arguments: [
            ("String!", ["x": "a"], "a"), ("String!", ["ex": "a"], "a"), ("String!", ["x": nil, "ex": "a"], "a"),
            ("ID!", ["x": 7], "7"), ("ID", ["x": "7"], "7"), ("Int", ["x": 7], 7), ("Int", ["x": 7.0], 7),
            ("Boolean", ["x": false], false), ("Float", ["x": 1.5], 1.5), ("Float", ["x": 1], 1),
            ("AWSJSON", ["x": ["a": "b"]], #"{"a":"b"}"#), ("AWSJSON", ["x": "{}"], "{}"), ("[Int]", ["x": [1]], [1]),
            ("AWSURL", ["x": 5], 5),
        ] as [(String, JSONObject, JSONValue)]
    )
    func converts(type: String, body: JSONObject, value: JSONValue) async throws {
        #expect(try await Self.variables(type, ["x", "ex"], RouteInput(body)) == ["x": value])
    }

    @Test(
        "a query's text becomes what the variable's type asks for",
        arguments: [
            ("Int", "7", 7), ("Boolean", "true", true), ("Float", "1.5", 1.5), ("String", "7", "7"), ("ID", "7", "7"),
        ] as [(String, String, JSONValue)]
    )
    func convertsTexts(type: String, text: String, value: JSONValue) async throws {
        let input = RouteInput(["x": .string(text)], isText: true)
        #expect(try await Self.variables(type, ["x"], input) == ["x": value])
    }

    @Test(
        "a value of another type, a missing one and two that disagree are refused by the name the client used",
        arguments: [
            ("String", ["ex": 1], "\"ex\" must be a text"), ("Int", ["x": "1"], "\"x\" must be a whole number"),
            ("Int", ["x": 2_147_483_648], "whole number"), ("Boolean", ["x": "true"], "true or false"),
            ("Float", ["x": "1"], "a number"), ("ID!", ["x": 1.5], "a text"), ("String!", [:], "\"x\" is missing"),
            ("String!", ["x": nil], "or one of \"ex\""), ("String", ["x": "a", "ex": "b"], "disagree"),
        ] as [(String, JSONObject, String)]
    )
    func refuses(type: String, body: JSONObject, words: String) async throws {
        do {
            _ = try await Self.variables(type, ["x", "ex"], RouteInput(body))
            Issue.record("\(type) took \(body)")
        } catch let fault as RouteFault {
            #expect(fault.code == "BAD_USER_INPUT")
            #expect(fault.message.contains(words), "\(fault.message)")
        }
    }

    @Test("defaults, words in any case and values of the route's own")
    func sources() async throws {
        let source: JSONValue = ["from": ["x"], "default": "ios", "words": ["GCM": "android"]]
        #expect(try await Self.variables("String!", source, RouteInput([:])) == ["x": "ios"])
        #expect(try await Self.variables("String!", source, RouteInput(["x": "gcm"])) == ["x": "android"])
        #expect(try await Self.variables("String!", source, RouteInput(["x": "vms"])) == ["x": "vms"])
        #expect(try await Self.variables("String = \"a\"", ["x"], RouteInput([:])) == [:])
        let own: JSONValue = ["value": "{caller.username}-{caller.userId}"]
        #expect(try await Self.variables("ID!", own, RouteInput(["x": "mine"])) == ["x": "ann-u-1"])
    }

    @Test("words may mean what is no text, and numbers are looked up as they are written")
    func otherWords() async throws {
        let source: JSONValue = ["from": ["x"], "words": ["false": false, "0": false, "1": true]]
        for (given, expected) in [("False", false), (0, false), (1, true), (true, true)] as [(JSONValue, JSONValue)] {
            #expect(try await Self.variables("Boolean", source, RouteInput(["x": given])) == ["x": expected])
        }
        await #expect(throws: RouteFault.self) {
            try await Self.variables("Boolean", source, RouteInput(["x": "perhaps"]))
        }
    }

    @Test("a number that is written with a sign or a zero before it is neither a number nor a word")
    func oddNumbers() async throws {
        let numbers: JSONValue = ["from": ["x"], "only": "numbers"]
        #expect(try await Self.variables("Int", numbers, RouteInput(["x": "2"])) == ["x": 2])
        #expect(try await Self.variables("Int", numbers, RouteInput(["x": "-2"])) == ["x": -2])
        for text in ["+2", "02", "-0"] {
            let fault = await #expect(throws: RouteFault.self) {
                try await Self.variables("Int", numbers, RouteInput(["x": .string(text)]))
            }
            #expect(fault?.message.contains("without + and leading zeros") == true, "\(text)")
        }
    }

    @Test("a lookup runs first, with its own variables, and gives values to the document's")
    func lookup() async throws {
        let route = try Self.route([
            "lookup": "query ($x: String!) { find(x: $x) { version } }",
            "document": "mutation ($x: String!, $v: Int, $z: Int) { do(x: $x, v: $v, z: $z) { y } }",
            "variables": ["x": ["x"], "v": ["value": "{find.version}"], "z": ["z"]],
        ])
        var seen: [JSONObject] = []
        let answer = try await route.answer(to: RouteInput(["x": "a", "z": 1]), caller: Self.ann) {
            (_, variables) throws(RouteFault) in
            seen.append(variables)
            return seen.count == 1 ? ["find": ["version": 3]] : ["do": ["y": 9]]
        }
        #expect(seen == [["x": "a"], ["x": "a", "z": 1, "v": 3]])
        #expect(answer == ["y": 9])
    }

    private static let searches: JSONObject = [
        "thing": [
            ["document": "query ($w: ID!) { one(id: $w) { id } }", "at": "{one.id}"],
            ["prefix": "no:", "document": "query ($w: ID!) { never(id: $w) { id } }", "at": "{never.id}"],
            [
                "document": "query ($w: String!) { many(name: $w) { items { id owner } } }",
                "at": "{many.items.id}", "owner": "{many.items.owner}",
            ],
        ]
    ]

    /// Answers as a server of the things a (id 1), b (ids 2 and 3), d (ids 4 and 5, which is ann's)
    /// and c, which must not be asked for.
    private static func things(_ document: String, _ variables: JSONObject) throws(RouteFault) -> JSONValue {
        let word = variables["w"]?.stringValue ?? ""
        if document.contains("do(") { return ["do": ["y": variables["x"] ?? .null]] }
        if document.contains("never") { throw fault("BAD_USER_INPUT") }
        if document.contains("one(") {
            guard word == "1" else { throw fault("BAD_USER_INPUT") }
            return ["one": ["id": "1"]]
        }
        if word == "c" { throw fault("UNAUTHORIZED") }
        if word == "away" { throw fault("UNAVAILABLE") }
        let things: [String: [JSONValue]] = [
            "a": [["id": "1", "owner": "eve"]], "b": [["id": "2", "owner": "eve"], ["id": "3", "owner": "bob"]],
            "d": [["id": "4", "owner": "eve"], ["id": "5", "owner": "ann"]],
        ]
        return ["many": ["items": .array(things[word] ?? [])]]
    }

    private static func fault(_ code: String) -> RouteFault {
        RouteFault(["message": "later", "extensions": ["code": .string(code)]])
    }

    @Test(
        "a search finds by id, then by name, one's own first; what is not found, or may not be asked, is taken as it is",
        arguments: [
            (["x": "1"], "1"), (["x": "a"], "1"), (["x": "none"], "none"), (["x": "c"], "c"),
            (["x": "a", "ex": "1"], "1"), (["x": "a", "ex": "a"], "1"), (["x": 1], "1"), (["x": "d"], "5"),
        ] as [(JSONObject, JSONValue)]
    )
    func searches(body: JSONObject, value: JSONValue) async throws {
        let route = try Self.route(
            ["document": "mutation ($x: ID!) { do(x: $x) { y } }", "variables": ["x": Self.searching]],
            searches: Self.searches
        )
        let answer = try await route.answer(to: RouteInput(body), caller: Self.ann) {
            (document, variables) throws(RouteFault) in try Self.things(document, variables)
        }
        #expect(answer == ["y": value])
    }

    private static let searching: JSONValue = ["from": ["x", "ex"], "search": "thing"]

    @Test(
        "several of one name, names of two things, and a server that cannot look are told",
        arguments: [
            (["x": "b"], "BAD_USER_INPUT", "\"x\" names several"),
            (["x": "1", "ex": "z"], "BAD_USER_INPUT", "disagree"),
            (["x": "away"], "UNAVAILABLE", "later"),
        ] as [(JSONObject, String, String)]
    )
    func searchFaults(body: JSONObject, code: String, words: String) async throws {
        let route = try Self.route(
            ["document": "mutation ($x: ID!) { do(x: $x) { y } }", "variables": ["x": Self.searching]],
            searches: Self.searches
        )
        do {
            _ = try await route.answer(to: RouteInput(body), caller: Self.ann) {
                (document, variables) throws(RouteFault) in try Self.things(document, variables)
            }
            Issue.record("\(body) was taken")
        } catch {
            #expect(error.code == code)
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test(
        "data fills the answer",
        arguments: [
            ("{do.y}", ["do": ["y": [1, 2]]], [1, 2]), ("{do.y}", ["do": ["y": nil]], nil), ("{do.y}", [:], nil),
            ("a{do.y}b{$x}", ["do": ["y": 1]], "a1bex"), ("{do.y}{do.y}", ["do": ["y": nil]], ""),
            ([1, "{do.y}", true], ["do": ["y": "t"]], [1, "t", true]),
            (
                ["each": "{do.y}", "give": ["b": "{.a.b}"]], ["do": ["y": [["a": ["b": 1]], nil, [:]]]],
                [["b": 1], ["b": nil]]
            ),
            (["each": "{do.y}", "give": 1], ["do": ["y": nil]], []), ("plain", [:], "plain"),
        ] as [(JSONValue, JSONValue, JSONValue)]
    )
    func fills(template: JSONValue, data: JSONValue, expected: JSONValue) async throws {
        let document: JSONValue = "mutation ($x: String!) { do(x: $x) { ...F } } fragment F on D { y { a { b } } }"
        let route = try Self.route(["document": document, "answer": template])
        let answer = try await route.answer(to: RouteInput(["x": "ex"]), caller: Self.ann) {
            (_, _) throws(RouteFault) in data
        }
        #expect(answer == expected)
    }
}
