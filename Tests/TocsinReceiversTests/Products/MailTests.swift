import Testing
import TocsinCore
import TocsinReceivers

@Suite("Mail")
struct MailTests {
    private func title(_ subject: String) throws -> String {
        try #require(Sample.read(.mail, Sample.request(body: "Subject: \(subject)\n\nb")).first).title
    }

    @Test(
        "encoded words are read",
        arguments: [
            ("=?utf-8?Q?St=C3=B6rung_1?=", "Störung 1"), ("=?UTF-8?B?8J+YgA==?=", "😀"),
            ("=?iso-8859-1?q?f=FCr?= alle", "für alle"),
            ("=?utf-8?B?8J8=?= =?utf-8?B?mIA=?=", "😀"), ("=?windows-1252?Q?=80?=", "€"), ("=?x?y?z?=", "=?x?y?z?="),
            ("=?utf-8?Q?", "=?utf-8?Q?"),
            ("plain = ?", "plain = ?"), ("=?utf-8*de?Q?a?=", "a"),
        ]
    )
    func words(subject: String, expected: String) throws { #expect(try title(subject) == expected) }

    @Test(
        "an importance or a priority counts",
        arguments: [
            ("X-Priority: 1 (Highest)", 5), ("X-Priority: 5", 1), ("Importance: high", 4), ("Importance: Low", 2),
            ("X-Priority: x", nil),
        ] as [(String, Int?)]
    )
    func priorities(header: String, priority: Int?) throws {
        #expect(try #require(Sample.read(.mail, Sample.request(body: "\(header)\n\nb")).first).priority == priority)
    }

    @Test("a mail may name an incident; what it asks for must be known")
    func incidents() throws {
        let mail = "X-Tocsin-Incident: ups\nX-Tocsin-Action: resolve\n\nb"
        let event = try #require(Sample.read(.mail, Sample.request(body: mail)).first)
        #expect(event.action == .resolve && event.key == "ups")
        let wrong = Sample.read(.mail, Sample.request(body: mail.replacing("resolve", with: "explode")))
        #expect(try #require(wrong.first).action == .log && wrong.notes.count == 1)
    }

    @Test("a mail over a mebibyte is too large, an empty one is refused")
    func sizes() {
        #expect(Sample.read(.mail, Sample.request(body: String(repeating: "a", count: 1_048_577))).fault == .tooLarge())
        #expect(Sample.read(.mail, Sample.request(body: " \n")).fault != nil)
    }

    @Test(
        "HTML is read as text, also where it is none",
        arguments: [
            ("<p>a</p><p>b &lt; c</p>", "a\nb < c"), ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
            ("<!-- x -->a<br/>b", "a\nb"),
            ("<style>x{}</style>a<script>b</script>c", "ac"), ("&#x1F600;&#8364;&unknown;&", "😀€&unknown;&"),
            ("<b", "<b"), ("<script>a", ""),
        ]
    )
    func html(html: String, expected: String) throws {
        let mail = "Subject: s\nContent-Type: text/html\n\n\(html)"
        #expect(try #require(Sample.read(.mail, Sample.request(body: mail)).first).body == expected)
    }
}
