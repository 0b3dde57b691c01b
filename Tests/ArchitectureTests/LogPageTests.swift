import Testing

/// docs/logs.md lists every event of the log, and no other.
@Suite("Events of the log")
struct LogPageTests {
    private static let sources = SourceFile.all(below: "Sources")

    /// Events by the places that write them.
    private static var written: [String: [String]] {
        var written: [String: [String]] = [:]
        for file in sources {
            for (number, text) in file.code where text.has("\"event\": ") {
                for match in text.matches(of: /"event": "([^"]*)"/) {
                    written[String(match.1), default: []].append("\(file.path):\(number)")
                }
            }
        }
        return written
    }

    @Test("each event is a word in small letters, and one place alone writes it")
    func unique() {
        #expect(Self.written.count > 50)
        for (event, places) in Self.written {
            #expect(event.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil, "\(event)")
            #expect(places.count == 1, "\(event) is written in \(places)")
        }
    }

    @Test("the page lists the events that are written, each once")
    func listed() throws {
        let page = try #require(MarkdownPage.all.first { $0.path == "docs/logs.md" })
        let rows = page.lines.filter { $0.hasPrefix("| `") }.compactMap {
            $0.firstMatch(of: /^\| `([a-z_]+)` \| (?:error|warning|notice|info|debug) \|/)
        }
        let listed = rows.map { String($0.1) }
        #expect(Set(listed).count == listed.count)
        #expect(listed.sorted() == Self.written.keys.sorted())
    }

    @Test("no line is written without its event")
    func complete() {
        for file in Self.sources {
            let text = file.lines.joined(separator: "\n")
            guard text.has("ogger.") else { continue }
            let calls = text.matches(of: /[lL]ogger\.(?:trace|debug|info|notice|warning|error|critical)\(/)
            guard !calls.isEmpty else { continue }
            let events = text.matches(of: /"event": "/).count
            // Lines whose fields are put together before they are written.
            #expect(calls.count <= events, "\(file.path): \(calls.count) lines, \(events) events")
        }
    }
}
