import JSON
import Logging
import Testing
import TocsinCore
import TocsinServer

@Suite("The forms of the log")
struct LogStyleTests {
    private static let line = LogLine(
        .warning,
        "the database cannot be reached; trying again",
        [
            "event": "database_away", "away_ms": .stringConvertible(1200), "duration_ms": .stringConvertible(0.25),
            "is_shared": .stringConvertible(true), "reason": "no \"route\"\nto host",
            "status": .stringConvertible(503),
        ],
        at: Timestamp(milliseconds: 1_700_000_000_123)
    )

    private static func text(_ line: LogLine, _ format: LogFormat, hasPriorities: Bool = false) -> String {
        let style = LogStyle(format, node: "a", hasPriorities: hasPriorities)
        return String(decoding: style.bytes(of: line), as: UTF8.self)
    }

    @Test("a line is one JSON object, in which numbers are numbers and every line has the same first keys")
    func json() throws {
        let text = Self.text(Self.line, .json)
        #expect(
            text.hasPrefix(#"{"time":"2023-11-14T22:13:20.123Z","level":"warning","event":"database_away","message":"#)
        )
        #expect(text.hasSuffix("}\n") && text.count { $0 == "\n" } == 1)
        let line = try JSONParser.parse(text)
        #expect(line["node"] == "a" && line["away_ms"] == 1200 && line["duration_ms"] == 0.25)
        #expect(line["is_shared"] == true && line["status"] == 503 && line["reason"] == "no \"route\"\nto host")
    }

    @Test("OpenTelemetry's names stand for ours where it has them, and the values are the same")
    func otel() throws {
        let line = try JSONParser.parse(Self.text(Self.line, .otel))
        #expect(line["severity_text"] == "WARNING" && line["severity_number"] == 13)
        #expect(line["body"] == "the database cannot be reached; trying again")
        #expect(line["event.name"] == "tocsin.database_away" && line["service.instance.id"] == "a")
        #expect(line["http.response.status_code"] == 503 && line["tocsin.away_ms"] == 1200)
    }

    @Test("text for a terminal is one line, in which nothing can move the cursor or look like another field")
    func terminal() {
        var line = Self.line
        #expect(
            Self.text(line, .text)
                == "2023-11-14T22:13:20.123Z warning  database_away: the database cannot be reached; trying again "
                + "away_ms=1200 duration_ms=0.25 is_shared=true reason=\"no \\\"route\\\"\u{FFFD}to host\" status=503\n"
        )
        line.message = "a\u{1B}[2Jb\u{9B}c\u{202E}"
        line.fields = [("path", .text("/x status=200")), ("user", .text("ada"))]
        #expect(Self.text(line, .text).hasSuffix("a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD} path=\"/x status=200\" user=ada\n"))
    }

    @Test("for the journal each line begins with its priority")
    func priorities() {
        var line = Self.line
        for (level, priority) in [(.critical, 2), (.error, 3), (.warning, 4), (.notice, 5), (.info, 6), (.trace, 7)]
            as [(Logger.Level, Int)]
        {
            line.level = level
            #expect(Self.text(line, .json, hasPriorities: true).hasPrefix("<\(priority)>{\"time\""))
        }
    }
}
