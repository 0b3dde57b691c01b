import Testing
import TocsinCore

@Suite("What an audit event keeps")
struct AuditEventTests {
    @Test(
        "of an address only its network is kept",
        arguments: [
            ("192.0.2.77", "192.0.2.0/24"), ("::ffff:192.0.2.77", "192.0.2.0/24"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"), ("2001:db8::7", "2001:db8::/48"),
            ("2001:DB8:0:9::7", "2001:db8::/48"), ("::1", "::/48"), ("fe80::1", "fe80::/48"),
            ("1.2.3", nil), ("1.2.3.400", nil), ("localhost", nil), ("12345::1", nil), ("", nil),
        ] as [(String, String?)]
    )
    func network(address: String, network: String?) {
        #expect(AuditNetwork.network(of: address) == network)
    }

    @Test("a detail is JSON, and what is nil is left out")
    func json() {
        let detail: AuditDetail = [
            "name": .text("say \"hi\"\n"), "count": 3, "isDry": true, "none": nil, "to": .list(["a"]),
        ]
        #expect(detail.json == #"{"name":"say \"hi\"\u000a","count":3,"isDry":true,"to":["a"]}"#)
        #expect(AuditDetail().json == "{}")
    }

    @Test("a detail has 4 KiB at most, whatever is put in, and says that it was cut")
    func bounds() {
        let long = String(repeating: "ä\"", count: 4000)
        let one: AuditDetail = ["name": .text(long)]
        #expect(one.json.hasSuffix("…\"}"))
        #expect(one.json.utf8.count < AuditDetail.maximumBytes)
        let many: AuditDetail = ["first": "kept", "all": .list(Array(repeating: long, count: 20)), "last": "kept too"]
        #expect(many.json == #"{"first":"kept","last":"kept too","cut":true}"#)
    }
}
