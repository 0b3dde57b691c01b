import Testing
import TocsinContent

@Suite("Links")
struct LinkTests {
    private static let mall = LinkGuard(allowed: ["*.mallnline.com", "mallnline.com"])

    @Test(
        "links of the allowed hosts open inside",
        arguments: [
            "https://shop.mallnline.com/x", "https://mallnline.com", "https://mallnline.com/",
            "https://MALLNLINE.com/a?b#c",
            "https://a.b.mallnline.com/", "https://shop.mallnline.com.", "https://shop.mallnline.com:443/x",
            "HTTPS://shop.mallnline.com", "https://xn--bcher-kva.mallnline.com/",
            "https://shop.mallnline.com?next=@evil",
        ]
    )
    func inside(url: String) { #expect(Self.mall.opensInside(url)) }

    @Test(
        "all other links go to the system's browser",
        arguments: [
            "https://evilmallnline.com", "https://mallnline.com.evil.example",
            "https://shop.mallnline.com@evil.example",
            "https://evil.example\\@shop.mallnline.com", "javascript:alert(1)",
            "javascript://shop.mallnline.com/%0aalert(1)",
            "http://shop.mallnline.com", "https://", "", "https:/shop.mallnline.com", "https:shop.mallnline.com",
            "https://shop.mallnline.com:8443/", "https://shop.mallnline.com:/", "https://user:p@shop.mallnline.com/",
            "https://shop.mallnline.com%2eevil.example/", "https://shop.mallnline%2ecom/", "https://127.0.0.1/",
            "https://2130706433/", "https://0x7f.1/", "https://[::1]/", "https://.mallnline.com/",
            "https://shop..mallnline.com/", "https://shop.mallnline.com..", "https://shop.mallnline.com\t.evil.example",
            "https://shop.mallnline.com/a\nb", " https://shop.mallnline.com", "https://shop.mallnline.com/a\u{0}",
            "https://sh\u{043E}p.mallnline.com/", "https://xn--shp-fed.mallnline.com/", "https://xn--.mallnline.com/",
            "https://xn--a.mallnline.com/", "https://xn--99999999999.mallnline.com/", "//shop.mallnline.com/",
            "data:text/html,https://shop.mallnline.com", "blob:https://shop.mallnline.com/1",
            "https://shop.mallnline.com\u{202E}/",
            "https://" + String(repeating: "a.", count: 200) + "mallnline.com/",
        ]
    )
    func outside(url: String) { #expect(!Self.mall.opensInside(url)) }

    @Test("a star is one or more labels and never none; a rule that is no host allows nothing")
    func rules() {
        #expect(!LinkGuard(allowed: ["*.mallnline.com"]).opensInside("https://mallnline.com/"))
        #expect(LinkGuard(allowed: ["*.MALLNLINE.com."]).opensInside("https://a.b.mallnline.com/"))
        for rule in ["*", "*.", "", "https://mallnline.com", "mall*.com", "10.0.0.1", "*.com/..", "a b"] {
            #expect(!LinkGuard(allowed: [rule]).opensInside("https://mallnline.com/"), "\(rule)")
        }
    }

    private enum Route: Equatable {
        case post(String), conversation(String), leaderboard, home, pair(String, String)
    }

    private static let table = LinkTable<Route>(
        [
            .path("/posts/{id}", Route.post), .path("/messages/{id}", Route.conversation),
            .path("/stats", Route.leaderboard), .path("/", Route.home),
            .path("/a/{x}/b/{y}", gaps: { $0[0] == "no" ? nil : Route.pair($0[0], $0[1]) }),
        ],
        types: ["leader": .leaderboard, "generic": .home],
        hosts: ["pong.college"]
    )

    @Test("a link of the app's own leads to its view")
    func links() {
        let route = { (url: String) in Self.table.route(type: nil, url: url) }
        #expect(route("/posts/7") == .post("7") && route("https://pong.college/posts/7?x=1#y") == .post("7"))
        #expect(route("/messages/a%20b/") == .conversation("a b") && route("/stats") == .leaderboard)
        #expect(route("/") == .home && route("https://pong.college") == .home)
        #expect(route("/a/1/b/2") == .pair("1", "2") && route("/a/no/b/2") == nil)
        for url in ["/posts", "/posts/7/8", "/nothing", "/posts/%2F", "/posts/%zz", "/posts/%ff", "/posts/a b"] {
            #expect(route(url) == nil, "\(url)")
        }
    }

    @Test("a foreign link leads nowhere, whatever the type says")
    func foreign() {
        let urls = [
            "https://evil.example/posts/7", "http://pong.college/posts/7", "//evil.example/posts/7", "posts/7",
            "https://pong.college.evil.example/posts/7", "https://www.pong.college/posts/7", "javascript:x",
        ]
        for url in urls { #expect(Self.table.route(type: "leader", url: url) == nil, "\(url)") }
    }

    @Test("without a link the type leads, and a type that is not listed is generic")
    func types() {
        #expect(Self.table.route(type: "leader", url: nil) == .leaderboard)
        #expect(Self.table.route(type: "leader", url: "") == .leaderboard)
        #expect(Self.table.route(type: "upvote", url: nil) == .home)
        #expect(Self.table.route(type: "leader", url: "/nothing") == .leaderboard)
        #expect(Self.table.route(type: nil, url: nil) == nil)
        var push = PushContent()
        push.url = "/posts/3"
        #expect(Self.table.route(for: push) == .post("3"))
        #expect(LinkTable<Route>([]).route(type: "x", url: nil) == nil)
    }
}
