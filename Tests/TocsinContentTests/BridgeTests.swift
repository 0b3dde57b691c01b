import JSON
import Testing
import TocsinContent

@Suite("The bridge to a web view")
struct BridgeTests {
    private static let bridge = WebViewBridge(hosts: LinkGuard(allowed: ["*.mallnline.com", "mallnline.com"]))

    @Test("a token cannot end its script, its string or its line")
    func escaping() {
        let token = "</script><script>\"'\\ & \u{2028}\u{2029}\n\u{0} é 👍"
        let script = Self.bridge.script(token: token, platform: .ios)
        #expect(!script.contains("<") && !script.contains("\n") && !script.contains("\u{2028}"))
        // A literal of the script is JSON as well, and says the token.
        let start = script.firstRange(of: "__NGWENYA_TOKEN__=")?.upperBound
        let end = script.firstRange(of: ";window.__NGWENYA_PLATFORM__=\"ios\"")?.lowerBound
        if let start, let end {
            #expect((try? JSONParser.parse(script[start..<end].utf8)) == .string(token))
        } else {
            Issue.record("\(script)")
        }
    }

    @Test("without a token the page learns its platform alone; a newer token is told")
    func scripts() {
        let script = Self.bridge.script(token: nil, platform: .android)
        #expect(script.contains("__NGWENYA_PLATFORM__=\"android\"") && !script.contains("TOKEN"))
        #expect(Self.bridge.tokenScript("t2").contains("__NGWENYA_TOKEN__=\"t2\""))
        #expect(Self.bridge.tokenScript(nil).contains("=null") && Self.bridge.tokenScript(nil).contains("tocsin-token"))
    }

    @Test("names are identifiers, or there is no bridge", arguments: ["", "a b", "1a", "a;alert(1)", "a\"", "é"])
    func names(bad: String) {
        #expect(BridgeNames(token: "T", platform: "P", handler: "h", object: "O") != nil)
        #expect(BridgeNames(token: bad, platform: "P", handler: "h", object: "O") == nil)
    }

    @Test("what pages ask for is read from iOS and from Android")
    func messages() {
        #expect(BridgeMessage(body: ["action": "navigate", "route": "/cart"]) == .navigate(route: "/cart"))
        #expect(BridgeMessage(body: ["action": "addToCart", "productId": 7]) == .addToCart(productID: "7"))
        #expect(BridgeMessage(action: "addToCart", json: "{\"productId\":\"p1\"}") == .addToCart(productID: "p1"))
        let share = BridgeMessage(body: ["action": "share", "text": "x"])
        #expect(share == .other(action: "share", fields: ["text": "x"]))
        #expect(share == BridgeMessage(action: "share", json: "{\"text\":\"x\"}"))
        #expect(BridgeMessage(action: "close", json: "{}") == .other(action: "close", fields: [:]))
        for body in ["text", 7, [String: String](), ["action": ""], ["action": 1], ["action": "navigate"]] as [Any] {
            #expect(BridgeMessage(body: body) == nil, "\(body)")
        }
        #expect(BridgeMessage(action: "navigate", json: "not JSON") == nil)
        #expect(BridgeMessage(action: String(repeating: "a", count: 65), json: "{}") == nil)
        let large = String(repeating: "x", count: 70_000)
        #expect(BridgeMessage(action: "share", json: "{\"text\":\"\(large)\"}") == nil)
        #expect(BridgeMessage(body: ["action": "share", "text": large]) == nil)
    }

    @Test("only the main frame of an allowed page is heard")
    func origins() {
        let body = ["action": "navigate", "route": "/cart"]
        let hear = { (isMainFrame: Bool, url: String) in
            Self.bridge.message(body: body, isMainFrame: isMainFrame, url: url)
        }
        #expect(hear(true, "https://shop.mallnline.com/x") == .navigate(route: "/cart"))
        #expect(hear(false, "https://shop.mallnline.com/x") == nil)
        #expect(hear(true, "https://evil.example/") == nil)
        let json = "{\"route\":\"/cart\"}"
        let url = "https://mallnline.com/"
        #expect(Self.bridge.message(action: "navigate", json: json, isMainFrame: true, url: url) != nil)
        #expect(
            Self.bridge.message(action: "navigate", json: json, isMainFrame: true, url: "http://mallnline.com/") == nil
        )
    }
}
