import Foundation
import Testing
import TocsinServer

@Suite("README")
struct ReadmeTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "README.md")

    @Test("the settings table is the one the program has; UPDATE_GOLDEN=1 rewrites it")
    func settingsTable() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- settings -->\n"))
        let end = try #require(text.range(of: "<!-- /settings -->"))
        let table =
            SettingsReport.markdown(Array(SettingTable.groups.prefix(5))) + "\n"
            + SettingsReport.brief(Array(SettingTable.groups.dropFirst(5)))
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            let updated = text[..<start.upperBound] + table + text[end.lowerBound...]
            try String(updated).write(to: Self.file, atomically: true, encoding: .utf8)
        } else {
            #expect(text[start.upperBound..<end.lowerBound] == table)
        }
    }

    @Test("it is short enough to be read")
    func length() throws {
        let lines = try String(contentsOf: Self.file, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        #expect(lines.count <= 200)
    }
}
