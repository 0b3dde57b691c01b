import JSON
import Testing
import TocsinServer

@Suite("Routes, as read from their file")
struct RouteReadingTests {
    private static func route(_ changes: JSONObject = [:]) -> String {
        var route: JSONObject = [
            "method": "POST", "path": "/a/b",
            "document": "mutation ($x: String!) { do(x: $x) { y items { z } } }",
            "variables": ["x": ["x", "ex"]], "answer": ["y": "{do.y}"],
        ]
        for change in changes { route[change.key] = change.value.isNull ? JSONValue?.none : change.value }
        return JSONValue.object(["routes": [.object(route)]]).serializedString()
    }

    private static func read(_ text: String, _ faults: [String] = []) -> RouteReading {
        RouteReading(text, file: "mine.json") { _ in faults }
    }

    @Test("a whole route is read")
    func whole() {
        let reading = Self.read(Self.route())
        #expect(reading.problems.isEmpty)
        #expect(reading.routes.map(\.key) == ["POST /a/b"])
    }

    @Test(
        "what cannot be served is told, with what to write instead",
        arguments: [
            (["method": "FETCH"], "GET, POST"), (["method": "GET"], "POST for a mutation"),
            (["method": nil], "route 1"),
            (["path": "a"], "begin with a slash"), (["path": "/a//b"], "single slashes"), (["path": "/a/*"], "letters"),
            (["path": "/graphql/x"], "the server's own"), (["path": "/client/x"], "the server's own"),
            (["path": "/healthz"], "the server's own"),
            (["document": nil], "\"document\""), (["document": 1], "\"document\""), (["document": "{ a "], "line 1"),
            (["document": "query A { a } query B { b }"], "one operation"),
            (["document": "subscription { a }"], "subscription"),
            (["variables": [:]], "$x must have a value"), (["variables": ["x": ["x"], "y": ["y"]]], "declare $y"),
            (["variables": ["x": []]], "\"from\""), (["variables": ["x": [1]]], "\"from\""),
            (["variables": 1], "object"),
            (["variables": ["x": ["form": ["x"]]]], "\"form\" means nothing"),
            (["variables": ["x": ["value": "{do.y}"]]], "callers and the lookup's data"),
            (["variables": ["x": ["value": "{caller.age}"]]], "{caller.userId}"),
            (["variables": ["x": ["value": "a", "from": ["x"]]]], "stands alone"),
            (["variables": ["x": ["from": ["x"], "search": "none"]]], "\"search\" of $x"),
            (["lookup": "mutation { a }"], "must be a query"), (["lookup": "query ($z: ID) { a(z: $z) }"], "$z"),
            (["answer": nil], "\"answer\""), (["answer": "{do.nope}"], "{do.nope}"),
            (["answer": "{do.y.deep}"], "deep"),
            (["answer": "{.y}"], "outside"), (["answer": "{$z}"], "$z"), (["answer": "{do.y"], "brace"),
            (["answer": "do.y}"], "brace"), (["answer": "{}"], "no placeholder"),
            (["answer": "{do .y}"], "no placeholder"),
            (["answer": ["each": "{do.items}", "give": "{.q}"]], "do.items.q"),
            (["answer": ["each": "items", "give": 1]], "placeholder of a list"),
            (["status": 500], "200, 201 or 202"), (["status": "200"], "200, 201 or 202"), (["debug": 1], "\"debug\""),
            (["bodies": 1], "\"bodies\" means nothing"),
        ] as [(JSONObject, String)]
    )
    func mistakes(change: JSONObject, words: String) {
        let reading = Self.read(Self.route(change))
        #expect(reading.routes.isEmpty)
        #expect(reading.problems.count == 1)
        let problem = reading.problems.first ?? ""
        #expect(problem.hasPrefix("mine.json: ") && problem.contains(words), "\(problem)")
    }

    @Test(
        "a search that cannot be made is told by its name",
        arguments: [
            ("1", "an object: a name"), (#"{"s": {}}"#, "1 to 8 steps"), (#"{"s": []}"#, "1 to 8 steps"),
            (#"{"s": [{"document": "{ a }", "at": "{a}"}]}"#, "one variable"),
            (#"{"s": [{"document": "mutation ($x: ID) { a(x: $x) }", "at": "{a}"}]}"#, "must be a query"),
            (#"{"s": [{"document": "query ($x: ID) { a(x: $x) }", "at": "a"}]}"#, "one placeholder"),
            (#"{"s": [{"document": "query ($x: ID) { a(x: $x) }", "at": "{b}"}]}"#, "does not select {b}"),
            (#"{"s": [{"document": "query ($x: ID) { a(x: $x) }", "at": "{a}", "prefix": 1}]}"#, "\"prefix\""),
            (#"{"s": [{"document": "query ($x: ID) { a(x: $x) }", "at": "{a}", "owner": "{b.c}"}]}"#, "\"owner\""),
            (#"{"s": [{"document": "query ($x: ID) { a(x: $x) }", "at": "{a}", "for": 1}]}"#, "\"for\" means nothing"),
        ]
    )
    func badSearches(text: String, words: String) {
        let reading = Self.read(#"{"searches": \#(text), "routes": []}"#)
        #expect(reading.problems.count == 1)
        #expect(reading.problems.first?.contains(words) == true, "\(reading.problems)")
    }

    @Test("only a single text that has no words of its own can be searched for")
    func unsearchable() {
        let search = #"{"s": [{"document": "query ($x: ID) { a(x: $x) }", "at": "{a}"}]}"#
        for (type, more) in [("Int!", ""), ("[ID]!", ""), ("ID!", #","words": {}"#)] {
            let route = #"""
                {"method":"POST","path":"/a","document":"mutation ($x: \#(type)) { do(x: $x) }","answer":1,
                 "variables":{"x":{"from":["x"],"search":"s"\#(more)}}}
                """#
            let reading = Self.read(#"{"searches": \#(search), "routes": [\#(route)]}"#)
            #expect(reading.problems.first?.contains("cannot have a \"search\"") == true, "\(reading.problems)")
        }
    }

    @Test("a document that does not fit the schema is told with its route")
    func unfitting() {
        let reading = Self.read(Self.route(), ["Unknown field."])
        #expect(reading.problems == ["mine.json: POST /a/b: Unknown field."])
    }

    @Test("one method and path stand once, with or without a slash at the end")
    func twice() {
        let one = #"{"method":"GET","path":"/a","document":"{ a }","answer":"{a}"}"#
        let other = one.replacing("/a", with: "/a/")
        let reading = Self.read(#"{"routes":[\#(one),\#(other)]}"#)
        #expect(reading.routes.count == 1)
        #expect(reading.problems.first?.contains("GET /a/: another route") == true, "\(reading.problems)")
    }

    @Test("what is no file of routes is told", arguments: ["", "[]", "{\"routes\": 1}", "{\"routes\": [], \"a\": 1}"])
    func noFile(text: String) {
        #expect(Self.read(text).problems.count == 1)
    }
}
