import Foundation
import Testing

/// What packages tell of the program's parts.
@Suite("Packaging")
struct PackagingTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("the copyright file names every package that is built in")
    func licences() throws {
        let copyright = try Self.text("ops/debian/copyright").lowercased()
        let declared = try Self.text("Package.swift").matches(of: /\.package\(url: "[^"]*\/([^"\/]+)"/)
            .map { $0.output.1.lowercased() }
        // Written by the build: it also has what the packages themselves depend on.
        let resolved = (try? Self.text("Package.resolved")) ?? ""
        let all = declared + resolved.matches(of: /"identity" : "([^"]+)"/).map { String($0.output.1) }
        #expect(all.count >= 6)
        for name in all {
            #expect(copyright.contains(try Regex("(?m)^files:.* \(name)( |$)")), "ops/debian/copyright lacks \(name)")
        }
    }

    @Test("the units run the program as the packages install it, with the same sandbox for one and for several")
    func units() throws {
        let one = try Self.text("ops/systemd/tocsin.service").components(separatedBy: "\n")
        let several = try Self.text("ops/systemd/tocsin@.service").components(separatedBy: "\n")
        let sandbox = { (lines: [String]) in lines.drop { !$0.hasPrefix("UMask=") } }
        #expect(sandbox(one) == sandbox(several) && sandbox(one).count > 20)
        #expect(one.contains("Type=notify") && one.contains("WatchdogSec=30"))
    }

    @Test("the spool's unit has the sandbox of the server's, but for who may write and see users")
    func spoolUnit() throws {
        let lines = { (name: String) in
            try Self.text("ops/systemd/" + name).components(separatedBy: "\n").filter { !$0.hasPrefix("#") }
        }
        let (server, spool) = try (lines("tocsin.service"), lines("tocsin-spool.service"))
        let box = server.drop { !$0.hasPrefix("UMask=") }.prefix { !$0.hasPrefix("[Install]") }
        let missing = box.filter { !spool.contains($0) }
        #expect(missing == ["UMask=0077", "PrivateUsers=yes", "SystemCallFilter=setpriority"])
        #expect(spool.contains("User=tocsin") && spool.contains("ExecStart=/usr/bin/tocsin event flush"))
        #expect(try Self.text("ops/debian/tocsin.tmpfiles").contains("d /var/spool/tocsin 2770 tocsin tocsin"))
        #expect(try Self.text("ops/systemd/tocsin-spool.timer").contains("OnUnitInactiveSec=1min"))
    }
}
