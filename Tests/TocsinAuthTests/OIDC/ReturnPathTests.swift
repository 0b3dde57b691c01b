import Testing
import TocsinAuth

@Suite("Where a browser goes after a sign-in")
struct ReturnPathTests {
    @Test(
        "is a path of this server",
        arguments: ["/", "/topics/7?tab=history#end", "/a//b", "/a\\b", "/" + String(repeating: "x", count: 511)]
    )
    func kept(path: String) {
        let isPlain = !path.contains("\\")
        #expect(ReturnPath.checked(path) == path || !isPlain)
        #expect(ReturnPath.checked(path) != "/" || path == "/")
    }

    @Test(
        "is the beginning for anything else",
        arguments: [
            nil, "", "topics", "//evil.example", "/\\evil.example", "https://evil.example", "\\\\evil", " /a",
            "/\t/evil",
            "/a\r\nSet-Cookie: x=y", "/a\u{0}", "/a\u{7F}", "/a\u{85}b", "/" + String(repeating: "x", count: 512),
            "/" + String(repeating: "é", count: 100),
        ]
    )
    func refused(path: String?) {
        #expect(ReturnPath.checked(path) == "/")
    }

    @Test("is written in ASCII")
    func encoded() {
        #expect(ReturnPath.checked("/thèmes/a b") == "/th%C3%A8mes/a%20b")
    }
}
