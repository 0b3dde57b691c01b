import JSON
import Testing
import TocsinAuth
import TocsinCore
import TocsinPush

/// Subscriptions as browsers give them.
enum Browser {
    static let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    static let auth = "BTBZMqHH6r4Tts7J_aSIgg"

    static func subscription(_ endpoint: String, p256dh: String = point, auth: String = auth) -> String {
        #"{"endpoint":"\#(endpoint)","keys":{"auth":"\#(auth)","p256dh":"\#(p256dh)"}}"#
    }
}

@Suite("Registering browsers")
struct WebPushSubscriptionTests {
    private func registrar(_ rules: WebPushAddressRules = WebPushAddressRules()) -> WebPushRegistrar {
        WebPushRegistrar(applicationServerKey: nil, crypto: WebPushCipher(), rules: rules)
    }

    @Test("however a subscription is written down, it has one form")
    func canonical() throws {
        let texts = [
            Browser.subscription("https://push.example/p/A1?x=y"),
            """
            { "expirationTime": null,
              "endpoint": "https://Push.Example:443/p/A1?x=y",
              "keys": { "p256dh": "\(Browser.point)=", "auth": "\(Browser.auth)==" }, "more": [1] }
            """,
        ]
        let forms = try texts.map { try registrar().canonicalToken($0) }
        #expect(Set(forms).count == 1)
        let value = try JSONParser.parse(forms[0])
        #expect(value["endpoint"] == "https://push.example/p/A1?x=y")
        #expect(value["keys"]?["auth"] == .string(Browser.auth))
    }

    @Test("a token that FCM gave a browser stays as it is")
    func fcmToken() throws {
        #expect(try registrar().canonicalToken("fcm:APA91b-0123") == "fcm:APA91b-0123")
    }

    @Test(
        "addresses that are not a push service's on the internet are refused",
        arguments: [
            "http://push.example/p", "ftp://push.example/p", "https://", "https:///p", "https://user@push.example/p",
            "https://push.example/p#f", "https://localhost/p", "https://localhost./p", "https://LOCALHOST/p",
            "https://127.0.0.1/p", "https://127.1/p", "https://2130706433/p", "https://0x7f.1/p",
            "https://0177.0.0.1/p",
            "https://10.0.0.1/p", "https://8.8.8.8/p", "https://[::1]/p", "https://[::ffff:127.0.0.1]/p",
            "https://metadata/p", "https://metadata.google.internal/p", "https://printer.local/p",
            "https://push.example:0/p", "https://push.example:99999/p", "https://push.example:x/p",
            "https://pu sh.example/p", "https://push.example\\\\@127.0.0.1/p", "https://127.0.0.1./p", "https://./p",
            "https://b\u{FC}cher.example/p", "https://push.example/" + String(repeating: "a", count: 3000),
        ]
    )
    func badAddresses(_ address: String) {
        #expect(throws: ServiceError.self) { try registrar().canonicalToken(Browser.subscription(address)) }
    }

    @Test(
        "texts that are no subscription are refused",
        arguments: [
            "{", "{}", #"{"endpoint":1}"#, #"{"endpoint":"https://push.example/p"}"#,
            #"{"endpoint":"https://push.example/p","keys":{}}"#,
            #"{"endpoint":"https://push.example/p","keys":{"p256dh":"AA","auth":"AA"}}"#,
        ]
    )
    func badTexts(_ text: String) {
        #expect(throws: ServiceError.self) { try registrar().canonicalToken(text) }
    }

    @Test("with a list of hosts, only these and those below them are taken")
    func hosts() throws {
        let registrar = registrar(WebPushAddressRules(hosts: ["Push.Example", "fcm.googleapis.com"]))
        for address in ["https://push.example/p", "https://eu.push.example/p", "https://fcm.googleapis.com/p"] {
            _ = try registrar.canonicalToken(Browser.subscription(address))
        }
        for address in ["https://example/p", "https://evilpush.example/p", "https://push.example.evil.com/p"] {
            #expect(throws: ServiceError.self) { try registrar.canonicalToken(Browser.subscription(address)) }
        }
    }

    @Test("tests may allow loopback")
    func loopback() throws {
        let registrar = registrar(WebPushAddressRules(allowsPrivateAddresses: true))
        for address in ["https://localhost:8443/p", "https://127.0.0.1/p", "https://[::1]:1/p"] {
            _ = try registrar.canonicalToken(Browser.subscription(address))
        }
    }
}
