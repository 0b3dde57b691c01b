import Testing
import TocsinCore
import TocsinReceivers

@Suite("Routes as they are written")
struct IntegrationRouteReadingTests {
    private static func problem(_ match: String) -> String? {
        do throws(RouteProblem) {
            _ = try IntegrationRoute.list(.json(#"[{"match": \#(match), "priority": 5}]"#))
            return nil
        } catch {
            return error.text
        }
    }

    @Test("a label that would have to be two texts is refused, for no event could have it")
    func twoTexts() throws {
        for match in [#"{"team": {"=": ["db", "web"]}}"#, #"{"env": "x", "team": {"=": ["db", "db", "web"]}}"#] {
            let problem = try #require(Self.problem(match))
            #expect(problem.contains("routes[0]") && problem.contains("\"team\" cannot be two texts"), "\(problem)")
        }
        let fine = [
            #"{"team": {"=": ["db", "db"]}}"#, #"{"team": {"!=": ["db", "web"]}}"#,
            #"{"team": {"=*": ["d*", "*b"]}}"#, #"{"team": {"=": "db", "!=": "web"}, "env": "web"}"#,
        ]
        for match in fine { #expect(Self.problem(match) == nil, "\(match)") }
    }
}
