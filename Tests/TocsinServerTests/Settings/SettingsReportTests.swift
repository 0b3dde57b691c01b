import JSON
import Testing
import TocsinServer

@Suite("Settings shown")
struct SettingsReportTests {
    @Test("what is shown can be used as a settings file, but for secrets")
    func roundTrip() throws {
        let environment = ["TOCSIN_PORT": "9000", "TOCSIN_NODE": "a \"b\"", "TOCSIN_PUSH_RETRY_SECONDS": "1, 2.5"]
        let reading = try read(environment)
        let text = SettingsReport.text(reading.origins, showsOrigin: true)
        let again = try read(flags: ["config": "t.toml"], files: TestFiles.make(["t.toml": text]))
        #expect(again.settings == reading.settings)
    }

    @Test("each setting names its origin")
    func origins() throws {
        let reading = try read(flags: ["port": "9"], ["TOCSIN_HOST": "h"])
        let text = SettingsReport.text(reading.origins, showsOrigin: true)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.contains("host = \"h\" # TOCSIN_HOST"))
        #expect(lines.contains("port = 9 # --port"))
        #expect(lines.contains("page-rows = 100 # default"))
        let plain = SettingsReport.text(reading.origins, showsOrigin: false).split(separator: "\n")
        #expect(plain.contains("host = \"h\"") && plain.contains("# node = (not set)"))
        let json = SettingsReport.json(reading.origins)
        #expect(json["port"] == ["value": "9", "origin": "--port", "variable": "TOCSIN_PORT"])
        #expect(json["node"]?["value"]?.isNull == true)
    }

    @Test("the example has every setting, and changes nothing with or without its signs of comment")
    func example() throws {
        let text = SettingsReport.example()
        for definition in SettingTable.all { #expect(text.contains("\n#\(definition.key) = ")) }
        let bare = text.split(separator: "\n").map { line in
            line.hasPrefix("#") && !line.hasPrefix("# ") && !line.hasPrefix("##") ? line.dropFirst() : line
        }.joined(separator: "\n")
        let defaults = try read().settings
        for file in [text, bare] {
            let reading = try read(flags: ["config": "t.toml"], files: TestFiles.make(["t.toml": file]))
            #expect(reading.settings == defaults)
            #expect(reading.warnings.isEmpty)
        }
    }

    @Test("the manual page has every flag, and no line that roff would take for a command")
    func manual() {
        let page = SettingsReport.manual()
        for definition in SettingTable.all {
            #expect(page.contains("--\(definition.key),".replacing("-", with: "\\-")))
        }
        for line in page.split(separator: "\n") where line.hasPrefix(".") {
            #expect([".SH ", ".SS ", ".TP", ".B "].contains { line.hasPrefix($0) }, "\(line)")
        }
    }
}
