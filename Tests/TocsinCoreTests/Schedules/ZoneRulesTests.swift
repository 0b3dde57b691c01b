import Testing
import TocsinCore

@Suite("ZoneRules")
struct ZoneRulesTests {
    private func seconds(_ text: String) throws -> Int64 {
        try #require(Timestamp(awsDateTime: text)).milliseconds / 1000
    }

    @Test("clocks are ahead of UTC by the summer's hour between the changes, north and south")
    func offsets() throws {
        let berlin = TestZones.europe(standard: 3600)
        #expect(berlin.offset(at: try seconds("2026-03-29T00:59:59Z")) == 3600)
        #expect(berlin.offset(at: try seconds("2026-03-29T01:00:00Z")) == 7200)
        #expect(berlin.offset(at: try seconds("2026-10-25T00:59:59Z")) == 7200)
        #expect(berlin.offset(at: try seconds("2026-10-25T01:00:00Z")) == 3600)
        let sydney = try #require(TestZones.zone("AEST-10AEDT,M10.1.0,M4.1.0/3"))
        #expect(sydney.offset(at: try seconds("2026-01-01T00:00:00Z")) == 39_600)
        #expect(sydney.offset(at: try seconds("2026-07-01T00:00:00Z")) == 36_000)
    }

    @Test("a wall's time in a gap is skipped at the change, and one in a fold is shown twice")
    func gapsAndFolds() throws {
        let berlin = TestZones.europe(standard: 3600)
        let gap = try seconds("2026-03-29T02:30:00Z")
        #expect(berlin.moments(ofWall: gap) == .skipped(at: try seconds("2026-03-29T01:00:00Z")))
        let fold = try seconds("2026-10-25T02:30:00Z")
        #expect(
            berlin.moments(ofWall: fold)
                == .two(first: try seconds("2026-10-25T00:30:00Z"), second: try seconds("2026-10-25T01:30:00Z"))
        )
        let noon = try seconds("2026-10-25T12:00:00Z")
        #expect(berlin.moments(ofWall: noon) == .one(try seconds("2026-10-25T11:00:00Z")))
    }

    @Test("tails with names in brackets, half hours and times of other days are read")
    func tails() throws {
        #expect(TestZones.zone("<+0530>-5:30")?.offset(at: 0) == 19_800)
        let nuuk = try #require(TestZones.zone("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"))
        #expect(nuuk.offset(at: try seconds("2026-03-29T00:59:59Z")) == -7200)
        #expect(nuuk.offset(at: try seconds("2026-03-29T01:00:00Z")) == -3600)
    }

    @Test("what is no zone's file, or is cut anywhere, is refused and crashes nothing")
    func refused() {
        let whole = TestZones.file("CET-1CEST,M3.5.0,M10.5.0/3")
        #expect(ZoneRules(tzif: whole) != nil)
        for count in whole.indices { #expect(ZoneRules(tzif: Array(whole.prefix(count))) == nil) }
        #expect(ZoneRules(tzif: TestZones.file("UTC0", magic: "TZid")) == nil)
        for tail in ["X", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.0", "CET-999"] {
            #expect(TestZones.zone(tail) == nil, "\(tail)")
        }
    }

    @Test(
        "a name that leaves the folder or is none is never looked up",
        arguments: [
            "", "../etc/passwd", "/etc/localtime", "Europe//Berlin", "Europe/Berlin/", "a.b", "Europe/Berlin\0",
            "localtime", "posixrules",
        ]
    )
    func names(name: String) {
        #expect(!ZoneName.mayBe(name))
    }

    @Test("names of the list are taken", arguments: ["Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
    func goodNames(name: String) {
        #expect(ZoneName.mayBe(name))
    }
}
