import Foundation
import Testing
import TocsinServer

@Suite("docs/settings.md")
struct SettingsPageTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/settings.md")
    /// The last line that is written by hand.
    private static let mark = "<!-- The rest is written by the program: "

    @Test("its tables are those of the program; UPDATE_GOLDEN=1 rewrites them")
    func tables() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let mark = try #require(text.range(of: Self.mark))
        let end = try #require(text[mark.upperBound...].firstIndex(of: "\n"))
        let page = text[...end] + SettingsReport.markdown()
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try String(page).write(to: Self.file, atomically: true, encoding: .utf8)
        } else {
            #expect(text == page, "docs/settings.md differs; rewrite it with UPDATE_GOLDEN=1")
        }
    }

    @Test("A27: the page says why APNS_BUNDLE_ID has no default")
    func bundleID() throws {
        let rows = SettingsReport.markdown().split(separator: "\n")
        let row = try #require(rows.first { $0.hasPrefix("| `APNS_BUNDLE_ID`") })
        #expect(row.contains("no default on purpose"))
    }

    @Test("each setting has a row of its own, and no cell is longer than a phrase")
    func rows() {
        let rows = SettingsReport.markdown().split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count == SettingTable.all.count)
        for row in rows {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
            #expect(cells.count == 6, "\(row)")
            #expect(cells.allSatisfy { $0.count <= 200 }, "\(row)")
        }
    }
}
