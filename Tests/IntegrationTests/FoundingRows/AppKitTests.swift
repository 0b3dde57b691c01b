import Foundation
import JSON
import Testing
import TocsinClient

@Suite("Founding rows: the app kit", .timeLimit(.minutes(5)))
struct AppKitTests {
    private enum View: Equatable { case post(String), leaderboard, home }

    private static let links = LinkTable<View>(
        [.path("/posts/{id}", View.post), .path("/stats", View.leaderboard)],
        types: ["leader": .leaderboard, "generic": .home],
        hosts: ["pong.college"]
    )

    @Test(
        "A19, A29, D2, D8, D9: phones registered by their tokens get pushes that the app kit reads and leads to a view"
    )
    func delivered() async throws {
        try await Installation.run { installation in
            let client = try installation.makeClient(token: try await installation.addUser("ada"))
            let bytes = [UInt8](repeating: 0xA0, count: 31) + [0x0F]
            _ = try await client.registerToken(hexEncoded(bytes), platform: .ios)
            _ = try await client.registerToken("phone-1:APA91bKit", platform: .android)
            let topicID = try await client.makeTopic(named: "alerts")
            var draft = MessageDraft(title: "Upvoted", body: "by bob", type: 3)
            draft.url = "https://pong.college/posts/7"
            draft.category = "TASK_ACTIONABLE"
            draft.data = ["type": "upvote", "branch": "main"]
            let message = try await client.publish(topic: .id(topicID), draft)
            let pushes = try await Self.pushes(of: installation, count: 2)
            for push in pushes {
                let payload = push.record["payload"]
                let content =
                    push.token == hexEncoded(bytes)
                    ? PushContent(apple: payload?.objectValue ?? [:])
                    : PushContent(fcm: Self.texts(payload?["message"]?["data"]), hasNotification: true)
                #expect(content.messageID == message.id && content.topicID == topicID, "\(push.record)")
                #expect(content.number == 1 && content.typeNumber == 3 && content.category == "TASK_ACTIONABLE")
                #expect(content.text("type") == "upvote" && content.text("branch") == "main" && !content.isSilent)
                #expect(Self.links.route(for: content) == .post("7"))
            }
            #expect(Self.links.route(type: "leader", url: nil) == .leaderboard)
            #expect(Self.links.route(type: "reply", url: nil) == .home)
            #expect(Self.links.route(type: "leader", url: "https://evil.example/posts/7") == nil)

            // The public types of a backend's push.
            let platform: PushPlatform? = PushPlatform("ios")
            #expect(platform == .ios && PushPlatform("windows") == nil)
            let me = try await client.query("{ me { userId } }")["me"]?["userId"]?.stringValue
            var payload = PushPayload(title: "Direct", body: "B")
            payload.key = "once"
            let result: PushResult = try await client.sendPush(payload, userID: me, platforms: [.ios])
            #expect(result.devices == 1 && result.unknownTokens == 0)
            #expect(try await client.sendPush(payload, userID: me, platforms: [.ios]) == result)
            #expect(try await client.notificationCategories()["ALERT"]?.actions.isEmpty == false)
        }
    }

    @Test(
        "A22–A25, A30: tocsin.js with the helpers for web views is served with version, type and tag, and written to a folder"
    )
    func browserFiles() async throws {
        try await Installation.run { installation in
            let written = try await installation.tocsin(
                ["client", "js", "--out", installation.folder + "/public"],
                token: ""
            )
            #expect(written.status == 0, "\(written.errors)")
            let types = [
                "tocsin.js": "text/javascript; charset=utf-8", "tocsin-worker.js": "text/javascript; charset=utf-8",
                "tocsin.d.ts": "text/plain; charset=utf-8",
            ]
            let version = try await installation.tocsin(["--version"], token: "").output.trimmingCharacters(
                in: .newlines
            )
            let release = version.prefix { $0 != " " }
            #expect(release == ClientVersion.text, "client and server are released together")
            for (name, type) in types {
                let answer = try await installation.http("/client/\(name)")
                #expect(answer.status == 200 && answer.header("content-type") == type)
                #expect(answer.body.hasPrefix("// \(name) \(version): "), "\(answer.body.prefix(80))")
                #expect(
                    try answer.body == String(contentsOfFile: installation.folder + "/public/\(name)", encoding: .utf8)
                )
                let tag = try #require(answer.header("etag"))
                let again = try await installation.http("/client/\(name)", ["--header", "If-None-Match: \(tag)"])
                #expect(again.status == 304 && again.body.isEmpty && again.header("content-length") == nil)
                let packed = try await installation.http("/client/\(name)", ["--compressed"])
                #expect(packed.header("content-encoding") == "gzip" && packed.body == answer.body)
                #expect(packed.header("etag") != tag && packed.header("vary") == "Accept-Encoding")
            }
            let helpers = [
                "isMobileWebView", "isIOSWebView", "isAndroidWebView", "getMobilePlatform", "getNativeAuthToken",
                "sendBridgeMessage",
            ]
            let script = try await installation.http("/client/tocsin.js").body
            for helper in helpers { #expect(script.contains("export function \(helper)("), "\(helper)") }
            #expect(try await installation.http("/client/other.js").status == 404)
            #expect(try await installation.http("/client/tocsin.js", ["--request", "POST"]).status == 405)
        }
    }

    @Test("A26: links within *.mallnline.com stay in the app, all others leave it")
    func guardedLinks() {
        let links = LinkGuard(allowed: ["*.mallnline.com", "mallnline.com"])
        #expect(links.opensInside("https://shop.mallnline.com/x") && links.opensInside("https://mallnline.com/"))
        for url in [
            "https://evilmallnline.com", "https://mallnline.com.evil.example", "http://shop.mallnline.com",
            "https://shop.mallnline.com@evil.example", "https://evil.example\\@shop.mallnline.com",
            "javascript:alert(1)",
        ] {
            #expect(!links.opensInside(url), "\(url)")
        }
    }

    @Test("A22–A24: the app's script gives a token that cannot break out of it, and reads navigate and addToCart")
    func bridge() async throws {
        let bridge = WebViewBridge(hosts: LinkGuard(allowed: ["*.mallnline.com"]))
        let script = bridge.script(token: "</script><script>alert(1)</script>", platform: .ios)
        #expect(script.contains("window.__NGWENYA_TOKEN__=") && script.contains("window.__NGWENYA_PLATFORM__=\"ios\""))
        #expect(!script.contains("<"))
        let url = "https://shop.mallnline.com/"
        let navigate = bridge.message(body: ["action": "navigate", "route": "/cart"], isMainFrame: true, url: url)
        #expect(navigate == .navigate(route: "/cart"))
        let add = bridge.message(action: "addToCart", json: "{\"productId\":\"p1\"}", isMainFrame: true, url: url)
        #expect(add == .addToCart(productID: "p1"))
    }

    @Test("C2, C6: a wallet's key is kept by a store on the device, which asks the person first")
    func keys() async throws {
        let store = MemoryKeyStore()
        try await store.store([1, 2, 3], named: "wallet", protection: .biometric(reason: "Sign in"))
        #expect(try await store.key(named: "wallet") == [1, 2, 3])
        #expect(await store.questions == ["Sign in"])
        await store.setConfirms(false)
        await #expect(throws: KeyStoreError.refused) { try await store.key(named: "wallet") }
    }

    @Test("C8, C10, C12, C13: eleven keys of an encrypted payload are read, kept as fourteen facts, and shown once")
    func wallet() {
        let data = [
            "sid": "s1", "type": "2", "app": "Bank", "icon": "i", "url": "u", "asub": "c1", "amsg": "c2", "acta": "c3",
            "aimg": "c4", "secret": "04ab", "epoch": "1700000000000", "messageId": "m1", "topicId": "t1", "tag": "m1",
            "encrypted": "1",
        ]
        let push = PushContent(fcm: data.merging(["data.type": "2", "data.url": "u", "type": "2"]) { $1 })
        let payload = EPNSPayload(push: push)
        #expect(payload.kind == .secret && payload.secret == "04ab" && payload.message == "c2" && payload.app == "Bank")
        let row = DevicePayload(rowID: 1, payload: payload).row
        #expect(row.count == 14 && row["sid"] == "s1" && row["epoch"] == 1_700_000_000_000)
        var shown = ShownMessages()
        let isShown = [shown.shows(push), shown.shows(push)]
        #expect(isShown == [true, false])
    }

    @Test("D9, D10: each of the app's states has its hook and its steps")
    func states() {
        #expect(PushReception.table.map(\.state) == AppState.allCases)
        #expect(PushReception.table.allSatisfy { !$0.iOSHook.isEmpty && !$0.androidHook.isEmpty && !$0.steps.isEmpty })
        let item = PushContent(item: [
            "notification": ["title": "T", "body": "B"],
            "data": ["id": "m1", "timestamp": "2026-01-01T00:00:00Z", "type": "upvote", "url": "/posts/7"],
        ])
        #expect(item.messageID == "m1" && item.type == "upvote" && Self.links.route(for: item) == .post("7"))
    }

    private static func pushes(of installation: Installation, count: Int) async throws -> [SeenPush] {
        var pushes: [SeenPush] = []
        try await eventually("\(count) pushes arrive") {
            pushes = try await installation.simulator?.pushes().filter(\.isAccepted) ?? []
            return pushes.count >= count
        }
        return pushes
    }

    private static func texts(_ value: JSONValue?) -> [String: String] {
        var texts: [String: String] = [:]
        for member in value?.objectValue ?? [:] { texts[member.key] = member.value.stringValue }
        return texts
    }
}
